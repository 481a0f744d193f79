package telemetry

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// reader is a StatsReader whose answer, and time of answering, the test decides.
type reader struct {
	calls atomic.Int64
	stats func(ctx context.Context) (Stats, error)
}

func (r *reader) Stats(ctx context.Context) (Stats, error) {
	r.calls.Add(1)
	return r.stats(ctx)
}

// clock is a time that only the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func sampleStats() Stats {
	return Stats{
		Orders:                    map[FactState]int64{{"payment", "confirmed"}: 7, {"email", "uncertain"}: 1},
		OldestPendingSeconds:      map[string]float64{"email": 12.5},
		UndispatchedEvents:        3,
		OldestUndispatchedSeconds: 4.5,
		Attention:                 2,
		ReconciledAt:              time.Unix(1772366400, 500_000_000),
	}
}

const sampleText = `
# HELP handover_attention_orders Orders that wait for a person.
# TYPE handover_attention_orders gauge
handover_attention_orders 2
# HELP handover_oldest_pending_seconds Age of the oldest unfinished obligation, by step.
# TYPE handover_oldest_pending_seconds gauge
handover_oldest_pending_seconds{step="email"} 12.5
# HELP handover_oldest_undispatched_seconds Age of the oldest event that is not yet handed to Temporal.
# TYPE handover_oldest_undispatched_seconds gauge
handover_oldest_undispatched_seconds 4.5
# HELP handover_orders Orders, by fact and its state.
# TYPE handover_orders gauge
handover_orders{fact="email",state="uncertain"} 1
handover_orders{fact="payment",state="confirmed"} 7
# HELP handover_reconcile_last_finished_timestamp_seconds Time of the last finished reconciliation; absent before the first.
# TYPE handover_reconcile_last_finished_timestamp_seconds gauge
handover_reconcile_last_finished_timestamp_seconds 1.7723664005e+09
# HELP handover_stats_up 1 when the numbers from the database could be read, else 0 and they are left out.
# TYPE handover_stats_up gauge
handover_stats_up 1
# HELP handover_undispatched_events Webhook events that are stored and not yet handed to Temporal.
# TYPE handover_undispatched_events gauge
handover_undispatched_events 3
`

const downText = `
# HELP handover_stats_up 1 when the numbers from the database could be read, else 0 and they are left out.
# TYPE handover_stats_up gauge
handover_stats_up 0
`

func TestScrapeShowsTheDatabasesNumbers(t *testing.T) {
	t.Parallel()
	r := &reader{stats: func(context.Context) (Stats, error) { return sampleStats(), nil }}
	if err := testutil.CollectAndCompare(NewStatsCollector(r, newClock().now), strings.NewReader(sampleText)); err != nil {
		t.Error(err)
	}
}

func TestDatabaseIsAskedOnceInFifteenSeconds(t *testing.T) {
	t.Parallel()
	r := &reader{stats: func(context.Context) (Stats, error) { return sampleStats(), nil }}
	at := newClock()
	c := NewStatsCollector(r, at.now)
	for _, step := range []struct {
		wait  time.Duration
		calls int64
	}{{0, 1}, {statsAge - time.Millisecond, 1}, {time.Millisecond, 2}, {0, 2}} {
		at.advance(step.wait)
		testutil.CollectAndCount(c)
		if got := r.calls.Load(); got != step.calls {
			t.Errorf("after another %s: %d readings; want %d", step.wait, got, step.calls)
		}
	}
}

func TestFailedReadingHidesOldNumbersAndIsNotKept(t *testing.T) {
	t.Parallel()
	var fail atomic.Bool
	r := &reader{stats: func(context.Context) (Stats, error) {
		if fail.Load() {
			return Stats{}, errors.New("away")
		}
		return sampleStats(), nil
	}}
	at := newClock()
	c := NewStatsCollector(r, at.now)
	testutil.CollectAndCount(c)
	at.advance(statsAge)
	fail.Store(true)
	if err := testutil.CollectAndCompare(c, strings.NewReader(downText)); err != nil {
		t.Error(err)
	}
	fail.Store(false)
	if err := testutil.CollectAndCompare(c, strings.NewReader(sampleText)); err != nil {
		t.Errorf("the next scrape does not recover: %v", err)
	}
}

func TestHangingDatabaseDoesNotHangTheScrape(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	// It ignores its context, too.
	r := &reader{stats: func(context.Context) (Stats, error) { <-release; return sampleStats(), nil }}
	c := NewStatsCollector(r, newClock().now)
	c.wait = 10 * time.Millisecond

	var scrapes sync.WaitGroup
	for range 5 {
		scrapes.Go(func() {
			if err := testutil.CollectAndCompare(c, strings.NewReader(downText)); err != nil {
				t.Error(err)
			}
		})
	}
	scrapes.Wait()
	if got := r.calls.Load(); got != 1 {
		t.Errorf("%d readings at once; want one that all scrapes share", got)
	}

	underWay := c.read()
	close(release)
	<-underWay
	if err := testutil.CollectAndCompare(c, strings.NewReader(sampleText)); err != nil {
		t.Errorf("the late answer is not used: %v", err)
	}
	if got := r.calls.Load(); got != 1 {
		t.Errorf("%d readings; the late answer should have served", got)
	}
}

func TestReadingIsToldToEnd(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	r := &reader{stats: func(ctx context.Context) (Stats, error) {
		<-ctx.Done()
		close(ended)
		return Stats{}, ctx.Err()
	}}
	c := NewStatsCollector(r, newClock().now)
	c.wait = time.Millisecond
	testutil.CollectAndCount(c)
	<-ended // the test hangs here when the context has no limit
}

func TestCollectorsKeepPrometheusRules(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewPedanticRegistry()
	r := &reader{stats: func(context.Context) (Stats, error) { return sampleStats(), nil }}
	reg.MustRegister(NewStatsCollector(r, newClock().now), NewPoolCollector(idlePool(t)))
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
