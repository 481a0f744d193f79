package main

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// benchRate is the highest that a shop may set: it keeps the rate limit out of what is measured.
const benchRate = 1000

// bench brings up the whole stack on servers of its own, as durable as a shop's, and runs the benchmark on it.
func bench(ctx context.Context, root string, arguments []string) (err error) {
	s, ctx, err := newStack(ctx, root, "bench")
	if err != nil {
		return err
	}
	defer func() {
		explain(s.say, err)
		s.close()
	}()
	if err := s.state.Wipe(); err != nil {
		return err
	}
	s.emailsPerSecond, s.shipped = benchRate, true
	err = together(ctx, func(ctx context.Context) error { return s.startServers(ctx, serverOptions{headless: true}) }, s.build)
	if err != nil {
		return err
	}
	a, err := s.startApps(ctx)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", append([]string{"run", "./internal/lab/bench"}, arguments...)...)
	command.Env = slices.Concat(a.environment, []string{
		"HANDOVER_BENCH_STARTER=" + a.starter, "HANDOVER_BENCH_SANDBOX=" + a.sandbox, "HANDOVER_BENCH_PIDS=" + s.processIDs(),
	})
	if err := s.shown(command); err != nil {
		return logged(fmt.Errorf("the benchmark failed (%w)", err), s.state.Log("worker"), s.state.Log("starter"))
	}
	return nil
}

// processIDs lists the started processes, NAME=PID,NAME=PID.
func (s *running) processIDs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.pids)) {
		list = append(list, fmt.Sprintf("%s=%d", name, s.pids[name]))
	}
	return strings.Join(list, ",")
}
