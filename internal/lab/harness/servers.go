package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"handover/internal/lab/stack"
)

// ServersConfig says where the servers live and how they run.
type ServersConfig struct {
	Dir     string // of their data and logs
	Program string // the temporal program
	// Fast servers lose data when the machine goes down, and only then.
	Fast bool
}

// Servers are a Postgres and a Temporal of one's own, which may be killed.
type Servers struct {
	Postgres    *stack.Postgres
	Temporal    *stack.Temporal
	DatabaseURL string // of an empty database

	dir string
}

// StartServers starts both side by side, on ports that nobody takes while they are down.
func StartServers(ctx context.Context, c ServersConfig) (s *Servers, err error) {
	s = &Servers{dir: c.Dir}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	var ports [2]int
	for i := range ports {
		if ports[i], err = stack.SteadyPort(); err != nil {
			return nil, err
		}
	}

	failed := make(chan error, 1)
	go func() {
		server, err := stack.StartTemporal(ctx, stack.TemporalConfig{
			Binary: c.Program, Dir: filepath.Join(c.Dir, "temporal"), Port: ports[0], Headless: true, Log: filepath.Join(c.Dir, "temporal.log"),
		})
		if err == nil {
			s.Temporal = server
		}
		failed <- err
	}()
	server, err := stack.StartPostgres(ctx, stack.PostgresConfig{
		Dir: s.cluster(), Port: ports[1], Fast: c.Fast, Log: filepath.Join(c.Dir, "postgres.log"),
	})
	if err == nil {
		s.Postgres = server
	}
	if err = errors.Join(err, <-failed); err != nil {
		return nil, err
	}

	const database = "handover"
	if err := s.Postgres.CreateDatabase(ctx, database); err != nil {
		return nil, fmt.Errorf("make the database: %w", err)
	}
	s.DatabaseURL = s.Postgres.URL(database)
	return s, nil
}

func (s *Servers) cluster() string { return filepath.Join(s.dir, "postgres") }

// Stop ends both and deletes the cluster; the logs stay.
func (s *Servers) Stop() {
	if s.Temporal != nil {
		s.Temporal.Stop()
	}
	if s.Postgres != nil {
		s.Postgres.Stop()
		_ = stack.RemovePostgres(s.cluster()) // its data may lie elsewhere, see there
	}
}
