// Package conventions holds the tests of what a reviewer would otherwise check by hand: which package may import
// which, and the words of CONTRIBUTING.md.
package conventions
