// Package app opens what both processes need: the database, Temporal, the configured providers, metrics and health.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/mail"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"

	accessregistry "handover/internal/access/registry"
	"handover/internal/config"
	emailregistry "handover/internal/email/registry"
	"handover/internal/ledger"
	"handover/internal/payment"
	paymentregistry "handover/internal/payment/registry"
	"handover/internal/telemetry"
	"handover/internal/temporalclient"
)

// Process is one running process with everything opened.
type Process struct {
	Settings  config.Process
	Config    config.Config
	Log       *slog.Logger
	Pool      *pgxpool.Pool
	Ledger    *ledger.Ledger
	Temporal  client.Client
	Namespace string
	Identity  string
	Registry  *prometheus.Registry
	Counters  *telemetry.Counters
}

// Options say which process it is.
type Options struct {
	Name   string // Starter or Worker
	Getenv func(string) (string, bool)
	Log    io.Writer
}

// Open reads the configuration, which has to be right, and opens the database and Temporal, which may be away.
func Open(ctx context.Context, o Options) (*Process, error) {
	settings, err := Settings(o.Name, o.Getenv)
	if err != nil {
		return nil, err
	}
	known := Known()
	known.NoLinks = o.Name == Starter
	cfg, err := config.Load(settings.ConfigPath, o.Getenv, known)
	if err != nil {
		return nil, err
	}
	p := &Process{Settings: settings, Config: cfg, Log: telemetry.Logger(o.Log).With("process", o.Name), Registry: telemetry.NewRegistry()}
	p.Counters = telemetry.NewCounters(p.Registry, append(slices.Sorted(maps.Keys(cfg.Environments)), "email"))
	if p.Pool, err = ledger.Connect(ctx, settings.DatabaseURL); err != nil {
		return nil, err
	}
	p.Ledger = ledger.New(p.Pool)
	host, _ := os.Hostname()
	p.Identity = fmt.Sprintf("%s@%s:%d", o.Name, host, os.Getpid())
	connected, options, err := temporalclient.Connect(telemetry.TemporalHandler(p.Registry), p.Log, p.Identity)
	if err != nil {
		p.Pool.Close()
		return nil, err
	}
	p.Temporal, p.Namespace = connected, options.Namespace
	p.Registry.MustRegister(telemetry.NewPoolCollector(p.Pool), telemetry.NewStatsCollector(stats{p.Ledger}, time.Now))
	return p, nil
}

// Known are the adapters that the configuration may name.
func Known() config.Known {
	return config.Known{Payment: paymentregistry.Known(), Email: emailregistry.Known(), Access: accessregistry.Kinds()}
}

// Close lets go of the database and Temporal.
func (p *Process) Close() {
	p.Temporal.Close()
	p.Pool.Close()
}

// Providers opens the payment provider of every environment.
func Providers(cfg config.Config) (map[string]payment.Provider, error) {
	opened := map[string]payment.Provider{}
	for name, e := range cfg.Environments {
		provider, err := paymentregistry.Open(e, cfg.Steps.Payment)
		if err != nil {
			return nil, err
		}
		opened[name] = provider
	}
	return opened, nil
}

// ShopName is how the shop calls itself as a sender.
func (p *Process) ShopName() string {
	if from, err := mail.ParseAddress(p.Config.Email.From); err == nil {
		return from.Name
	}
	return ""
}

// Migrate brings the schema up to date, waiting for the database for as long as it is away.
func (p *Process) Migrate(ctx context.Context) error {
	return p.Patiently(ctx, func(ctx context.Context) error {
		ran, err := ledger.Migrate(ctx, p.Pool)
		if ran > 0 && err == nil {
			p.Log.InfoContext(ctx, "schema migrated", "migrations", ran)
		}
		return err
	})
}

// Patiently repeats what needs the database or Temporal for as long as that is away.
func (p *Process) Patiently(ctx context.Context, do func(context.Context) error) error {
	for wait := time.Second; ; wait = min(2*wait, 10*time.Second) {
		err := do(ctx)
		if is := (refusal{}); !ledger.Unavailable(err) || errors.As(err, &is) {
			return err
		}
		p.Log.WarnContext(ctx, "the start waits", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// Checks are the parts of readiness that both processes share.
func (p *Process) Checks() []telemetry.Check {
	return []telemetry.Check{
		{Name: "database", Run: p.Ledger.Ping},
		{Name: "migrations", Run: func(ctx context.Context) error { return ledger.Migrated(ctx, p.Pool) }},
		{Name: "temporal", Run: func(ctx context.Context) error { return temporalclient.Healthy(ctx, p.Temporal, p.Namespace) }},
	}
}

// ServeAdmin serves metrics and health until the context ends.
func (p *Process) ServeAdmin(ctx context.Context, checks []telemetry.Check) error {
	server := &http.Server{Handler: telemetry.AdminHandler(p.Registry, checks), ReadHeaderTimeout: 5 * time.Second}
	return Serve(ctx, server, "ADMIN_ADDR", p.Settings.AdminAddr, p.Log)
}

// Serve listens and serves until the context ends, then lets what is under way finish.
func Serve(ctx context.Context, server *http.Server, setting, addr string, log *slog.Logger) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%s: cannot listen on %s (is another process there?): %w", setting, addr, err)
	}
	log.Info("listening", "setting", setting, "address", listener.Addr().String())
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		_ = server.Shutdown(ending)
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	<-stopped
	return nil
}
