package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"handover/internal/lab/await"
)

// startLimit bounds how long a server may take until it answers.
const startLimit = 60 * time.Second

// PostgresConfig says where a cluster lives and how it runs.
type PostgresConfig struct {
	Dir  string    // the cluster's directory, made when missing; its data is elsewhere when this process is root
	Port int       // 0 takes any free one
	Fast bool      // survives the death of the server, not of the machine: for tests
	Log  string    // the log file; empty for one in Dir
	Out  io.Writer // hears of an installation; nil for nobody
}

// Postgres is a private, running cluster. It listens on the loopback address only, and asks for a password.
type Postgres struct {
	config   PostgresConfig
	bin      binaries
	account  *Account
	home     string
	password string
	port     int
	process  *Process
}

// StartPostgres starts the cluster of the directory and returns when it answers. Missing programs are installed when that
// needs no password. A server that an earlier, killed start left running is stopped first.
func StartPostgres(ctx context.Context, config PostgresConfig) (*Postgres, error) {
	if config.Out == nil {
		config.Out = io.Discard
	}
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		return nil, err
	}
	config.Dir = dir
	if config.Log == "" {
		config.Log = filepath.Join(dir, "postgres.log")
	}
	installed, err := ensurePostgres(ctx, config.Out)
	if err != nil {
		return nil, err
	}
	p := &Postgres{config: config, port: config.Port}
	if p.account, err = databaseAccount(); err != nil {
		return nil, err
	}
	if p.home, err = openHome(dir, p.account); err != nil {
		return nil, fmt.Errorf("prepare the Postgres cluster: %w", err)
	}
	if err := stopLeftPostgres(p.home); err != nil {
		return nil, err
	}
	if err := p.ensureCluster(ctx, installed); err != nil {
		return nil, err
	}
	return p, p.start(ctx)
}

// start tries a few times: a port may be taken between choosing and using it, and the backends of a killed server hold
// on to its shared memory for a moment.
func (p *Postgres) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	choose := p.port == 0
	var err error
	for range 5 {
		if choose {
			if p.port, err = FreePort(); err != nil {
				return err
			}
		}
		if p.process, err = Start(p.spec()); err != nil {
			return err
		}
		if err = p.ready(ctx); err == nil {
			return nil
		}
		p.process.Stop()
		if !errors.Is(err, ErrExited) || !await.Pause(ctx, 300*time.Millisecond) {
			break
		}
	}
	return fmt.Errorf("start Postgres: %w; its log ends with:\n%s", err, Tail(p.config.Log, 10))
}

func (p *Postgres) spec() Spec {
	settings := map[string]string{
		"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "port": strconv.Itoa(p.port),
		"max_connections": "300", "shared_buffers": "64MB", "timezone": "UTC", "log_timezone": "UTC",
	}
	if p.config.Fast {
		// synchronous_commit stays on: without it a killed server loses what it had said was committed.
		settings["fsync"], settings["full_page_writes"] = "off", "off"
	}
	arguments := []string{"-D", p.data()}
	for name, value := range settings {
		arguments = append(arguments, "-c", name+"="+value)
	}
	return Spec{
		Name: "postgres", Path: p.bin.postgres, Args: arguments, Dir: p.home, Log: p.config.Log, Account: p.account,
		PIDFile: filepath.Join(p.home, "postgres.pid"), Signals: []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT},
	}
}

func (p *Postgres) ready(ctx context.Context) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		conn, err := pgx.Connect(attempt, p.URL("postgres"))
		cancel()
		if err == nil {
			return conn.Close(ctx)
		}
		if p.process.ended() {
			return ErrExited
		}
		if !await.Pause(ctx, 25*time.Millisecond) {
			return fmt.Errorf("it does not answer: %w", ctx.Err())
		}
	}
}

// URL is the connection string for a database of the cluster, with its superuser.
func (p *Postgres) URL(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword("postgres", p.password), Host: Loopback(p.port), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port is the port that the cluster listens on.
func (p *Postgres) Port() int { return p.port }

// LogFile is the server's log.
func (p *Postgres) LogFile() string { return p.config.Log }

// Process is the running server, for a supervisor to watch.
func (p *Postgres) Process() *Process { return p.process }

// CreateDatabase makes the database unless it exists.
func (p *Postgres) CreateDatabase(ctx context.Context, name string) error {
	return CreateDatabase(ctx, p.URL("postgres"), name)
}

// CreateDatabase makes a database, unless it exists, on the server that the URL connects to.
func CreateDatabase(ctx context.Context, server, name string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(ctx)
	// Nobody may be connected to the template, and template0 refuses connections.
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE template0")
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42P04" { // duplicate_database
		return nil
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// Stop shuts the cluster down, breaking off what is connected.
func (p *Postgres) Stop() { p.process.Stop() }

// Kill ends the server and all its backends with SIGKILL, as a power cut would.
func (p *Postgres) Kill() { p.process.Kill() }

// Signal sends a signal to the server; SIGSTOP and SIGCONT reach its backends too.
func (p *Postgres) Signal(signal syscall.Signal) error { return p.process.Signal(signal) }

// Restart starts the cluster again after Stop or Kill, or stops and starts a running one, on the same port.
func (p *Postgres) Restart(ctx context.Context) error {
	p.Stop()
	if err := stopLeftPostgres(p.home); err != nil {
		return err
	}
	return p.start(ctx)
}

func (p *Postgres) data() string         { return filepath.Join(p.home, "data") }
func (p *Postgres) passwordFile() string { return filepath.Join(p.home, "password") }

// stopLeftPostgres stops a server that an earlier start left running in the home, and removes the lock file of one that
// was killed: its number may belong to another process by now, and Postgres would then refuse to start.
func stopLeftPostgres(home string) error {
	if err := StopLeftover(filepath.Join(home, "postgres.pid")); err != nil {
		return err
	}
	data := filepath.Join(home, "data")
	lock := filepath.Join(data, "postmaster.pid")
	text, err := os.ReadFile(lock)
	if err != nil {
		return nil // no lock, nobody there
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if pid, err := strconv.Atoi(strings.TrimSpace(first)); err == nil && pid > 1 && runsIn(pid, data) {
		if err := stopOther(pid, identity(pid), []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT}); err != nil {
			return err
		}
	}
	if err := os.Remove(lock); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove a stale Postgres lock: %w", err)
	}
	return nil
}
