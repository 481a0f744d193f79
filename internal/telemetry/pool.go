package telemetry

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

var (
	descPoolConnections = prometheus.NewDesc("handover_db_connections",
		"Connections of the pool, by state (acquired, idle).", []string{"state"}, nil)
	descPoolMax = prometheus.NewDesc("handover_db_connections_max",
		"Most connections that the pool opens.", nil, nil)
	descPoolAcquires = prometheus.NewDesc("handover_db_acquires_total",
		"Connections taken from the pool.", nil, nil)
	descPoolWait = prometheus.NewDesc("handover_db_acquire_seconds_total",
		"Time spent on taking connections from the pool.", nil, nil)
)

// PoolCollector exposes a connection pool's own numbers.
type PoolCollector struct{ pool *pgxpool.Pool }

// NewPoolCollector returns a collector over pool.
func NewPoolCollector(pool *pgxpool.Pool) PoolCollector { return PoolCollector{pool: pool} }

// Describe sends the descriptions.
func (PoolCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descPoolConnections, descPoolMax, descPoolAcquires, descPoolWait} {
		ch <- d
	}
}

// Collect sends the numbers. It does not touch the database.
func (c PoolCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.pool.Stat()
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	send(descPoolConnections, prometheus.GaugeValue, float64(s.AcquiredConns()), "acquired")
	send(descPoolConnections, prometheus.GaugeValue, float64(s.IdleConns()), "idle")
	send(descPoolMax, prometheus.GaugeValue, float64(s.MaxConns()))
	send(descPoolAcquires, prometheus.CounterValue, float64(s.AcquireCount()))
	send(descPoolWait, prometheus.CounterValue, s.AcquireDuration().Seconds())
}
