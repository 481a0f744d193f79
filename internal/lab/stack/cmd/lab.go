package main

import (
	"context"
	"fmt"
	"os/exec"

	"handover/internal/lab/stack"
)

// laboratory gives a program of the laboratory a directory of its own, for servers that it may kill, and runs it. The logs
// stay until the next run.
func laboratory(ctx context.Context, root, name, program string, arguments []string) error {
	s, ctx, err := newStack(ctx, root, name)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.state.Wipe(); err != nil {
		return err
	}
	temporal, err := stack.EnsureTemporal(ctx, stack.TemporalOptions{Root: s.root, Cache: stack.CacheDir(s.root), Out: s.say})
	if err != nil {
		return err
	}

	flags := []string{"run", program, "-dir", s.state.Dir, "-temporal", temporal}
	if err := s.shown(exec.CommandContext(ctx, "go", append(flags, arguments...)...)); err != nil {
		return fmt.Errorf("the %s failed (%w)", name, err)
	}
	return nil
}
