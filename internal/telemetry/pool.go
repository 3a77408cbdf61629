package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// PoolStat are the statistics of a pool of database connections.
type PoolStat struct {
	Limit    int           // the maximum number of connections
	Idle     int           // open and free
	InUse    int           // acquired
	Waits    int64         // acquisitions that had to wait for a connection, since the start
	WaitTime time.Duration // how long all of them waited together
}

// RegisterPool adds the metrics of the database pool. It calls stat at each
// scrape. Call it once.
func (m *Metrics) RegisterPool(stat func() PoolStat) {
	m.registry.MustRegister(&poolCollector{
		stat:        stat,
		connections: prometheus.NewDesc("lineproof_database_connections", "Open connections to the database, by state.", []string{"state"}, nil),
		limit:       prometheus.NewDesc("lineproof_database_connections_limit", "Maximum number of connections of this node.", nil, nil),
		waits:       prometheus.NewDesc("lineproof_database_waits_total", "Requests that had to wait for a connection.", nil, nil),
		waitTime:    prometheus.NewDesc("lineproof_database_wait_seconds_total", "Time that requests have waited for connections.", nil, nil),
	})
}

// poolCollector reads the pool once per scrape, so that its figures are
// consistent.
type poolCollector struct {
	stat                                func() PoolStat
	connections, limit, waits, waitTime *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (c *poolCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.connections, c.limit, c.waits, c.waitTime} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *poolCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.stat()
	ch <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(s.Idle), "idle")
	ch <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(s.InUse), "in_use")
	ch <- prometheus.MustNewConstMetric(c.limit, prometheus.GaugeValue, float64(s.Limit))
	ch <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(s.Waits))
	ch <- prometheus.MustNewConstMetric(c.waitTime, prometheus.CounterValue, s.WaitTime.Seconds())
}
