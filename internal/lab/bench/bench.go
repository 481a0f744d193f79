package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"handover/internal/lab/await"
	"handover/internal/lab/harness"
	"handover/internal/telemetry"
)

// bench is one run.
type bench struct {
	settings
	servers   *harness.Servers
	shop      *harness.Shop
	buyer     *buyer
	postgres  *postgres
	temporal  client.Client
	bare      *child
	processes map[string]int // ids, by name
	bares     int            // workflows started, for their ids
	say       io.Writer
}

// open brings up a shop on servers as durable as a real one's.
func open(ctx context.Context, s settings) (b *bench, err error) {
	b = &bench{settings: s, say: os.Stderr}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.servers, err = harness.StartServers(ctx, harness.ServersConfig{Dir: s.dir, Program: s.program}); err != nil {
		return nil, err
	}
	b.shop, err = harness.Open(harness.Config{
		Dir: s.dir, DatabaseURL: b.servers.DatabaseURL, TemporalAddress: b.servers.Temporal.Address(), TaskQueue: "handover", Direct: true, Variant: harness.Shipped,
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(b.shop.StartStarter(ctx), b.shop.StartWorker(ctx)); err != nil {
		return nil, err
	}
	if err := pauseSchedule(ctx, b.shop); err != nil {
		return nil, err
	}
	b.buyer = newBuyer(b.shop.Sandbox, b.shop.PublicURL+"/webhooks/payments/"+environment)
	b.processes = map[string]int{
		"starter": b.shop.Starter.PID(), "worker": b.shop.Worker.PID(), "sandbox": os.Getpid(), // with the buyers
		"postgres": b.servers.Postgres.Process().PID(), "temporal": b.servers.Temporal.Process().PID(),
	}
	if b.postgres, err = openPostgres(ctx, b.servers.DatabaseURL); err != nil {
		return nil, err
	}

	// The same settings for the bare process and for this one's own client, which read them from the environment.
	for name, value := range map[string]string{"TEMPORAL_ADDRESS": b.shop.TemporalAddress, "TEMPORAL_CONFIG_FILE": os.DevNull} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	if b.temporal, err = connect(telemetry.Logger(io.Discard), "bench"); err != nil {
		return nil, err
	}
	b.bare, err = startChild(ctx)
	return b, err
}

// pauseSchedule keeps the reconciliation from delivering the paid sessions that are prepared, at whatever minute the
// benchmark runs. Closing the shop deletes its schedule.
func pauseSchedule(ctx context.Context, s *harness.Shop) error {
	return s.Schedule(ctx).Pause(ctx, client.SchedulePauseOptions{Note: "the benchmark runs"})
}

func (b *bench) close() {
	if b.bare != nil {
		b.bare.close()
	}
	if b.temporal != nil {
		b.temporal.Close()
	}
	if b.postgres != nil {
		b.postgres.pool.Close()
	}
	if b.shop != nil {
		b.shop.Close()
	}
	if b.servers != nil {
		b.servers.Stop()
	}
}

// round is what one round measured.
type round struct {
	bare, order block
	cpu         map[string]time.Duration // by process, in the order block
	written     written
}

// run measures everything.
func (b *bench) run(ctx context.Context) (*report, error) {
	group, ctx := errgroup.WithContext(ctx)
	watching, stop := context.WithCancel(ctx)
	accepted := make(chan finish, 100_000)
	group.Go(func() error { return b.buyer.watch(watching, accepted) })
	var r *report
	group.Go(func() (err error) {
		defer stop()
		r, err = b.measure(ctx, accepted)
		return err
	})
	return r, group.Wait()
}

func (b *bench) measure(ctx context.Context, accepted chan finish) (*report, error) {
	r := &report{settings: b.settings, began: time.Now()}
	idle, err := b.postgres.commits(ctx)
	if err != nil {
		return nil, err
	}
	// Orders are prepared ahead: making a session is not part of an order.
	total := b.inFlight + b.rounds*b.orders + b.calls
	fmt.Fprintf(b.say, "preparing %d paid sessions …\n", total)
	sessions, err := b.buyer.prepare(total)
	if err != nil {
		return nil, fmt.Errorf("prepare sessions: %w", err)
	}
	before, err := b.postgres.settled(ctx)
	if err != nil {
		return nil, err
	}
	r.background(idle, before)
	take := func(n int) []string {
		taken := sessions[:n]
		sessions = sessions[n:]
		return taken
	}
	if err := b.warmUp(ctx, accepted, take(b.inFlight)); err != nil {
		return nil, err
	}
	for n := range b.rounds {
		one, err := b.round(ctx, accepted, n, take(b.orders))
		if err != nil {
			return nil, fmt.Errorf("round %d: %w", n+1, err)
		}
		r.rounds = append(r.rounds, one)
		fmt.Fprintf(b.say, "round %2d of %d: %5.1f orders/s, bare %5.1f/s\n", n+1, b.rounds, one.order.perSecond(), one.bare.perSecond())
	}
	if r.workerBytes, err = resident(b.processes["worker"]); err != nil {
		fmt.Fprintln(b.say, "memory is not measured:", err)
	}
	r.openOrders = b.inFlight + b.rounds*b.orders
	if r.answers, err = b.answers(ctx, accepted, take(b.calls)); err != nil {
		return nil, fmt.Errorf("timed calls: %w", err)
	}
	after, err := b.postgres.settled(ctx)
	if err != nil {
		return nil, err
	}
	r.commits(before, after, total)
	return r, b.histories(ctx, r)
}

// warmUp lets every process open its connections and grow its pollers.
func (b *bench) warmUp(ctx context.Context, accepted <-chan finish, ids []string) error {
	if _, err := b.bareBlock(); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	if _, err := b.orderBlock(ctx, accepted, ids); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	return b.postgres.checkpoint(ctx)
}

// round runs both blocks, and the next round in the other order: what a block leaves behind meets both kinds alike.
func (b *bench) round(ctx context.Context, accepted <-chan finish, n int, ids []string) (r round, err error) {
	blocks := []func() error{
		func() (err error) { r.bare, err = b.bareBlock(); return err },
		func() (err error) { return b.measuredBlock(ctx, accepted, ids, &r) },
	}
	for i := range blocks {
		if err := blocks[(i+n)%2](); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (b *bench) bareBlock() (block, error) {
	ids := make([]string, b.orders)
	for i := range ids {
		b.bares++
		ids[i] = fmt.Sprintf("bare:%d", b.bares)
	}
	return b.bare.block(ids, b.inFlight)
}

func (b *bench) measuredBlock(ctx context.Context, accepted <-chan finish, ids []string, r *round) error {
	from, err := b.postgres.position(ctx)
	if err != nil {
		return err
	}
	cpu := b.cpu()
	if r.order, err = b.orderBlock(ctx, accepted, ids); err != nil {
		return err
	}
	r.cpu = b.cpu()
	for name := range r.cpu {
		r.cpu[name] -= cpu[name]
	}
	to, err := b.postgres.position(ctx)
	if err != nil {
		return err
	}
	r.written, err = b.postgres.between(ctx, from, to)
	return err
}

func (b *bench) orderBlock(ctx context.Context, accepted <-chan finish, ids []string) (block, error) {
	return drive(ctx, ids, b.inFlight, accepted, b.buyer.pay, b.settle)
}

// settle waits until the order's workflow listens: the email's acceptance is then on record and the timer set.
func (b *bench) settle(ctx context.Context, session string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it does not end"))
	defer cancel()
	return await.Until(ctx, 2*time.Millisecond, func(ctx context.Context) (bool, error) {
		events, pending, err := b.describe(ctx, session)
		return err == nil && pending == 0 && events >= deliveredEvents, err
	})
}

// deliveredEvents is the length of a delivered order's history; docs/cost.md lists them.
const deliveredEvents = 23

func (b *bench) describe(ctx context.Context, session string) (events int64, pending int, err error) {
	d, err := b.temporal.DescribeWorkflow(ctx, harness.WorkflowID(session), "")
	if err != nil {
		return 0, 0, err
	}
	raw := d.RawResponse
	return raw.GetWorkflowExecutionInfo().GetHistoryLength(), len(raw.GetPendingActivities()) + boolInt(raw.GetPendingWorkflowTask() != nil), nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cpu is what every process has used so far; those that cannot be read are left out.
func (b *bench) cpu() map[string]time.Duration {
	used := map[string]time.Duration{}
	for name, pid := range b.processes {
		read := processCPU
		if name == "postgres" {
			read = familyCPU
		}
		if d, err := read(pid); err == nil {
			used[name] = d
		}
	}
	return used
}
