package main

import (
	"slices"
)

// summary is one figure over the rounds of a run.
type summary struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// summarise returns the median, the lowest and the highest value.
func summarise(all []float64) summary {
	if len(all) == 0 {
		return summary{}
	}
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	return summary{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[0], High: sorted[n-1]}
}

// ratio compares a figure of one variant with that of another.
type ratio struct {
	Name    string  `json:"name"`
	Goal    float64 `json:"goal"`
	AtLeast bool    `json:"at_least"` // otherwise the goal is a maximum
	Value   summary `json:"value"`
	Met     bool    `json:"met"`
}

// goal is a required ratio between a figure of one variant and that of another.
type goal struct {
	name      string
	variant   string // the variant that is judged
	reference string // the other; referenceOneRow means the faster of the one-row pgbench variants
	figure    func(*measurement) float64
	goal      float64
	atLeast   bool
}

// referenceOneRow stands for the faster of the one-row pgbench variants.
const referenceOneRow = "one row"

func ratePerSecond(m *measurement) float64 { return m.Rate }

var goals = []goal{
	{"verify requests/s ÷ pgbench one-row transactions/s", variantVerify, referenceOneRow, ratePerSecond, 2.7, true},
	{"PostgreSQL CPU per verify ÷ per pgbench one-row transaction", variantVerify, referenceOneRow, func(m *measurement) float64 { return m.PostgresCPU }, 0.15, false},
	{"service CPU per verify ÷ per request of bare net/http", variantVerify, variantBare, func(m *measurement) float64 { return m.ServiceCPU }, 1.6, false},
	{"verify requests/s ÷ bare net/http requests/s", variantVerify, variantBare, ratePerSecond, 0.5, true},
	{"verify with Redis requests/s ÷ verify with rate limits in memory", variantRedis, variantVerify, ratePerSecond, 0.85, true},
}

// comparisons with the other binary have no goal.
var comparisons = []goal{
	{"verify requests/s ÷ those of the other binary", variantVerify, variantAgainst, ratePerSecond, 0, true},
	{"service CPU per verify ÷ that of the other binary", variantVerify, variantAgainst, func(m *measurement) float64 { return m.ServiceCPU }, 0, false},
	{"PostgreSQL CPU per verify ÷ that of the other binary", variantVerify, variantAgainst, func(m *measurement) float64 { return m.PostgresCPU }, 0, false},
	{"p99 of verify ÷ that of the other binary", variantVerify, variantAgainst, func(m *measurement) float64 { return float64(m.Latencies.P99) }, 0, false},
}

// ratios are computed per round: if the machine is busier in one round, that
// affects both variants. Goals whose variants were not both measured are left out.
func ratios(rounds map[string][]measurement) []ratio {
	var all []ratio
	for _, g := range slices.Concat(goals, comparisons) {
		reference := rounds[g.reference]
		if g.reference == referenceOneRow {
			reference = rounds[fasterOneRow(rounds)]
		}
		var values []float64
		for i := range min(len(rounds[g.variant]), len(reference)) {
			if base := g.figure(&reference[i]); base > 0 {
				values = append(values, g.figure(&rounds[g.variant][i])/base)
			}
		}
		if len(values) == 0 {
			continue
		}
		r := ratio{Name: g.name, Goal: g.goal, AtLeast: g.atLeast, Value: summarise(values)}
		r.Met = r.Goal == 0 || r.AtLeast && r.Value.Median >= r.Goal || !r.AtLeast && r.Value.Median <= r.Goal
		all = append(all, r)
	}
	return all
}

// fasterOneRow returns the one-row pgbench variant with the higher rate, because
// verify is compared with the best that pgbench can do.
func fasterOneRow(rounds map[string][]measurement) string {
	best, name := 0.0, ""
	for _, v := range []string{variantOneRow, variantOneRowMany} {
		if rate := summariseFigure(rounds[v], ratePerSecond).Median; rate > best {
			best, name = rate, v
		}
	}
	return name
}

// summariseFigure summarises one figure over all rounds.
func summariseFigure(all []measurement, figure func(*measurement) float64) summary {
	values := make([]float64, len(all))
	for i := range all {
		values[i] = figure(&all[i])
	}
	return summarise(values)
}
