package telemetry

import "github.com/prometheus/client_golang/prometheus"

// jobMetrics are about scheduled and queued work.
type jobMetrics struct{ worked *prometheus.CounterVec }

func (j *jobMetrics) register(r *prometheus.Registry) {
	j.worked = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_jobs_total", Help: "Attempts of jobs that ended on this node, by kind and outcome: done; failed (tried again later).",
	}, []string{"kind", "outcome"})
	r.MustRegister(j.worked)
}

// RegisterJobs adds the kinds of jobs with 0 attempts: a series that appeared only with the
// first failure would show no increase to alert on.
func (m *Metrics) RegisterJobs(kinds []string) {
	for _, kind := range kinds {
		m.jobs.worked.WithLabelValues(kind, "done")
		m.jobs.worked.WithLabelValues(kind, "failed")
	}
}

// JobWorked counts an attempt of a job that ended.
func (m *Metrics) JobWorked(kind string, err error) {
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	m.jobs.worked.WithLabelValues(kind, outcome).Inc()
}
