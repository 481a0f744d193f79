package stack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// ErrExited is returned when a process ended although it was expected to stay.
var ErrExited = errors.New("the process ended by itself")

// Spec says what to run and how to end it.
type Spec struct {
	Name    string           // for people
	Path    string           // the program
	Args    []string         // without the program's own name
	Env     []string         // nil passes on this process's environment
	Dir     string           // the working directory; empty for this process's
	Log     string           // file that standard output and error are appended to; empty discards them
	PIDFile string           // remembers the process for the next start; empty for none
	Account *Account         // another user to run as; nil for this one
	Signals []syscall.Signal // tried in turn by Stop; empty for SIGTERM
	Wait    time.Duration    // given to each of Signals; zero for 10 s
}

// Process is a running child in a process group of its own.
type Process struct {
	spec Spec
	cmd  *exec.Cmd
	done chan struct{}
	err  error // written before done is closed
}

// Start runs the program, after stopping a leftover that PIDFile remembers. On Linux the child is killed by the kernel
// when this process dies in whatever way.
func Start(spec Spec) (*Process, error) {
	if spec.PIDFile != "" {
		if err := StopLeftover(spec.PIDFile); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	cmd.SysProcAttr = childAttributes(spec.Account)
	if spec.Log != "" {
		log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the log of %s: %w", spec.Name, err)
		}
		defer log.Close() // the child has its own copy
		cmd.Stdout, cmd.Stderr = log, log
	}
	p := &Process{spec: spec, cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	if spec.PIDFile != "" {
		if err := remember(spec.PIDFile, p.PID(), spec.signals()); err != nil {
			p.Kill()
			return nil, fmt.Errorf("remember %s: %w", spec.Name, err)
		}
	}
	return p, nil
}

// run forks and waits on one locked thread: the kernel sends the parent-death signal when the thread that forked ends,
// so that thread has to live as long as the child.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.done)
}

// Name is the name given in the spec.
func (p *Process) Name() string { return p.spec.Name }

// LogFile is the file that the process writes to.
func (p *Process) LogFile() string { return p.spec.Log }

// PID is the process id, also after the process has ended.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends the signal to the process; SIGSTOP and SIGCONT also go to all its descendants, so that a frozen server is
// frozen as a whole.
func (p *Process) Signal(signal syscall.Signal) error {
	if signal == syscall.SIGSTOP || signal == syscall.SIGCONT {
		signalTree(p.PID(), signal)
		return nil
	}
	return syscall.Kill(p.PID(), signal)
}

// Stop asks the process to end, more and more firmly, and kills it in the end. It returns when the process is gone.
func (p *Process) Stop() {
	for _, signal := range p.spec.signals() {
		if p.ended() {
			break
		}
		signalTree(p.PID(), syscall.SIGCONT)
		_ = syscall.Kill(p.PID(), signal)
		if p.waitFor(p.spec.wait()) {
			break
		}
	}
	p.Kill()
}

// Kill ends the process and everything it started with SIGKILL, and returns when the process is gone.
func (p *Process) Kill() {
	if !p.ended() {
		signalTree(p.PID(), syscall.SIGKILL)
		<-p.done
	}
	if p.spec.PIDFile != "" {
		_ = os.Remove(p.spec.PIDFile)
	}
}

func (p *Process) ended() bool { return p.waitFor(0) }

func (p *Process) waitFor(limit time.Duration) bool {
	if limit == 0 {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

func (s Spec) signals() []syscall.Signal {
	if len(s.Signals) == 0 {
		return []syscall.Signal{syscall.SIGTERM}
	}
	return s.Signals
}

func (s Spec) wait() time.Duration {
	if s.Wait == 0 {
		return 10 * time.Second
	}
	return s.Wait
}

// signalTree signals the process, its group and all its descendants. Descendants are looked up first: a Postgres
// backend leads a session of its own and is in no group of ours.
func signalTree(pid int, signal syscall.Signal) {
	children := descendants(pid)
	_ = syscall.Kill(-pid, signal)
	_ = syscall.Kill(pid, signal)
	for _, child := range slices.Backward(children) {
		_ = syscall.Kill(child, signal)
	}
}

// under lists everything below pid in the tree, parents first.
func under(children map[int][]int, pid int) []int {
	all := slices.Clone(children[pid])
	for _, child := range children[pid] {
		all = append(all, under(children, child)...)
	}
	return all
}
