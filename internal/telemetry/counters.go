// Package telemetry is what Handover tells about itself: counters and gauges for Prometheus, health and readiness, and
// the log. None of it ever holds an address, a name, a key, a token or a link.
package telemetry

import (
	"io"
	"log/slog"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"handover/internal/order"
)

// NewRegistry returns a registry with the Go runtime's and the process's own metrics.
func NewRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return reg
}

// Logger writes one JSON object a line.
func Logger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// Counters count what one process does.
type Counters struct {
	environments []string
	answers      *prometheus.CounterVec
	outcomes     *prometheus.CounterVec
}

// Labels that stand for everything outside a known list, so that a stranger cannot make new time series.
const (
	labelUnknown = "unknown"
	labelDone    = "done"
)

// NewCounters registers the counters. Only the named environments become labels.
func NewCounters(reg prometheus.Registerer, environments []string) *Counters {
	c := &Counters{
		environments: slices.Clone(environments),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "handover_webhook_answers_total",
			Help: "Answers to webhooks, by environment and HTTP status.",
		}, []string{"environment", "status"}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "handover_step_outcomes_total",
			Help: "Ends of attempts, by step and class of failure; done is a success.",
		}, []string{"step", "class"}),
	}
	reg.MustRegister(c.answers, c.outcomes)
	return c
}

// WebhookAnswer counts one answer. An environment that is not configured counts as unknown.
func (c *Counters) WebhookAnswer(environment string, status int) {
	if !slices.Contains(c.environments, environment) {
		environment = labelUnknown
	}
	c.answers.WithLabelValues(environment, strconv.Itoa(status)).Inc()
}

// StepEnded counts the end of one attempt of a step; an empty class is a success.
func (c *Counters) StepEnded(step string, class order.Class) {
	if class == "" {
		class = labelDone
	}
	c.outcomes.WithLabelValues(step, string(class)).Inc()
}
