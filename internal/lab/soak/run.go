package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"handover/internal/lab/await"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/lab/stack"
)

// Options are what a run needs.
type Options struct {
	N       int
	Seed    uint64
	Dir     string // of the servers' data and logs
	Program string // the temporal program
	// Settle bounds the wait, after the last fault, until everything has ended.
	Settle time.Duration
	Log    io.Writer // progress
}

// run is one run.
type run struct {
	o       Options
	plan    Plan
	began   time.Time
	servers *harness.Servers
	shop    *harness.Shop
	raw     client.Client // sends payloads as they are
	records []*Record

	mu       sync.Mutex
	asideURL string // of the other starter
	hurt     map[string]int

	commands chan struct{} // at most so many at once
}

// Run makes a plan, plays it, waits until everything has ended, and checks the result. Everything that it started is gone
// when it returns; the logs stay.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &run{o: o, plan: Make(o.N, o.Seed), hurt: map[string]int{}, commands: make(chan struct{}, 2)}
	r.log("soak: %d orders in %s, %d outages, seed %d; logs in %s", o.N, r.plan.Span.Round(time.Second), len(r.plan.Outages), o.Seed, o.Dir)
	defer r.close()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	if err := r.play(ctx); err != nil {
		return nil, err
	}

	r.log("soak: %s: the faults are over, waiting until everything is settled", r.since())
	record, violations, settled, err := r.settle(ctx)
	if err != nil {
		return nil, err
	}
	report := newReport(r, record, violations, settled)
	r.keepEvidence(ctx, record, violations)
	return report, nil
}

func (r *run) log(format string, arguments ...any) {
	if r.o.Log != nil {
		fmt.Fprintf(r.o.Log, format+"\n", arguments...)
	}
}

func (r *run) since() time.Duration { return time.Since(r.began).Round(100 * time.Millisecond) }

// retries are the sandbox's waits before it delivers an event again: longer than all outages together.
func retries() []time.Duration {
	waits := []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second}
	for range 30 {
		waits = append(waits, 4*time.Second)
	}
	return waits
}

func (r *run) open(ctx context.Context) (err error) {
	if r.servers, err = harness.StartServers(ctx, harness.ServersConfig{Dir: r.o.Dir, Program: r.o.Program, Fast: true}); err != nil {
		return err
	}
	r.shop, err = harness.Open(harness.Config{
		Dir: r.o.Dir, DatabaseURL: r.servers.DatabaseURL, TemporalAddress: r.servers.Temporal.Address(), TaskQueue: "soak", TOML: settings,
		Sandbox: func(c *sandbox.Config) { c.RetryAfter = retries() },
	})
	if err != nil {
		return err
	}
	options := stack.ClientOptions(r.servers.Temporal.Address())
	options.DataConverter = asItIs{converter.GetDefaultDataConverter()}
	if r.raw, err = client.NewLazyClient(options); err != nil {
		return err
	}

	if err := errors.Join(r.shop.StartStarter(ctx), r.shop.StartWorker(ctx)); err != nil {
		return err
	}
	r.began = time.Now()
	return nil
}

func (r *run) close() {
	if r.raw != nil {
		r.raw.Close()
	}
	if r.shop != nil {
		r.shop.Close()
	}
	if r.servers != nil {
		r.servers.Stop()
	}
}

// play runs all orders and all outages to their ends. A process that does not come back ends it.
func (r *run) play(ctx context.Context) error {
	others, err := r.startOthers(ctx)
	if err != nil {
		return err
	}
	playing, ctx := errgroup.WithContext(ctx)
	for _, schedule := range r.schedules(others) {
		playing.Go(func() error { return r.runSchedule(ctx, schedule) })
	}
	for _, o := range r.plan.Orders {
		d := &driver{run: r, Record: &Record{Order: o}}
		r.records = append(r.records, d.Record)
		playing.Go(func() error { d.play(ctx); return nil })
	}
	return playing.Wait()
}

// until waits for a moment of the plan.
func (r *run) until(ctx context.Context, at time.Duration) bool {
	return await.Pause(ctx, time.Until(r.began.Add(at)))
}

func (r *run) otherWebhooks() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asideURL
}

// operator runs one command of the starter and returns its exit code.
func (r *run) operator(ctx context.Context, arguments ...string) int {
	select {
	case r.commands <- struct{}{}:
	case <-ctx.Done():
		return -1
	}
	defer func() { <-r.commands }()
	_, _, code, err := r.shop.Command(ctx, arguments...)
	if err != nil {
		return -1
	}
	return code
}

// sendSignal sends a payload that need not be JSON.
func (r *run) sendSignal(ctx context.Context, workflow, name, payload string) error {
	return r.raw.SignalWorkflow(ctx, workflow, "", name, bytesOf(payload))
}

// bytesOf is a payload as an operator's tool would send it.
type bytesOf string

// asItIs sends bytesOf without encoding it.
type asItIs struct{ converter.DataConverter }

func (c asItIs) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	if len(values) == 1 {
		if text, ours := values[0].(bytesOf); ours {
			return &commonpb.Payloads{Payloads: []*commonpb.Payload{{
				Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(text),
			}}}, nil
		}
	}
	return c.DataConverter.ToPayloads(values...)
}
