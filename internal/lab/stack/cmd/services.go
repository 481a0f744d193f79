package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"handover/internal/lab/stack"
	"handover/internal/lab/stack/testenv"
)

// services starts only the two servers, prints what tests and programs need to find them, and stays until Ctrl-C.
func services(ctx context.Context, root string) error {
	s, ctx, err := newStack(ctx, root, "services")
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.startServers(ctx, serverOptions{}); err != nil {
		return err
	}
	database, err := s.database(ctx)
	if err != nil {
		return err
	}
	variables := append(s.testVariables(), "DATABASE_URL="+database, "TEMPORAL_ADDRESS="+s.temporal.Address())
	if path, found := stack.FindChromium(ctx); found {
		variables = append(variables, testenv.ChromiumVariable+"="+path)
	}
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		fmt.Println("export " + name + "=" + quoted(value))
	}
	fmt.Fprintf(s.say, "Temporal UI %s. Ctrl-C stops both\n", s.temporal.UI())
	err = stay(ctx)
	explain(s.say, err)
	return err
}

// testVariables name to the tests where the servers are.
func (s *running) testVariables() []string {
	return []string{
		testenv.DatabaseVariable + "=" + s.postgres.URL("postgres"),
		testenv.TemporalVariable + "=" + s.temporal.Address(),
		testenv.CLIVariable + "=" + s.binary,
	}
}

// clean deletes the data of all stacks that are not running, and the running ones' not.
func clean(root string) error {
	base := filepath.Join(root, ".handover")
	locks, err := filepath.Glob(filepath.Join(base, "*.lock"))
	if err != nil {
		return err
	}
	for _, lock := range locks {
		name := filepath.Base(lock[:len(lock)-len(".lock")])
		if err := cleanState(base, name); err != nil {
			return err
		}
	}
	return nil
}

func cleanState(base, name string) error {
	state, err := stack.TakeState(base, name)
	if errors.Is(err, stack.ErrRunning) {
		fmt.Fprintf(os.Stderr, "%s is running and was left alone\n", name)
		return nil
	}
	if err != nil {
		return err
	}
	defer state.Close()
	if err := state.Wipe(); err != nil {
		return err
	}
	return os.RemoveAll(state.Dir)
}
