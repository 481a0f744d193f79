package soak

import (
	"errors"
	"path/filepath"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/stack"
)

// servers are the run's own Postgres and Temporal, which it may kill.
type servers struct {
	postgres *stack.Postgres
	temporal *stack.Temporal
	database string
}

// startServers starts both side by side, while the shop's programs are built. They end with the test.
func startServers(t testing.TB, dir, temporalProgram string) servers {
	t.Helper()
	var s servers
	var ports [2]int
	for i := range ports {
		port, err := stack.SteadyPort()
		if err != nil {
			t.Fatal(err)
		}
		ports[i] = port
	}
	failed := make(chan error, 2)
	go func() {
		var err error
		s.temporal, err = stack.StartTemporal(t.Context(), stack.TemporalConfig{
			Binary: temporalProgram, Dir: filepath.Join(dir, "temporal"), Port: ports[0], Headless: true, Log: filepath.Join(dir, "temporal.log"),
		})
		if err == nil {
			t.Cleanup(s.temporal.Stop)
		}
		failed <- err
	}()
	go func() { failed <- s.startPostgres(t, dir, ports[1]) }()
	crash.Shipped(t, "starter")
	if err := errors.Join(<-failed, <-failed); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *servers) startPostgres(t testing.TB, dir string, port int) (err error) {
	s.postgres, err = stack.StartPostgres(t.Context(), stack.PostgresConfig{
		Dir: filepath.Join(dir, "postgres"), Port: port, Fast: true, Log: filepath.Join(dir, "postgres.log"),
	})
	if err != nil {
		return err
	}
	t.Cleanup(func() {
		s.postgres.Stop()
		_ = stack.RemovePostgres(filepath.Join(dir, "postgres")) // where it lies elsewhere, see there
	})
	if err := s.postgres.CreateDatabase(t.Context(), "soak"); err != nil {
		return err
	}
	s.database = s.postgres.URL("soak")
	return nil
}
