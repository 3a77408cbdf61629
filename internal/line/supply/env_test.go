package supply_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// env is a service with a database of its own, Nigeria's numbering plan, and a
// clock that moves only when the test moves it.
type env struct {
	*supply.Service

	t          *testing.T
	plan       *numbering.Plan
	clock      time.Time
	eventCount int // events so far; the id of the next one is made of it
}

func newEnv(t *testing.T) *env {
	t.Helper()
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	s := &env{t: t, clock: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}
	s.Service = &supply.Service{Pool: pgtest.NewAnyTime(t), Region: region, Lines: &linestore.Resolver{}, Now: func() time.Time { return s.clock }}
	rows, source, _ := numbering.Shipped("NG")
	long := func() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }
	if s.plan, err = (&numbering.Service{Pool: s.Pool, Now: long}).Set(t.Context(), rows, source, time.Time{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func newSupplier(a line.Authority, network string) supply.Supplier {
	id := uuid.New()
	return supply.Supplier{Authorities: []line.Authority{a}, Network: network, Client: id, Actor: audit.Actor{Kind: audit.Client, ID: id}}
}

func operator(network string) supply.Supplier { return newSupplier(line.Operator, network) }

// number returns a number of MTN.
func number(i int) string { return "+2348030000" + strconv.Itoa(100+i) }

func (s *env) parse(written string) phone.Number {
	s.t.Helper()
	n, err := s.Region.ParseMobile(written)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// ago returns the time some days before now.
func (s *env) ago(days int) string { return s.clock.AddDate(0, 0, -days).Format(time.RFC3339) }

// days moves the clock.
func (s *env) days(n int) { s.clock = s.clock.AddDate(0, 0, n) }

// event returns an event that took effect some days ago.
func (s *env) event(number, kind string, days int) supply.Item {
	s.eventCount++
	return supply.Item{ID: "e" + strconv.Itoa(s.eventCount), PhoneNumber: number, Type: kind, EffectiveAt: s.ago(days)}
}

// atTime runs fn with the clock at a time.
func (s *env) atTime(at time.Time, fn func()) {
	now := s.clock
	s.clock = at
	defer func() { s.clock = now }()
	fn()
}

// report reports each event a minute after it took effect, in a call of its own, and
// returns the outcome and reason of each. What has no time of effect, and what would
// then be reported in the future, is reported now.
func (s *env) report(who supply.Supplier, items ...supply.Item) (words []string) {
	s.t.Helper()
	for _, i := range items {
		at := s.clock
		if effect, ok := s.effectOf(i); ok && effect.Add(time.Minute).Before(at) {
			at = effect.Add(time.Minute)
		}
		s.atTime(at, func() { words = append(words, s.reportNow(who, i)...) })
	}
	return words
}

// effectOf returns when an event took effect: of a bare date, the end of the day.
func (s *env) effectOf(i supply.Item) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, i.EffectiveAt); err == nil {
		return at, true
	}
	p := policy.Defaults()
	day, err := time.ParseInLocation(time.DateOnly, i.EffectiveAt, p.Zone())
	return day.AddDate(0, 0, 1), err == nil
}

// reportNow reports events in one call at the time of the clock, however long ago
// they took effect, and returns the outcome and reason of each.
func (s *env) reportNow(who supply.Supplier, items ...supply.Item) []string {
	s.t.Helper()
	got, err := s.ApplyEvents(s.t.Context(), who, items)
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

// wantOutcome reports one event when it took effect, and checks its outcome and
// reason.
func (s *env) wantOutcome(who supply.Supplier, item supply.Item, want string) {
	s.t.Helper()
	if diff := cmp.Diff([]string{want}, s.report(who, item)); diff != "" {
		s.t.Errorf("%s of %s:\n%s", item.Type, item.EffectiveAt, diff)
	}
}

// wantLate is wantOutcome for an event that is reported now, however long ago it
// took effect.
func (s *env) wantLate(who supply.Supplier, item supply.Item, want string) {
	s.t.Helper()
	if diff := cmp.Diff([]string{want}, s.reportNow(who, item)); diff != "" {
		s.t.Errorf("%s of %s, reported now:\n%s", item.Type, item.EffectiveAt, diff)
	}
}

// through are the assurances of an operator that it has supplied everything up to a
// time.
func through(at time.Time) []supply.Assurance {
	return []supply.Assurance{{Topic: line.TopicLifecycle, Through: at}, {Topic: line.TopicSIM, Through: at}}
}

// supplyThroughNow reports that an operator has supplied everything up to now.
func (s *env) supplyThroughNow(network string) {
	s.t.Helper()
	s.assure(network, through(s.clock)...)
}

// assure gives assurances of an operator.
func (s *env) assure(network string, assured ...supply.Assurance) {
	s.t.Helper()
	if _, err := s.ApplyEvents(s.t.Context(), operator(network), nil, assured...); err != nil {
		s.t.Fatal(err)
	}
}

// status returns the status of a number now, its reason if it has one, and its
// network.
func (s *env) status(number string) string {
	s.t.Helper()
	lookup, err := s.Lines.Lookup(s.t.Context(), s.Pool, s.parse(number), s.clock)
	if err != nil {
		s.t.Fatal(err)
	}
	v := lookup.View(s.clock)
	word := string(v.Status)
	if v.Reason != "" {
		word += " " + string(v.Reason)
	}
	return word + " " + lookup.Plan.Code(v.Network)
}

// wantStatus checks the status and the network of a number.
func (s *env) wantStatus(number, want string) {
	s.t.Helper()
	if got := s.status(number); got != want {
		s.t.Errorf("the line is %q, want %q", got, want)
	}
}

// row returns the row of a number.
func (s *env) row(number string) line.Row {
	s.t.Helper()
	n := s.parse(number)
	rows, err := linestore.Rows(s.t.Context(), s.Pool, []phone.Number{n})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows[n]
}

// terms returns the terms of the policies.
func (s *env) terms() line.TermsAt {
	s.t.Helper()
	versions, err := policy.History(s.t.Context(), s.Pool)
	if err != nil {
		s.t.Fatal(err)
	}
	return line.TermsOf(versions)
}

// seq returns the sequence number of the newest event of a kind about a number, as
// orders write it.
func (s *env) seq(number string, kind line.Kind) (seq string) {
	s.t.Helper()
	err := s.Pool.QueryRow(s.t.Context(), `SELECT max(seq)::text FROM line_event WHERE number = $1 AND kind = $2`, s.parse(number).Int(), int16(kind)).Scan(&seq)
	if err != nil {
		s.t.Fatal(err)
	}
	return seq
}

// count returns what a statement counts.
func (s *env) count(statement string, args ...any) (n int) {
	s.t.Helper()
	if err := s.Pool.QueryRow(s.t.Context(), statement, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}
