package soak

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"handover/internal/lab/crash"
	"handover/internal/lab/sandbox"
)

// Options are what a run needs.
type Options struct {
	N       int
	Seed    uint64
	Dir     string // of the servers' data and logs
	Program string // the temporal program
	// Settle bounds the wait, after the last fault, until everything has come to its end.
	Settle time.Duration
	Say    io.Writer // progress
}

// run is one run.
type run struct {
	t       testing.TB
	o       Options
	plan    Plan
	began   time.Time
	servers servers
	shop    *crash.Shop
	raw     client.Client // sends payloads as they are
	books   []*Book

	launching sync.Mutex // the shop's list of processes
	mu        sync.Mutex
	asideURL  string // of the other starter
	hurt      map[string]int

	commands chan struct{} // at most so many at once
}

// Run makes a plan, plays it, waits until everything has come to its end, and judges. Everything that it started is gone
// at the end of the test.
func Run(t testing.TB, o Options) *Report {
	t.Helper()
	r := &run{t: t, o: o, plan: Make(o.N, o.Seed), hurt: map[string]int{}, commands: make(chan struct{}, 2)}
	r.say("soak: %d orders in %s, %d outages, seed %d; logs in %s", o.N, r.plan.Span.Round(time.Second), len(r.plan.Outages), o.Seed, o.Dir)
	r.open()
	r.play()
	r.say("soak: %s: the faults are over, waiting until everything is settled", r.since())
	record, violations, settled := r.settle()
	report := newReport(r, record, violations, settled)
	r.keepEvidence(record, violations)
	return report
}

func (r *run) say(format string, arguments ...any) {
	if r.o.Say != nil {
		fmt.Fprintf(r.o.Say, format+"\n", arguments...)
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

func (r *run) open() {
	r.t.Helper()
	r.servers = startServers(r.t, r.o.Dir, r.o.Program)
	r.shop = crash.Open(kept{r.t, r.o.Dir}, crash.Options{
		DatabaseURL: r.servers.database, TemporalAddress: r.servers.temporal.Address(), Config: settings, Idle: true,
		Sandbox: func(c *sandbox.Config) { c.RetryAfter = retries() },
	})
	r.settleDown()
	raw, err := client.NewLazyClient(client.Options{
		HostPort: r.servers.temporal.Address(), Logger: silent{}, DataConverter: asItIs{converter.GetDefaultDataConverter()},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(raw.Close)
	r.raw = raw
	r.began = time.Now()
}

// settleDown moves the shop to ports that are still its own after a while without it, and starts it.
func (r *run) settleDown() {
	before := r.shop.PublicURL
	r.shop.PublicURL, r.shop.AdminURL, r.shop.WorkerURL = r.steadyURL(), r.steadyURL(), r.steadyURL()
	r.shop.Reconfigure(before, r.shop.PublicURL)
	r.shop.Judge.SetWebhookURLs(r.shop.PublicURL+"/webhooks/payments/test", r.shop.PublicURL+"/webhooks/email")
	r.shop.StartStarter()
	r.shop.StartWorker()
}

// kept keeps the shop's directory, with its logs, beyond the run.
type kept struct {
	testing.TB
	dir string
}

func (k kept) TempDir() string { return k.dir }

// play runs all orders and all outages to their ends.
func (r *run) play() {
	ctx := r.t.Context()
	var playing sync.WaitGroup
	others := r.startOthers()
	for _, lane := range r.lanes(others) {
		playing.Go(func() { r.playLane(ctx, lane) })
	}
	for _, o := range r.plan.Orders {
		p := &player{run: r, Book: &Book{Order: o}}
		r.books = append(r.books, p.Book)
		playing.Go(func() { p.play(ctx) })
	}
	playing.Wait()
	if r.t.Failed() {
		r.t.FailNow() // a process did not come back
	}
}

// until waits for a moment of the plan.
func (r *run) until(ctx context.Context, at time.Duration) bool {
	return pause(ctx, time.Until(r.began.Add(at)))
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
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
	_, _, code := r.shop.Command(arguments...)
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

type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
