// Package failpoint names the moments at which a process may die: after a commit and before the call that follows it,
// after an answer and before it is written down. A line that calls Hit says that this moment has come.
//
// It does nothing, and leaves nothing in the program, unless the program was built with the tag failpoints. The crash
// tests build such a starter and worker, hold them at a point, and kill, freeze or cut them off exactly there.
package failpoint
