package telemetry

// RegisterJobs adds the kinds of jobs with 0 attempts: a series that appeared only with the
// first failure would show no increase to alert on.
func (m *Metrics) RegisterJobs(kinds []string) {
	for _, kind := range kinds {
		m.jobs.WithLabelValues(kind, "done")
		m.jobs.WithLabelValues(kind, "failed")
	}
}

// JobWorked counts an attempt of a job that ended.
func (m *Metrics) JobWorked(kind string, err error) {
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	m.jobs.WithLabelValues(kind, outcome).Inc()
}
