package telemetry

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"handover/internal/order"
)

func TestCountersCount(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewPedanticRegistry()
	c := NewCounters(reg, []string{"live", "test"})
	c.WebhookAnswer("live", 200)
	c.WebhookAnswer("live", 200)
	c.WebhookAnswer("test", 401)
	c.WebhookAnswer("../made-up-by-a-stranger", 404)
	c.WebhookAnswer("another", 404)
	c.StepEnded("email", "")
	c.StepEnded("email", order.ClassRateLimited)
	want := `
# HELP handover_step_outcomes_total Ends of attempts, by step and class of failure; done is a success.
# TYPE handover_step_outcomes_total counter
handover_step_outcomes_total{class="done",step="email"} 1
handover_step_outcomes_total{class="rate_limited",step="email"} 1
# HELP handover_webhook_answers_total Answers to webhooks, by environment and HTTP status.
# TYPE handover_webhook_answers_total counter
handover_webhook_answers_total{environment="live",status="200"} 2
handover_webhook_answers_total{environment="test",status="401"} 1
handover_webhook_answers_total{environment="unknown",status="404"} 2
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// idlePool is a pool that never connects: nothing asks it for a connection.
func idlePool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none?pool_max_conns=7")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestPoolNumbers(t *testing.T) {
	t.Parallel()
	want := `
# HELP handover_db_connections Connections of the pool, by state (acquired, idle).
# TYPE handover_db_connections gauge
handover_db_connections{state="acquired"} 0
handover_db_connections{state="idle"} 0
# HELP handover_db_connections_max Most connections that the pool opens.
# TYPE handover_db_connections_max gauge
handover_db_connections_max 7
`
	err := testutil.CollectAndCompare(NewPoolCollector(idlePool(t)), strings.NewReader(want),
		"handover_db_connections", "handover_db_connections_max")
	if err != nil {
		t.Error(err)
	}
	if got := testutil.CollectAndCount(NewPoolCollector(idlePool(t))); got != 5 {
		t.Errorf("%d numbers; want 5", got)
	}
}

func TestTemporalMetricsAreInTheRegistry(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	h := TemporalHandler(reg)
	// The SDK uses one name with several sets of tags.
	h.WithTags(map[string]string{"namespace": "default"}).Counter("temporal_request").Inc(2)
	h.WithTags(map[string]string{"namespace": "default", "task_queue": "handover"}).Counter("temporal_request").Inc(3)
	h.Gauge("temporal_num_pollers").Update(5)
	h.Timer("temporal_request_latency").Record(40 * time.Millisecond)

	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch {
			case m.GetCounter() != nil:
				values[f.GetName()] += m.GetCounter().GetValue()
			case m.GetGauge() != nil:
				values[f.GetName()] += m.GetGauge().GetValue()
			case m.GetHistogram() != nil:
				for _, b := range m.GetHistogram().GetBucket() {
					if b.GetUpperBound() == 0.05 {
						values[f.GetName()+"<=0.05"] = float64(b.GetCumulativeCount())
					}
					if b.GetUpperBound() == 0.025 {
						values[f.GetName()+"<=0.025"] = float64(b.GetCumulativeCount())
					}
				}
			}
		}
	}
	for name, want := range map[string]float64{
		"temporal_request_total":                  5,
		"temporal_num_pollers":                    5,
		"temporal_request_latency_seconds<=0.05":  1,
		"temporal_request_latency_seconds<=0.025": 0,
	} {
		if got, found := values[name]; !found || got != want {
			t.Errorf("%s = %v (there: %v); want %v; all: %v", name, got, found, want, values)
		}
	}
}

func TestBadMetricOrRegistryNeverPanics(t *testing.T) {
	t.Parallel()
	h := TemporalHandler(prometheus.NewRegistry())
	h.Counter("").Inc(1)
	h.Gauge("no name like this\x00").Update(1)
	h.Timer(strings.Repeat("x", 300)).Record(time.Second)

	TemporalHandler(refusing{}).Counter("temporal_request").Inc(1)
}

// refusing is a registry that takes nothing.
type refusing struct{ prometheus.Registerer }

func (refusing) Register(prometheus.Collector) error { return errors.New("refused") }
