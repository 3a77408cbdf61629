package main

import (
	"fmt"
	"strings"
	"time"
)

// report is the result of a run, as --json writes it.
type report struct {
	When        time.Time     `json:"when"`
	Machine     machine       `json:"machine"`
	Lines       int64         `json:"lines"`
	Callers     int           `json:"callers"`
	Rounds      int           `json:"rounds"`
	Seconds     int           `json:"seconds"`
	Settings    []string      `json:"settings,omitempty"`
	PostgreSQL  []string      `json:"postgresql_settings,omitempty"`
	Variants    []figures     `json:"variants,omitempty"`
	Ratios      []ratio       `json:"ratios,omitempty"`
	OneRow      string        `json:"one_row,omitempty"` // which run of pgbench the ratios are beside
	GrowCallers []figures     `json:"grow_callers,omitempty"`
	GrowLines   []figures     `json:"grow_lines,omitempty"`
	Open        *openResult   `json:"open,omitempty"`
	Search      []openResult  `json:"search,omitempty"`
	HeldRate    float64       `json:"held_rate,omitempty"`
	Answers     uint64        `json:"answers"` // that verify gave
	Records     uint64        `json:"records"` // of them that the journal has
	Took        time.Duration `json:"took_ns"`
}

// figures are those of one variant over the rounds.
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

// summarised puts the rounds of one variant together.
func summarised(all []measurement) figures {
	us := func(of func(latencies) time.Duration) summary {
		return over(all, func(m *measurement) float64 { return float64(of(m.Latencies)) / float64(time.Microsecond) })
	}
	f := figures{
		Variant: all[0].Variant, Clients: all[0].Clients, Lines: all[0].Lines, Rounds: len(all),
		Rate: over(all, ratePerSecond),
		P50:  us(func(l latencies) time.Duration { return l.P50 }), P99: us(func(l latencies) time.Duration { return l.P99 }),
		ServiceCPU:   over(all, func(m *measurement) float64 { return m.ServiceCPU }),
		PostgresCPU:  over(all, func(m *measurement) float64 { return m.PostgresCPU }),
		GeneratorCPU: over(all, func(m *measurement) float64 { return m.GeneratorCPU }),
		Other:        over(all, func(m *measurement) float64 { return m.Other }),
		Stolen:       over(all, func(m *measurement) float64 { return m.Stolen }),
	}
	for i := range all {
		f.Refused, f.Failed = f.Refused+all[i].Refused, f.Failed+all[i].Failed
	}
	return f
}

// sum fills in what follows from the rounds.
func (r *report) sum(rounds map[string][]measurement) {
	for _, v := range variants {
		if all := rounds[v.name]; len(all) > 0 {
			r.Variants = append(r.Variants, summarised(all))
		}
	}
	r.Ratios, r.OneRow = ratios(rounds), betterOneRow(rounds)
	r.Took = time.Since(r.When)
}

// missed returns the goals that were not reached. A goal that was not measured
// was not reached.
func (r *report) missed() []string {
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

// line says a measurement in one line.
func (m *measurement) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d at a time: %s/s, p50 %s, p99 %s; CPU µs", m.Variant, m.Clients, grouped(m.Rate), brief(m.Latencies.P50), brief(m.Latencies.P99))
	if m.ServiceCPU > 0 {
		fmt.Fprintf(&b, " service %s", grouped(m.ServiceCPU))
	}
	fmt.Fprintf(&b, " PostgreSQL %s generator %s; other work %s", grouped(m.PostgresCPU), grouped(m.GeneratorCPU), percent(m.Other))
	if m.Refused+m.Failed > 0 {
		fmt.Fprintf(&b, "; %d refused, %d failed", m.Refused, m.Failed)
	}
	return b.String()
}

// line says what became of a steady rate.
func (r *openResult) line() string {
	held := "not held"
	if r.Held {
		held = "held"
	}
	t := &r.Tally
	text := fmt.Sprintf("%s/s for %s: %s; answered %s/s, p50 %s, p90 %s, p99 %s, p99.9 %s, longest %s; %d refused, %d without an answer; sent late p99 %s",
		grouped(r.Rate), r.For, held, grouped(float64(t.Answered)/t.Window.Seconds()), brief(t.Latencies.P50), brief(t.Latencies.P90),
		brief(t.Latencies.P99), brief(t.Latencies.P999), brief(t.Latencies.Longest), t.Refused, t.Failed, brief(t.SentLate.P99))
	if t.Silent > 0 {
		text += fmt.Sprintf("; %d refusals WITHOUT Retry-After", t.Silent)
	}
	return text
}
