//go:build !crashpoints

package crashpoint

// Reach says that the process stands at the point. Nobody listens in this build.
func Reach(string) {}
