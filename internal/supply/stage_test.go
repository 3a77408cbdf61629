package supply_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/supply"
)

// stage is a desk over a database of its own, with Nigeria's numbering plan and
// a clock that stands still unless it is moved.
type stage struct {
	*supply.Desk

	t     *testing.T
	plan  *numbering.Plan
	clock time.Time
	told  int // events so far, from which those without an id get one
}

func newStage(t *testing.T) *stage {
	t.Helper()
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, clock: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}
	s.Desk = &supply.Desk{Pool: pgtest.New(t), Region: region, Lines: &line.Almanac{}, Now: func() time.Time { return s.clock }}
	rows, source, _ := numbering.Shipped("NG")
	long := func() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }
	if s.plan, err = (&numbering.Book{Pool: s.Pool, Now: long}).Set(t.Context(), rows, source, time.Time{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func speaker(a line.Authority, network string) supply.Speaker {
	id := uuid.New()
	return supply.Speaker{Authorities: []line.Authority{a}, Network: network, Client: id, Actor: audit.Actor{Kind: audit.Client, ID: id}}
}

func operator(network string) supply.Speaker { return speaker(line.Operator, network) }

// number returns a number of MTN's.
func number(i int) string { return "+2348030000" + strconv.Itoa(100+i) }

func (s *stage) parse(written string) phone.Number {
	s.t.Helper()
	n, err := s.Region.ParseMobile(written)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// ago returns the time so many days before the present one.
func (s *stage) ago(days int) string { return s.clock.AddDate(0, 0, -days).Format(time.RFC3339) }

// days moves the clock.
func (s *stage) days(n int) { s.clock = s.clock.AddDate(0, 0, n) }

// event returns an event that took effect so many days ago.
func (s *stage) event(number, kind string, days int) supply.Item {
	s.told++
	return supply.Item{ID: "e" + strconv.Itoa(s.told), PhoneNumber: number, Type: kind, EffectiveAt: s.ago(days)}
}

// tell tells events and returns what became of each, in a few words.
func (s *stage) tell(who supply.Speaker, items ...supply.Item) []string {
	s.t.Helper()
	got, err := s.Tell(s.t.Context(), who, items, time.Time{})
	if err != nil {
		s.t.Fatal(err)
	}
	words := make([]string, len(got.Results))
	for i, r := range got.Results {
		words[i] = r.Outcome
		if r.Reason != "" {
			words[i] += " " + r.Reason
		}
	}
	return words
}

// says tells one event, of which this must become.
func (s *stage) says(who supply.Speaker, item supply.Item, want string) {
	s.t.Helper()
	if diff := cmp.Diff([]string{want}, s.tell(who, item)); diff != "" {
		s.t.Errorf("%s of %s:\n%s", item.Type, item.EffectiveAt, diff)
	}
}

// reaches says that an operator has supplied everything up to now.
func (s *stage) reaches(network string) {
	s.t.Helper()
	if _, err := s.Tell(s.t.Context(), operator(network), nil, s.clock); err != nil {
		s.t.Fatal(err)
	}
}

// status returns the status of a number now, its reason if it has one, and its
// network.
func (s *stage) status(number string) string {
	s.t.Helper()
	look, err := s.Lines.Look(s.t.Context(), s.Pool, s.parse(number), s.clock)
	if err != nil {
		s.t.Fatal(err)
	}
	v := look.View(s.clock)
	word := string(v.Status)
	if v.Reason != "" {
		word += " " + string(v.Reason)
	}
	return word + " " + look.Plan.Code(v.Network)
}

// is checks the status of a number.
func (s *stage) is(number, want string) {
	s.t.Helper()
	if got := s.status(number); got != want {
		s.t.Errorf("the line is %q, want %q", got, want)
	}
}

// row returns the row of a number.
func (s *stage) row(number string) line.Row {
	s.t.Helper()
	n := s.parse(number)
	rows, err := line.Rows(s.t.Context(), s.Pool, []phone.Number{n})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows[n]
}

// count returns what a statement counts.
func (s *stage) count(statement string, args ...any) (n int) {
	s.t.Helper()
	if err := s.Pool.QueryRow(s.t.Context(), statement, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}
