package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// FactState is one fact of an order (payment, access, email) in one of its states.
type FactState struct{ Fact, State string }

// ProviderList is what a payment provider lists of an environment: its sales, or its reversals.
type ProviderList struct{ Environment, List string }

// Stats are the numbers that only the database knows.
type Stats struct {
	Orders                    map[FactState]int64
	OldestPendingSeconds      map[string]float64 // by step
	UndispatchedEvents        int64
	OldestUndispatchedSeconds float64 // 0 when there is none
	Attention                 int64   // orders that wait for a person
	ReconciledAt              time.Time
	Known                     map[ProviderList]time.Time // up to when a provider's list is known
}

// StatsReader reads the numbers. It must return when ctx ends.
type StatsReader interface {
	Stats(ctx context.Context) (Stats, error)
}

// Limits of a scrape: the database is asked at most once in statsAge, and waited for no longer than statsWait.
const (
	statsAge  = 15 * time.Second
	statsWait = 2 * time.Second
)

var (
	descUp = prometheus.NewDesc("handover_stats_up",
		"1 when the numbers from the database could be read, else 0 and they are left out.", nil, nil)
	descOrders = prometheus.NewDesc("handover_orders",
		"Orders, by fact and its state.", []string{"fact", "state"}, nil)
	descOldestPending = prometheus.NewDesc("handover_oldest_pending_seconds",
		"Age of the oldest unfinished obligation, by step.", []string{"step"}, nil)
	descUndispatched = prometheus.NewDesc("handover_undispatched_events",
		"Webhook events that are stored and not yet handed to Temporal.", nil, nil)
	descOldestUndispatched = prometheus.NewDesc("handover_oldest_undispatched_seconds",
		"Age of the oldest event that is not yet handed to Temporal.", nil, nil)
	descAttention = prometheus.NewDesc("handover_attention_orders",
		"Orders that wait for a person.", nil, nil)
	descKnown = prometheus.NewDesc("handover_high_water_timestamp_seconds",
		"Up to when everything that a payment provider lists is in the ledger, by environment and list (sales, reversals).",
		[]string{"environment", "list"}, nil)
	descReconciled = prometheus.NewDesc("handover_reconcile_last_finished_timestamp_seconds",
		"Time of the last finished reconciliation; absent before the first.", nil, nil)
)

// StatsCollector exposes the numbers from the database.
type StatsCollector struct {
	reader StatsReader
	now    func() time.Time
	age    time.Duration
	wait   time.Duration

	mu      sync.Mutex
	last    Stats
	readAt  time.Time     // zero before the first success
	reading chan struct{} // closed when the reading under way ends; nil when there is none
}

// NewStatsCollector returns a collector over reader.
func NewStatsCollector(reader StatsReader, now func() time.Time) *StatsCollector {
	return &StatsCollector{reader: reader, now: now, age: statsAge, wait: statsWait}
}

// Describe sends the descriptions.
func (c *StatsCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descUp, descOrders, descOldestPending, descUndispatched, descOldestUndispatched, descAttention, descReconciled, descKnown,
	} {
		ch <- d
	}
}

// Collect sends the numbers, or only handover_stats_up 0 when they cannot be had in time: old numbers would hide that
// the database is away.
func (c *StatsCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s, ok := c.current()
	if !ok {
		gauge(descUp, 0)
		return
	}
	gauge(descUp, 1)
	for of, n := range s.Orders {
		gauge(descOrders, float64(n), of.Fact, of.State)
	}
	for step, seconds := range s.OldestPendingSeconds {
		gauge(descOldestPending, seconds, step)
	}
	gauge(descUndispatched, float64(s.UndispatchedEvents))
	gauge(descOldestUndispatched, s.OldestUndispatchedSeconds)
	gauge(descAttention, float64(s.Attention))
	for of, at := range s.Known {
		gauge(descKnown, float64(at.UnixMilli())/1000, of.Environment, of.List)
	}
	if !s.ReconciledAt.IsZero() {
		gauge(descReconciled, float64(s.ReconciledAt.UnixMilli())/1000)
	}
}

// current returns numbers that are fresh enough, reading them when needed. Scrapes at the same time share one reading.
func (c *StatsCollector) current() (Stats, bool) {
	if s, ok := c.cached(); ok {
		return s, true
	}
	timeout := time.NewTimer(c.wait)
	defer timeout.Stop()
	select {
	case <-c.read():
		return c.cached()
	case <-timeout.C:
		return Stats{}, false
	}
}

func (c *StatsCollector) cached() (Stats, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, !c.readAt.IsZero() && c.now().Sub(c.readAt) < c.age
}

// read starts a reading unless one is under way and returns the channel that closes at its end. It is not bound to one
// scrape: the scrape may give up earlier, and the next one finds the result.
func (c *StatsCollector) read() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading != nil {
		return c.reading
	}
	done := make(chan struct{})
	c.reading = done
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), c.wait)
		defer cancel()
		s, err := c.reader.Stats(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			c.last, c.readAt = s, c.now()
		}
		c.reading = nil
		close(done)
	}()
	return done
}
