package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"handover/internal/lab/sandbox"
	"handover/internal/telemetry"
)

// The variables that name the running stack.
const (
	variableStarter = "HANDOVER_BENCH_STARTER" // http://HOST:PORT
	variableSandbox = "HANDOVER_BENCH_SANDBOX"
	variablePIDs    = "HANDOVER_BENCH_PIDS" // starter=1,worker=2,sandbox=3,temporal=4
)

// environment is the one that the local stack's shop has.
const environment = "test"

// bench is one run.
type bench struct {
	settings
	shop      *shop
	postgres  *postgres
	temporal  client.Client
	bare      *child
	processes map[string]int
	bares     int // workflows started, for their ids
	say       io.Writer
}

func open(ctx context.Context, s settings) (b *bench, err error) {
	b = &bench{settings: s, say: os.Stderr}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	need := func(name string) string {
		v := os.Getenv(name)
		if v == "" {
			err = errors.Join(err, fmt.Errorf("%s is not set: run make bench, which starts what is measured", name))
		}
		return v
	}
	starter, provider, database := need(variableStarter), need(variableSandbox), need("DATABASE_URL")
	b.shop = newShop(starter, provider, need("STRIPE_TEST_KEY"), need("STRIPE_TEST_WEBHOOK_SECRET"), need("RESEND_API_KEY"))
	if err != nil {
		return nil, err
	}
	if b.processes, err = parsePIDs(os.Getenv(variablePIDs)); err != nil {
		return nil, err
	}
	if b.postgres, err = openPostgres(ctx, database); err != nil {
		return nil, err
	}
	b.processes["postgres"] = b.postgres.server
	if b.temporal, err = connect(telemetry.Logger(io.Discard), "bench"); err != nil {
		return nil, err
	}
	b.bare, err = startChild(ctx)
	return b, err
}

func newShop(starter, provider, key, secret, mailKey string) *shop {
	// One connection for each order in flight, as a provider would have, and no waiting for one.
	calls := &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	return &shop{
		sandbox: sandbox.Client{Base: provider, HTTP: &http.Client{Timeout: 2 * patience}}, base: provider,
		webhook: starter + "/webhooks/payments/" + environment, key: key, secret: secret, mailKey: mailKey,
		http: calls, bodies: map[string][]byte{}, byBuyer: map[string]string{},
	}
}

func parsePIDs(text string) (map[string]int, error) {
	pids := map[string]int{}
	for pair := range strings.SplitSeq(text, ",") {
		name, number, found := strings.Cut(pair, "=")
		pid, err := strconv.Atoi(number)
		if !found || err != nil {
			return nil, fmt.Errorf("%s is not NAME=PID,NAME=PID", variablePIDs)
		}
		pids[name] = pid
	}
	return pids, nil
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
	group.Go(func() error { return b.shop.watch(watching, accepted) })
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
	sessions, err := b.shop.prepare(ctx, total)
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
	return drive(ctx, ids, b.inFlight, accepted, b.shop.pay, b.settle)
}

// settle waits until the order's workflow listens: the email's acceptance is then on record and the timer set.
func (b *bench) settle(ctx context.Context, session string) error {
	return until(ctx, func(ctx context.Context) (bool, error) {
		events, pending, err := b.describe(ctx, session)
		return err == nil && pending == 0 && events >= deliveredEvents, err
	})
}

// deliveredEvents is the length of a delivered order's history; docs/cost.md lists them.
const deliveredEvents = 23

func (b *bench) describe(ctx context.Context, session string) (events int64, pending int, err error) {
	d, err := b.temporal.DescribeWorkflow(ctx, workflowID(session), "")
	if err != nil {
		return 0, 0, err
	}
	raw := d.RawResponse
	return raw.GetWorkflowExecutionInfo().GetHistoryLength(), len(raw.GetPendingActivities()) + boolInt(raw.GetPendingWorkflowTask() != nil), nil
}

func workflowID(session string) string { return "order:" + environment + ":" + session }

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
