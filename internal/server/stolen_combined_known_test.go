package server_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// thiefKnown are gains that nothing finds yet, by how the name of the attempt begins, and
// why. Whoever mends one removes it here: an exception that is not needed fails the test.
var thiefKnown = map[string]string{
	"column and back: session.last_seen_at":     "when a session was last used is not signed, so an idle one can be made to look used until it expires",
	"column: supply_coverage.":                  "what the supply of a network covers is not signed, and no command computes it again",
	"column: guard_alert.":                      "an alert of the guard is not signed",
	"column: usage_day.":                        "counters of usage are in the database",
	"column: line_now.":                         "lines check replays only lines that have events",
	"chain: a number whose SIM was not swapped": "lines check replays only lines that have events",
	"chain: a policy":                           "only the public log shows a version that nobody has confirmed",
	"inserted column: numbering_":               "as by the chain of a plan",
	"inserted column: policy.":                  "as by the chain of a policy",
	"chain: a plan":                             "only the public log shows a version that nobody has confirmed",
	"chain: a seal":                             "seals are not signed and not compared with the approvals",
	"chain: a review":                           "states of documents are not signed and not compared with the audit trail",
	"chain: an erasure":                         "erasures are not signed and not compared with the approvals",
	"chain: a confirmed endpoint":               "states of endpoints are not signed; the address itself cannot be changed",
	"chain: an endpoint of a revoked key":       "as above, and the same for the key that made it",
	"chain: guess codes for ever":               "counters of wrong codes are in the database alone",
	"chain: guess passwords for ever":           "counters of attempts are in the database alone",
	"chain: a code twice":                       "the step of the last code is not signed; the thief needs a code of the last minute",
	"chain: a recovery code twice":              "whether a recovery code was used is not signed; the thief needs a used one",
	"chain: the quota of yesterday":             "counters of usage are in the database",
}

// thiefSample is which part of the large families runs in every run of the tests. All of them
// are at most thiefMost, and end after thiefLongest.
const (
	thiefSample  = 30
	thiefMost    = 5000
	thiefLongest = 2 * time.Hour
)

// chosen reports whether an attempt is to be made: all of LINEPROOF_E2E_THIEF=all, those of a family,
// or without the setting the small families and a part of the large ones.
func (a *thiefAttempt) chosen(only string, i int) bool {
	large := a.family == "column" || a.family == "inserted column" || a.family == "column and back" || a.family == "copy"
	return only == "all" || only == a.family || only == "" && (!large || i%thiefSample == 0)
}

// thiefSum adds up verdicts.
type thiefSum struct {
	begin                  time.Time
	tried, refused, gained int
	without                int // that found no row to change
	families               map[string]int
	open                   map[string][]string // gains that were not found
	used                   map[string]bool     // exceptions
	columns                map[string]bool     // whether an attempt changed it
}

func newThiefSum() *thiefSum {
	return &thiefSum{begin: time.Now(), families: map[string]int{}, open: map[string][]string{}, used: map[string]bool{}, columns: map[string]bool{}}
}

func (s *thiefSum) add(v thiefVerdict) {
	s.tried++
	s.families[v.attempt.family]++
	if c := v.attempt.column; c != nil {
		s.columns[c.String()] = s.columns[c.String()] || v.refused == nil && v.rows > 0
	}
	if v.refused != nil {
		s.refused++
	} else if v.attempt.column != nil && v.rows == 0 {
		s.without++
	}
	if len(v.gains) == 0 {
		return
	}
	s.gained++
	if len(v.found) > 0 {
		return
	}
	for begin := range thiefKnown {
		if strings.HasPrefix(v.attempt.String(), begin) {
			s.used[begin] = true
			return
		}
	}
	s.open[v.attempt.String()] = v.gains
}

func (s *thiefSum) report(t *testing.T, only string) {
	t.Helper()
	changed, tables := 0, map[string]bool{}
	for name, is := range s.columns {
		table, _, _ := strings.Cut(name, ".")
		tables[table] = true
		if is {
			changed++
		}
	}
	t.Logf("%d attempts in %s: %d refused by the database, %d without a row, %d with a gain; %v",
		s.tried, time.Since(s.begin).Round(time.Second), s.refused, s.without, s.gained, s.families)
	t.Logf("%d columns of %d tables, of which %d were changed", len(s.columns), len(tables), changed)
	if s.tried < 300 && (only == "" || only == "all") {
		t.Errorf("only %d attempts", s.tried)
	}
	for _, name := range slices.Sorted(maps.Keys(s.open)) {
		t.Errorf("gained, and not found: %s\n\t%s", name, strings.Join(s.open[name], "\n\t"))
	}
	for begin := range thiefKnown {
		if !s.used[begin] && (only == "all" || only == "" && !strings.Contains(begin, "column")) {
			t.Errorf("nothing is gained any more, or it is found: %s", begin)
		}
	}
}
