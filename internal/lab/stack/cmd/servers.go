package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"handover/internal/lab/stack"
)

// Where the servers like to listen; others are taken when these are not free.
const (
	postgresPort   = 5433 // 5432 is for an installed one
	temporalPort   = 7233
	temporalUIPort = 8233
)

// serverOptions are the differences between the commands.
type serverOptions struct {
	fast     bool   // data may be lost when the machine goes down
	headless bool   // no Temporal UI
	database string // a Postgres to use instead of starting one
	temporal string // the same of Temporal: its address
}

// A server is a started thing that can be stopped.
type server interface{ Stop() }

// running is what one command has started, in the order of starting.
type running struct {
	root  string
	say   io.Writer // progress, on standard error
	state *stack.State

	options  serverOptions
	postgres *stack.Postgres // nil when another one is used
	temporal *stack.Temporal // nil when another one is used
	binary   string          // the temporal program; empty like temporal

	mu       sync.Mutex
	started  []server
	fail     context.CancelCauseFunc // ends the stack's context
	stopping chan struct{}
}

// newStack takes a state directory. The returned context ends when a process of the stack ends by itself.
func newStack(ctx context.Context, root, name string) (*running, context.Context, error) {
	state, err := stack.OpenState(filepath.Join(root, ".handover"), name)
	if err != nil {
		return nil, nil, err
	}
	ctx, fail := context.WithCancelCause(ctx)
	return &running{root: root, say: os.Stderr, state: state, fail: fail, stopping: make(chan struct{})}, ctx, nil
}

// stay waits until the context ends: nil for a Ctrl-C, else what went wrong.
func stay(ctx context.Context) error {
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// close stops everything in the reverse order and gives the state directory free.
func (s *running) close() {
	close(s.stopping)
	s.fail(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.started) - 1; i >= 0; i-- {
		s.started[i].Stop()
	}
	s.state.Close()
}

// add remembers a server for close, and reports when its process ends before that.
func (s *running) add(name string, srv server, process *stack.Process) {
	s.mu.Lock()
	s.started = append(s.started, srv)
	s.mu.Unlock()
	go func() {
		select {
		case <-s.stopping:
		case <-process.Done():
			s.fail(logged(fmt.Errorf("%s ended by itself", name), process.LogFile()))
		}
	}()
}

// startServers starts Postgres and Temporal side by side, except where others are to be used.
func (s *running) startServers(ctx context.Context, o serverOptions) error {
	s.options = o
	var tasks []func(context.Context) error
	if o.database == "" {
		tasks = append(tasks, func(ctx context.Context) error { return s.startPostgres(ctx, o) })
	}
	if o.temporal == "" {
		tasks = append(tasks, func(ctx context.Context) error { return s.startTemporal(ctx, o) })
	}
	return together(ctx, tasks...)
}

func (s *running) startPostgres(ctx context.Context, o serverOptions) error {
	began := time.Now()
	port, err := s.port("Postgres", postgresPort)
	if err != nil {
		return err
	}
	s.postgres, err = stack.StartPostgres(ctx, stack.PostgresConfig{
		Dir: s.state.Path("postgres"), Port: port, Fast: o.fast, Log: s.state.Log("postgres"), Out: s.say,
	})
	if err != nil {
		return err
	}
	s.add("Postgres", s.postgres, s.postgres.Process())
	s.ready("Postgres", stack.Loopback(port), began)
	return nil
}

func (s *running) startTemporal(ctx context.Context, o serverOptions) error {
	var err error
	s.binary, err = stack.EnsureTemporal(ctx, stack.TemporalOptions{Root: s.root, Cache: stack.CacheDir(s.root), Out: s.say})
	if err != nil {
		return err
	}
	began := time.Now()
	port, err := s.port("Temporal", temporalPort)
	if err != nil {
		return err
	}
	ui, err := s.port("Temporal-UI", temporalUIPort)
	if err != nil {
		return err
	}
	s.temporal, err = stack.StartTemporal(ctx, stack.TemporalConfig{
		Binary: s.binary, Dir: s.state.Path("temporal"), Port: port, UIPort: ui, Headless: o.headless, Log: s.state.Log("temporal"),
	})
	if err != nil {
		return err
	}
	s.add("Temporal", s.temporal, s.temporal.Process())
	s.ready("Temporal", stack.Loopback(port), began)
	return nil
}

// database is the connection string of the stack's own database, which is made when missing, or of the
// one that is used instead.
func (s *running) database(ctx context.Context) (string, error) {
	if s.postgres == nil {
		return s.options.database, nil
	}
	if err := s.postgres.CreateDatabase(ctx, "handover"); err != nil {
		return "", err
	}
	return s.postgres.URL("handover"), nil
}

// clients is an environment in which Temporal clients reach the stack's server, and nothing of the user's own profiles
// gets between.
func (s *running) clients() ([]string, error) {
	none := s.noProfiles()
	if err := os.WriteFile(none, nil, 0o600); err != nil {
		return nil, err
	}
	return append(stack.WithoutTemporal(os.Environ()), "TEMPORAL_ADDRESS="+s.temporalAddress(), "TEMPORAL_CONFIG_FILE="+none), nil
}

func (s *running) temporalAddress() string {
	if s.temporal == nil {
		return s.options.temporal
	}
	return s.temporal.Address()
}

// noProfiles is the path of an empty file that takes the place of the user's own temporal.toml.
func (s *running) noProfiles() string { return s.state.Path("temporal.toml") }

// port is the state's choice of a port for the named server, and says when it is not the usual one.
func (s *running) port(name string, preferred int) (int, error) {
	port, err := s.state.Port(strings.ToLower(name), preferred)
	if err == nil && port != preferred {
		// "was", because a port once chosen is kept although the usual one may be free by now.
		fmt.Fprintf(s.say, "  %-10s port %d was taken: %d instead\n", name, preferred, port)
	}
	return port, err
}

func (s *running) ready(what, where string, began time.Time) {
	fmt.Fprintf(s.say, "  %-10s %-24s ready in %s\n", what, where, round(time.Since(began)))
}

// together runs the tasks at the same time, ends the others when one fails, and returns that failure.
func together(ctx context.Context, tasks ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	failures := make([]error, len(tasks))
	for i, task := range tasks {
		all.Go(func() {
			if failures[i] = task(ctx); failures[i] != nil {
				cancel(failures[i])
			}
		})
	}
	all.Wait()
	if errors.Join(failures...) == nil {
		return nil
	}
	return cmp.Or(context.Cause(ctx), errors.Join(failures...))
}

// round keeps two digits or so: "87ms", "1.2s".
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}
