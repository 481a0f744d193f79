package main

import (
	"context"
	"fmt"
	"os/exec"

	"handover/internal/lab/stack"
)

// soak gives the soak a place of its own, for servers that it may kill, and runs it. The logs stay until the next one.
func soak(ctx context.Context, root string, arguments []string) (err error) {
	s, ctx, err := newStack(ctx, root, "soak")
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.state.Wipe(); err != nil {
		return err
	}
	program, err := stack.EnsureTemporal(ctx, stack.TemporalOptions{Root: s.root, Cache: stack.CacheDir(s.root), Out: s.say})
	if err != nil {
		return err
	}
	flags := []string{"run", "./internal/lab/soak/cmd", "-dir", s.state.Dir, "-temporal", program}
	if err := s.shown(exec.CommandContext(ctx, "go", append(flags, arguments...)...)); err != nil {
		return fmt.Errorf("the soak failed (%w)", err)
	}
	return nil
}
