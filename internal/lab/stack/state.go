package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// ErrRunning is returned for a state directory that belongs to a running stack.
var ErrRunning = errors.New("a stack is running there")

// maxStates bounds how many stacks of one kind run beside each other.
const maxStates = 20

// State is a directory that belongs to one running stack at a time: its data, logs, secrets and ports. It is safe for
// concurrent use, except for Wipe and Close.
type State struct {
	Dir   string // absolute
	lock  *os.File
	mu    sync.Mutex     // guards what follows
	ports map[string]int // remembered, so that the addresses of one stack stay the same
	held  []*os.File     // locks on the ports, for stacks that start at the same moment
}

// OpenState takes the directory NAME under base, or NAME-2, NAME-3, … while the earlier ones are in use, and stops what a
// killed stack left running in it. The logs of the last run are kept beside the new ones.
func OpenState(base, name string) (*State, error) {
	base, err := filepath.Abs(base)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	for n := 1; n <= maxStates; n++ {
		numbered := name
		if n > 1 {
			numbered = fmt.Sprintf("%s-%d", name, n)
		}
		s, err := TakeState(base, numbered)
		if errors.Is(err, ErrRunning) {
			continue
		}
		return s, err
	}
	return nil, fmt.Errorf("%d stacks run already in %s; stop one of them", maxStates, base)
}

// TakeState is OpenState for this very name; ErrRunning when it is in use.
func TakeState(base, name string) (*State, error) {
	dir := filepath.Join(base, name)
	lock, err := tryLock(dir + ".lock")
	if errors.Is(err, errLocked) {
		return nil, ErrRunning
	}
	if err != nil {
		return nil, err
	}
	s := &State{Dir: dir, lock: lock, ports: map[string]int{}}
	if err := s.prepare(); err != nil {
		s.Close()
		return nil, fmt.Errorf("prepare %s: %w", dir, err)
	}
	return s, nil
}

func (s *State) prepare() error {
	leftovers, err := filepath.Glob(s.Path("run", "*.pid"))
	if err != nil {
		return err
	}
	for _, file := range leftovers {
		if err := StopLeftover(file); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(s.Path("logs.previous")); err != nil {
		return err
	}
	if err := os.Rename(s.Path("logs"), s.Path("logs.previous")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range []string{"run", "logs"} {
		if err := os.MkdirAll(s.Path(name), 0o700); err != nil {
			return err
		}
	}
	if text, err := os.ReadFile(s.Path("ports.json")); err == nil {
		_ = json.Unmarshal(text, &s.ports) // a damaged file only costs the old port numbers
	}
	return nil
}

// Path joins the elements to the state directory.
func (s *State) Path(elements ...string) string {
	return filepath.Join(append([]string{s.Dir}, elements...)...)
}

// Log is the log file of the named process.
func (s *State) Log(name string) string { return s.Path("logs", name+".log") }

// PIDFile is the pid file of the named process.
func (s *State) PIDFile(name string) string { return s.Path("run", name+".pid") }

// Port returns a free port for the named purpose: the one it had last time, else the preferred one, else any. Nobody
// else who asks this way gets it while the state is open, although nothing listens on it yet.
func (s *State) Port(name string, preferred int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := []int{s.ports[name], preferred}
	for range maxStates {
		port, err := FreePort(wanted...)
		if err != nil {
			return 0, err
		}
		if !s.hold(port) {
			wanted = slices.DeleteFunc(wanted, func(p int) bool { return p == port })
			continue
		}
		s.ports[name] = port
		text, err := json.Marshal(s.ports)
		if err != nil {
			return 0, err
		}
		return port, writeFile(s.Path("ports.json"), text)
	}
	return 0, errors.New("no free port found")
}

func (s *State) hold(port int) bool {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("handover-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return true // the lock only matters between stacks that start at the same moment
	}
	lock, err := tryLock(filepath.Join(dir, strconv.Itoa(port)))
	if err == nil {
		s.held = append(s.held, lock)
	}
	return !errors.Is(err, errLocked)
}

// Wipe empties the state directory, its Postgres cluster included. The directory stays locked.
func (s *State) Wipe() error {
	if err := RemovePostgres(s.Path("postgres")); err != nil {
		return err
	}
	if err := os.RemoveAll(s.Dir); err != nil {
		return fmt.Errorf("empty the state directory: %w", err)
	}
	s.ports = map[string]int{}
	return s.prepare()
}

// Close gives the directory free. What runs in it should have been stopped.
func (s *State) Close() {
	for _, lock := range append(s.held, s.lock) {
		unlock(lock)
	}
	s.held = nil
}

var errLocked = errors.New("held by another process")

// tryLock takes a lock that ends with this process, however it ends.
func tryLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock file: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// unlock frees the lock at once. Closing the file alone would not: a child that is being started has a copy of the
// descriptor, and with it the lock, from its fork to its exec.
func unlock(file *os.File) {
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	file.Close()
}
