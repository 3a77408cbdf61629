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

// summarise returns the median of all, and how far they lie apart.
func summarise(all []float64) summary {
	if len(all) == 0 {
		return summary{}
	}
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	return summary{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[0], High: sorted[n-1]}
}

// ratio is what one variant takes or reaches beside another.
type ratio struct {
	Name    string  `json:"name"`
	Goal    float64 `json:"goal"`
	AtLeast bool    `json:"at_least"` // otherwise the goal is the most
	Value   summary `json:"value"`
	Met     bool    `json:"met"`
}

// goal is a ratio that is asked for: which figure of one variant beside that of
// which other.
type goal struct {
	name    string
	of      string // the variant
	beside  string // another; besideOneRow means the better of pgbench's
	figure  func(*measurement) float64
	goal    float64
	atLeast bool
}

// besideOneRow stands for the run of pgbench, one row at a time, that does most.
const besideOneRow = "one row"

func ratePerSecond(m *measurement) float64 { return m.Rate }

var goals = []goal{
	{"verify, requests/s beside pgbench's one-row transactions/s", variantVerify, besideOneRow, ratePerSecond, 2.5, true},
	{"PostgreSQL's CPU for a verify beside that for a transaction of pgbench", variantVerify, besideOneRow, func(m *measurement) float64 { return m.PostgresCPU }, 0.2, false},
	{"service's CPU for a verify beside bare net/http's", variantVerify, variantBare, func(m *measurement) float64 { return m.ServiceCPU }, 1.8, false},
	{"verify, requests/s beside bare net/http's", variantVerify, variantBare, ratePerSecond, 0.45, true},
	{"verify with Redis, requests/s beside verify with rates in memory", variantRedis, variantVerify, ratePerSecond, 0.85, true},
}

// ratios compares round by round, because a round is short and a run is long: a
// machine that is busier in one round is so for both sides. Goals whose sides
// were not both measured are left out.
func ratios(rounds map[string][]measurement) []ratio {
	var all []ratio
	for _, g := range goals {
		beside := rounds[g.beside]
		if g.beside == besideOneRow {
			beside = rounds[betterOneRow(rounds)]
		}
		var values []float64
		for i := range min(len(rounds[g.of]), len(beside)) {
			if base := g.figure(&beside[i]); base > 0 {
				values = append(values, g.figure(&rounds[g.of][i])/base)
			}
		}
		if len(values) == 0 {
			continue
		}
		r := ratio{Name: g.name, Goal: g.goal, AtLeast: g.atLeast, Value: summarise(values)}
		r.Met = r.AtLeast && r.Value.Median >= r.Goal || !r.AtLeast && r.Value.Median <= r.Goal
		all = append(all, r)
	}
	return all
}

// betterOneRow returns the variant of pgbench, one row at a time, with the
// higher rate: we compare with the best that it can do.
func betterOneRow(rounds map[string][]measurement) string {
	best, name := 0.0, ""
	for _, v := range []string{variantOneRow, variantOneRowMany} {
		if rate := over(rounds[v], ratePerSecond).Median; rate > best {
			best, name = rate, v
		}
	}
	return name
}

// over summarises one figure over rounds.
func over(all []measurement, figure func(*measurement) float64) summary {
	values := make([]float64, len(all))
	for i := range all {
		values[i] = figure(&all[i])
	}
	return summarise(values)
}
