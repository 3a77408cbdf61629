package main

import (
	"fmt"
	"strings"
	"time"
)

// report is the result of a run, as written with -json.
type report struct {
	When          time.Time     `json:"when"`
	Version       string        `json:"version"` // of the server
	Machine       machine       `json:"machine"`
	Lines         int64         `json:"lines"`
	Callers       int           `json:"callers"`
	Rounds        int           `json:"rounds"`
	Seconds       int           `json:"seconds"`
	Settings      []string      `json:"settings,omitempty"`
	PostgreSQL    []string      `json:"postgresql_settings,omitempty"`
	Variants      []figures     `json:"variants,omitempty"`
	Ratios        []ratio       `json:"ratios,omitempty"`
	OneRow        string        `json:"one_row,omitempty"` // the pgbench variant that the ratios refer to
	GrowCallers   []figures     `json:"grow_callers,omitempty"`
	GrowLines     []figures     `json:"grow_lines,omitempty"`
	Open          *openResult   `json:"open,omitempty"`
	Search        []openResult  `json:"search,omitempty"`
	SustainedRate float64       `json:"held_rate,omitempty"`
	Answers       uint64        `json:"answers"` // given by verify
	Records       uint64        `json:"records"` // of these answers in the journal
	Took          time.Duration `json:"took_ns"`
}

// figures are the figures of one variant over all rounds.
type figures struct {
	Variant      string  `json:"variant"`
	Clients      int     `json:"clients"`
	Lines        int64   `json:"lines"`
	Rounds       int     `json:"rounds"`
	Rate         summary `json:"rate"`
	P50          summary `json:"p50_us"`
	P99          summary `json:"p99_us"`
	ServiceCPU   summary `json:"service_cpu_us"`
	PostgresCPU  summary `json:"postgres_cpu_us"`
	GeneratorCPU summary `json:"generator_cpu_us"`
	Other        summary `json:"other_work"`
	Stolen       summary `json:"stolen"`
	Refused      uint64  `json:"refused"`
	Failed       uint64  `json:"failed"`
}

func newReport(o *options) *report {
	return &report{
		When: time.Now().UTC().Truncate(time.Second), Machine: thisMachine(), Lines: o.lines, Callers: o.callers, Rounds: o.rounds,
		Seconds: o.seconds, Settings: o.settings, PostgreSQL: o.postgres,
	}
}

// newFigures summarises the rounds of one variant.
func newFigures(all []measurement) figures {
	us := func(of func(latencies) time.Duration) summary {
		return summariseFigure(all, func(m *measurement) float64 { return float64(of(m.Latencies)) / float64(time.Microsecond) })
	}
	f := figures{
		Variant: all[0].Variant, Clients: all[0].Clients, Lines: all[0].Lines, Rounds: len(all),
		Rate: summariseFigure(all, ratePerSecond),
		P50:  us(func(l latencies) time.Duration { return l.P50 }), P99: us(func(l latencies) time.Duration { return l.P99 }),
		ServiceCPU:   summariseFigure(all, func(m *measurement) float64 { return m.ServiceCPU }),
		PostgresCPU:  summariseFigure(all, func(m *measurement) float64 { return m.PostgresCPU }),
		GeneratorCPU: summariseFigure(all, func(m *measurement) float64 { return m.GeneratorCPU }),
		Other:        summariseFigure(all, func(m *measurement) float64 { return m.Other }),
		Stolen:       summariseFigure(all, func(m *measurement) float64 { return m.Stolen }),
	}
	for i := range all {
		f.Refused, f.Failed = f.Refused+all[i].Refused, f.Failed+all[i].Failed
	}
	return f
}

// addRounds adds the summaries and ratios of the rounds.
func (r *report) addRounds(rounds map[string][]measurement) {
	for _, v := range variants {
		if all := rounds[v.name]; len(all) > 0 {
			r.Variants = append(r.Variants, newFigures(all))
		}
	}
	r.Ratios, r.OneRow = ratios(rounds), fasterOneRow(rounds)
	r.Took = time.Since(r.When)
}

// missedGoals returns the goals that were missed. A goal that was not measured
// counts as missed.
func (r *report) missedGoals() []string {
	var all []string
	for _, g := range goals {
		met := false
		for _, found := range r.Ratios {
			met = met || found.Name == g.name && found.Met
		}
		if !met {
			all = append(all, g.name)
		}
	}
	return all
}

// line formats a measurement in one line.
func (m *measurement) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d callers: %s/s, p50 %s, p99 %s; CPU µs", m.Variant, m.Clients, grouped(m.Rate), formatDuration(m.Latencies.P50), formatDuration(m.Latencies.P99))
	if m.ServiceCPU > 0 {
		fmt.Fprintf(&b, " service %s", grouped(m.ServiceCPU))
	}
	fmt.Fprintf(&b, " PostgreSQL %s generator %s; other work %s", grouped(m.PostgresCPU), grouped(m.GeneratorCPU), percent(m.Other))
	if m.Refused+m.Failed > 0 {
		fmt.Fprintf(&b, "; %d refused, %d failed", m.Refused, m.Failed)
	}
	return b.String()
}

// line formats the result of a request rate in one line.
func (r *openResult) line() string {
	verdict := "not sustained"
	if r.Sustained {
		verdict = "sustained"
	}
	t := &r.Tally
	text := fmt.Sprintf("%s/s for %s: %s; answered %s/s, p50 %s, p90 %s, p99 %s, p99.9 %s, longest %s; %d refused, %d failed; send delay p99 %s",
		grouped(r.Rate), r.For, verdict, grouped(float64(t.Answered)/t.Window.Seconds()), formatDuration(t.Latencies.P50), formatDuration(t.Latencies.P90),
		formatDuration(t.Latencies.P99), formatDuration(t.Latencies.P999), formatDuration(t.Latencies.Longest), t.Refused, t.Failed, formatDuration(t.SentLate.P99))
	if t.NoRetryAfter > 0 {
		text += fmt.Sprintf("; %d refusals WITHOUT Retry-After", t.NoRetryAfter)
	}
	return text
}
