package stack

import "os"

// LockFile is the file whose lock holds the directory of s.
func LockFile(s *State) *os.File { return s.lock }
