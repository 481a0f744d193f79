package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// record is what a pid file holds.
type record struct {
	PID      int              `json:"pid"`
	Identity string           `json:"identity"` // a number alone is reused
	Signals  []syscall.Signal `json:"signals"`
}

func remember(path string, pid int, signals []syscall.Signal) error {
	text, err := json.Marshal(record{PID: pid, Identity: identity(pid), Signals: signals})
	if err != nil {
		return err
	}
	return writeFile(path, text)
}

// StopLeftover stops the process that the pid file remembers, if that very process still runs, and removes the file.
func StopLeftover(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read a pid file: %w", err)
	}
	var r record
	// An unreadable file was cut off by a crash before its process could be of use; there is nothing to find it by.
	if json.Unmarshal(text, &r) == nil && r.PID > 1 && r.Identity != "" {
		if err := stopOther(r.PID, r.Identity, r.Signals); err != nil {
			return err
		}
	}
	return os.Remove(path)
}

// stopOther ends a process that is no child of ours.
func stopOther(pid int, id string, signals []syscall.Signal) error {
	gone := func() bool { return identity(pid) != id }
	if gone() {
		return nil
	}
	for _, signal := range signals {
		signalTree(pid, syscall.SIGCONT)
		_ = syscall.Kill(pid, signal)
		if waitUntil(5*time.Second, gone) {
			return nil
		}
	}
	signalTree(pid, syscall.SIGKILL)
	if !waitUntil(5*time.Second, gone) {
		return fmt.Errorf("process %d is left from an earlier start and cannot be stopped; run: kill -9 %d", pid, pid)
	}
	return nil
}

func waitUntil(limit time.Duration, condition func() bool) bool {
	deadline := time.Now().Add(limit)
	for !condition() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// writeFile replaces a file as a whole, readable for its owner only.
func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

func samePath(a, b string) bool {
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && realA == realB
}
