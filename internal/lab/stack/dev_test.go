package stack_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"handover/internal/lab/await"
	"handover/internal/lab/stack"
)

func TestTakenPortIsPassedOver(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	port, err := stack.FreePort(taken)
	if err != nil {
		t.Fatal(err)
	}
	if port == taken {
		t.Fatalf("got port %d, which somebody listens on", port)
	}
	again, err := stack.FreePort(taken, port)
	if err != nil {
		t.Fatal(err)
	}
	if again != port {
		t.Errorf("got port %d, want the free preferred one %d", again, port)
	}
}

func TestSecondStackTakesAnotherDirectory(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	first := openState(t, base)
	second := openState(t, base)
	if want := filepath.Join(base, "stack-2"); second.Dir != want {
		t.Errorf("the second stack lives in %s, want %s", second.Dir, want)
	}
	first.Close()
	third := openState(t, base)
	if third.Dir != first.Dir {
		t.Errorf("a stack started after the first ended lives in %s, want %s again", third.Dir, first.Dir)
	}
}

// A child that is being started holds copies of its parent's descriptors until its exec, so the lock is freed explicitly
// and not by closing the file.
func TestStateIsFreeAlthoughAChildHoldsACopyOfItsLock(t *testing.T) {
	base := t.TempDir()
	first := openState(t, base)
	child := exec.Command("sleep", "60")
	child.ExtraFiles = []*os.File{stack.LockFile(first)}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	dir := first.Dir
	first.Close()
	if again := openState(t, base); again.Dir != dir {
		t.Errorf("a stack started after the first ended lives in %s, want %s again", again.Dir, dir)
	}
}

func TestStackKeepsItsPorts(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	first := openState(t, base)
	port, err := first.Port("starter", 0)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	again, err := openState(t, base).Port("starter", 0)
	if err != nil {
		t.Fatal(err)
	}
	if again != port {
		t.Errorf("got port %d after a restart, want %d as before", again, port)
	}
}

func TestStacksThatStartAtTheSameMomentGetDifferentPorts(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	first, second := openState(t, base), openState(t, base)
	free, err := stack.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	one, err := first.Port("starter", free)
	if err != nil {
		t.Fatal(err)
	}
	other, err := second.Port("starter", free)
	if err != nil {
		t.Fatal(err)
	}
	if one != free || other == one {
		t.Errorf("the stacks got ports %d and %d, want %d and another one", one, other, free)
	}
}

func TestPortsAreChosenAtTheSameTime(t *testing.T) {
	t.Parallel()
	state := openState(t, t.TempDir())
	ports := make([]int, 8)
	var all sync.WaitGroup
	for i := range ports {
		all.Go(func() {
			port, err := state.Port(fmt.Sprintf("port-%d", i), 0)
			if err != nil {
				t.Error(err)
			}
			ports[i] = port
		})
	}
	all.Wait()
	slices.Sort(ports)
	if got := len(slices.Compact(ports)); got != 8 {
		t.Errorf("got %d different ports, want 8", got)
	}
}

func TestNextStartStopsWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	state := openState(t, base)
	left := start(t, stack.Spec{Name: "left", Path: "sleep", Args: []string{"600"}, PIDFile: state.PIDFile("left")})
	state.Close()

	openState(t, base)
	await.True(t, "the leftover has ended", func() bool {
		select {
		case <-left.Done():
			return true
		default:
			return false
		}
	})
	if _, err := os.Stat(state.PIDFile("left")); !os.IsNotExist(err) {
		t.Errorf("the pid file is still there (%v)", err)
	}
}

func TestProcessThatReusesANumberIsLeftAlone(t *testing.T) {
	t.Parallel()
	stranger := start(t, stack.Spec{Name: "stranger", Path: "sleep", Args: []string{"600"}})
	file := filepath.Join(t.TempDir(), "old.pid")
	text := fmt.Sprintf(`{"pid":%d,"identity":"another boot 1","signals":[15]}`, stranger.PID())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := stack.StopLeftover(file); err != nil {
		t.Fatal(err)
	}
	if err := stranger.Signal(0); err != nil {
		t.Errorf("the other process was stopped: %v", err)
	}
}

func TestStopKillsWhatIgnoresTheSignal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	p := start(t, stack.Spec{
		Name: "stubborn", Path: "sh", Args: []string{"-c", "trap '' TERM; echo ready; while :; do sleep 600; done"},
		Log: log, Wait: 100 * time.Millisecond,
	})
	await.True(t, "the trap", func() bool {
		text, err := os.ReadFile(log)
		return err == nil && bytes.Contains(text, []byte("ready"))
	})
	p.Stop()
	select {
	case <-p.Done():
	default:
		t.Error("Stop returned although the process runs")
	}
}

func TestTailShowsTheLastLines(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := stack.Tail(log, 2), "    two\n    three\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := stack.Tail(log, 2, "thr"), "    one\n    two\n"; got != want {
		t.Errorf("got %q without the noise, want %q", got, want)
	}
	if got := stack.Tail(log+".absent", 2); got != "" {
		t.Errorf("got %q for a log that is not there, want nothing", got)
	}
}

func TestBuildOnceBuildsOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module tiny\n\ngo 1.26.0\n", "main.go": "package main\n\nfunc main() { println(`built`) }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	b := stack.Build{Target: filepath.Join(dir, "bin", "tiny-1"), Dir: dir, Package: ".", Out: &out, Notice: "building tiny"}
	for range 2 {
		if err := stack.BuildOnce(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(out.String(), "building tiny"); got != 1 {
		t.Errorf("the notice was printed %d times, want once:\n%s", got, out.String())
	}
	text, err := exec.Command(b.Target).CombinedOutput()
	if err != nil || string(text) != "built\n" {
		t.Errorf("the built program says %q (%v)", text, err)
	}
}

func openState(t *testing.T, base string) *stack.State {
	t.Helper()
	s, err := stack.OpenState(base, "stack")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func start(t *testing.T, spec stack.Spec) *stack.Process {
	t.Helper()
	path, err := exec.LookPath(spec.Path)
	if err != nil {
		t.Fatal(err)
	}
	spec.Path = path
	p, err := stack.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}
