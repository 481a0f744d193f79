package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handover/internal/lab/stack"
	"handover/internal/lab/stack/testenv"
)

// test runs `go test` with the arguments on servers that it starts once; ./... is meant when they name no package.
func test(ctx context.Context, root string, arguments []string) (err error) {
	s, ctx, err := newStack(ctx, root, "test")
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.state.Wipe(); err != nil {
		return err
	}
	chromium, err := stack.EnsureChromium(ctx, s.say)
	if err != nil {
		return err
	}
	if err := s.startServers(ctx, serverOptions{fast: true, headless: true}); err != nil {
		return err
	}
	flags := s.testFlags(ctx)
	if len(arguments) == 0 {
		if err := s.compile(ctx, slices.Contains(flags, "-race")); err != nil {
			return err
		}
	}
	command := exec.CommandContext(ctx, "go", slices.Concat(flags, withPackage(arguments))...)
	command.Env = slices.Concat(stack.WithoutTemporal(os.Environ()), s.testVariables(),
		[]string{testenv.ChromiumVariable + "=" + chromium, testenv.RequiredVariable + "=1"})
	if err := s.shown(command); err != nil {
		return fmt.Errorf("the tests failed (%w)", err)
	}
	return nil
}

// compile fills Go's cache with everything that the tests are made of. go test would do the same, but its environment is
// also that of the tests, and cannot be the compiler's.
func (s *running) compile(ctx context.Context, race bool) error {
	began := time.Now()
	fmt.Fprintln(s.say, "compiling the tests …")
	command := exec.CommandContext(ctx, "go", "list", fmt.Sprintf("-race=%t", race), "-tags", "nocloud", "-export", "-deps", "-test", "-f", "{{/* nothing */}}", "./...")
	command.Dir, command.Env = s.root, stack.Compiling(os.Environ())
	text, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("compile the tests: %w\n%s", err, text)
	}
	s.ready("tests", "", began)
	return nil
}

// shown runs the command in the repository, with its output on ours.
func (s *running) shown(command *exec.Cmd) error {
	began := time.Now()
	fmt.Fprintf(s.say, "$ %s %s\n", filepath.Base(command.Path), strings.Join(command.Args[1:], " "))
	command.Dir, command.Stdout, command.Stderr = s.root, os.Stdout, os.Stderr
	// Asked to end, it first ends what it started itself.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	err := command.Run()
	fmt.Fprintf(s.say, "  %s\n", round(time.Since(began)))
	return err
}

// testFlags add the race detector where a C compiler makes it possible. The drivers of the clouds are compiled by make
// check, and need not be compiled a second time with the detector.
func (s *running) testFlags(ctx context.Context) []string {
	flags := []string{"test", "-count=1", "-timeout=15m", "-tags", "nocloud"}
	text, err := exec.CommandContext(ctx, "go", "env", "CGO_ENABLED", "CC").Output()
	settings := strings.Fields(string(text))
	if err == nil && len(settings) > 1 && settings[0] == "1" {
		if _, err := exec.LookPath(settings[1]); err == nil {
			return append(flags, "-race")
		}
	}
	fmt.Fprintln(s.say, "no C compiler here: the tests run without the race detector")
	return flags
}

func withPackage(arguments []string) []string {
	named := slices.ContainsFunc(arguments, func(a string) bool {
		return a == "." || strings.HasPrefix(a, "./") || strings.HasPrefix(a, "handover/")
	})
	if named {
		return arguments
	}
	return append([]string{"./..."}, arguments...)
}
