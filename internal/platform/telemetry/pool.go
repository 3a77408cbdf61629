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

// RegisterPools adds the metrics of the database pools, by lane. It calls stats at each
// scrape. Call it once.
func (m *Metrics) RegisterPools(stats map[string]func() PoolStat) {
	m.registry.MustRegister(&poolCollector{
		stats:       stats,
		connections: prometheus.NewDesc("lineproof_database_connections", "Open connections to the database, by state.", []string{"lane", "state"}, nil),
		limit:       prometheus.NewDesc("lineproof_database_connections_limit", "Maximum number of connections of this node.", []string{"lane"}, nil),
		waits:       prometheus.NewDesc("lineproof_database_waits_total", "Requests that had to wait for a connection.", []string{"lane"}, nil),
		waitTime:    prometheus.NewDesc("lineproof_database_wait_seconds_total", "Time that requests have waited for connections.", []string{"lane"}, nil),
	})
}

// poolCollector reads each pool once per scrape, so that its figures are
// consistent.
type poolCollector struct {
	stats                               map[string]func() PoolStat
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
	for lane, stat := range c.stats {
		s := stat()
		ch <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(s.Idle), lane, "idle")
		ch <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(s.InUse), lane, "in_use")
		ch <- prometheus.MustNewConstMetric(c.limit, prometheus.GaugeValue, float64(s.Limit), lane)
		ch <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(s.Waits), lane)
		ch <- prometheus.MustNewConstMetric(c.waitTime, prometheus.CounterValue, s.WaitTime.Seconds(), lane)
	}
}
