package supply_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// numberHistory returns the result of a query.
func (s *env) numberHistory(q supply.HistoryQuery) supply.History {
	s.t.Helper()
	p, err := s.History(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// daysAgo returns the time some days before now.
func (s *env) daysAgo(ago int) time.Time { return s.clock.AddDate(0, 0, -ago) }

// baseline stores the row of a number as a snapshot of MTN would, and returns the
// snapshot's import.
func (s *env) baseline(number string, began time.Time, b line.Baseline) uuid.UUID {
	s.t.Helper()
	uid := uuid.New()
	err := pg.InTx(s.t.Context(), s.Pool, func(tx pg.Tx) error {
		b.Network, _ = s.plan.Network("MTN")
		b.Until = line.Never
		err := tx.QueryRow(s.t.Context(), `INSERT INTO supply_import (uid, network, supplier, supplier_name, kind, as_of, dry_run, source, state, created_at, updated_at)
			VALUES ($1, $2, 1, 'MTN', 'snapshot', $3, false, 'cli', 'applied', $3, $3) RETURNING id`, uid, b.Network, began).Scan(&b.Import)
		if err != nil {
			return err
		}
		return linestore.InsertBaselines(s.t.Context(), tx, []linestore.Record{{Number: s.parse(number), Row: line.FromBaseline(&b)}})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return uid
}

// The history shows every tenure and every event, by effective time and not in the
// order of reporting, with the outcome of each.
func TestHistoryShowsTenuresAndEvents(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn, airtel := operator("MTN"), operator("AIRTEL")
	end, assigned, old := s.event(number(1), "ENDED", 410), s.event(number(1), "ASSIGNED", 400), s.event(number(1), "SIM_CHANGED", 60)
	wrong, notice := s.event(number(1), "SIM_CHANGED", 22), s.event(number(1), "CHURN_NOTICE", 20)
	end.Reason, notice.ChurnAt = "CHURNED", s.ago(-10)
	s.wantOutcome(mtn, assigned, "APPLIED")
	s.atTime(s.daysAgo(395), func() { s.wantLate(mtn, end, "APPLIED") }) // about a tenure whose start is not known
	port := s.port(number(1), 300)
	s.wantOutcome(newSupplier(line.ClearingHouse, ""), port, "APPLIED")
	s.wantOutcome(airtel, wrong, "APPLIED")
	s.wantOutcome(airtel, notice, "APPLIED")
	void := s.void(wrong)
	s.days(1)
	s.wantLate(airtel, void, "APPLIED")
	s.wantLate(airtel, old, "APPLIED")
	s.supplyThroughNow("AIRTEL")

	got := s.numberHistory(supply.HistoryQuery{Number: s.parse(number(1))})
	if got.Status != line.PendingChurn || got.Network != "AIRTEL" || got.Reason != "" {
		t.Errorf("the line is %s %s of %s", got.Status, got.Reason, got.Network)
	}
	want := []supply.Tenure{
		{Network: "MTN", End: s.daysAgo(411), State: supply.TenureEnded, EndReason: "CHURNED"},
		{Network: "AIRTEL", Start: s.daysAgo(401), State: "PENDING_CHURN"},
	}
	if diff := cmp.Diff(want, got.Tenures); diff != "" {
		t.Errorf("tenures:\n%s", diff)
	}
	at := func(i supply.Item, days int, later time.Duration, outcome string) supply.HistoryEvent {
		e := supply.HistoryEvent{ID: i.ID, Type: i.Type, Source: "OPERATOR", Network: "AIRTEL", Peer: i.Network, Code: i.Reason, Note: i.Note, EffectiveAt: s.daysAgo(days)}
		e.Outcome, e.Reason, _ = strings.Cut(outcome, " ")
		e.ReportedAt = e.EffectiveAt.Add(later)
		return e
	}
	const day = 24 * time.Hour
	events := []supply.HistoryEvent{
		at(end, 411, 15*day, "APPLIED"), at(assigned, 401, time.Minute, "APPLIED"), at(port, 301, time.Minute, "APPLIED"), at(old, 61, 61*day, "APPLIED"),
		at(wrong, 23, time.Minute, "NO_EFFECT VOIDED"), at(void, 23, 23*day, "APPLIED"), at(notice, 21, time.Minute, "APPLIED"),
	}
	events[0].Network, events[1].Network = "MTN", "MTN"
	events[2].Network, events[2].Source = "", "CLEARING_HOUSE"
	events[4].Voided, events[6].ChurnAt = true, s.daysAgo(-9)
	for i := range got.Events {
		if got.Events[i].Seq == 0 {
			t.Errorf("event %d has no seq", i)
		}
	}
	if len(got.Events) == len(events) {
		events[5].Voids = got.Events[4].Seq
	}
	if diff := cmp.Diff(events, got.Events, cmpopts.IgnoreFields(supply.HistoryEvent{}, "Seq")); diff != "" {
		t.Errorf("events:\n%s", diff)
	}
}

// A tenure ends when its end is reported, when a snapshot does not have it, or when
// the next one begins. A reinstated tenure continues.
func TestTenures(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	item := func(kind, reason string, days int) supply.Item {
		e := s.event("", kind, days)
		e.Reason = reason
		return e
	}
	for name, tc := range map[string]struct {
		events []supply.Item
		want   []supply.Tenure
	}{
		"nothing reported": {},
		"unknown start": {
			[]supply.Item{item("SIM_CHANGED", "", 5)},
			[]supply.Tenure{{Network: "MTN", State: "ACTIVE"}},
		},
		"reassigned without an end": {
			[]supply.Item{item("ASSIGNED", "", 300), item("PARKED", "", 200), item("ASSIGNED", "", 100)},
			[]supply.Tenure{{Network: "MTN", Start: s.daysAgo(300), End: s.daysAgo(100), State: "ENDED"}, {Network: "MTN", Start: s.daysAgo(100), State: "ACTIVE"}},
		},
		"ended and assigned in one second": {
			[]supply.Item{item("ASSIGNED", "", 300), item("ENDED", "SURRENDERED", 100), item("ASSIGNED", "", 100)},
			[]supply.Tenure{
				{Network: "MTN", Start: s.daysAgo(300), End: s.daysAgo(100), State: "ENDED", EndReason: "SURRENDERED"},
				{Network: "MTN", Start: s.daysAgo(100), State: "ACTIVE"},
			},
		},
		"unknown one ended in the second of the first": {
			[]supply.Item{item("ENDED", "CHURNED", 100), item("ASSIGNED", "", 100)},
			[]supply.Tenure{{Network: "MTN", End: s.daysAgo(100), State: "ENDED", EndReason: "CHURNED"}, {Network: "MTN", Start: s.daysAgo(100), State: "ACTIVE"}},
		},
		"reinstated": {
			[]supply.Item{item("ASSIGNED", "", 300), item("ENDED", "CHURNED", 100), item("REINSTATED", "", 90), item("INACTIVE", "", 10)},
			[]supply.Tenure{{Network: "MTN", Start: s.daysAgo(300), State: "INACTIVE"}},
		},
		"ended, and ended again": {
			[]supply.Item{item("ASSIGNED", "", 300), item("ENDED", "CHURNED", 100), item("REINSTATED", "", 90), item("ENDED", "SURRENDERED", 10), item("USED", "", 5)},
			[]supply.Tenure{{Network: "MTN", Start: s.daysAgo(300), End: s.daysAgo(10), State: "ENDED", EndReason: "SURRENDERED"}},
		},
	} {
		n := number(len(name))
		for i := range tc.events {
			tc.events[i].PhoneNumber = n
		}
		if len(tc.events) > 0 {
			s.report(operator("MTN"), tc.events...)
		}
		if diff := cmp.Diff(tc.want, s.numberHistory(supply.HistoryQuery{Number: s.parse(n)}).Tenures); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// AsOf and KnownAt are independent: what was true, and what had been reported. The
// supply is what was assured by then.
func TestHistoryAsOfAndKnownAt(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	start := s.clock
	after := func(days int) time.Time { return start.AddDate(0, 0, days) }
	s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 400), "APPLIED")
	var second supply.Item
	for day := 0; ; day++ {
		switch day {
		case 20: // a SIM change on day 15 is reported, and another on day 16
			s.wantLate(mtn, s.event(number(1), "SIM_CHANGED", 5), "APPLIED")
			second = s.event(number(1), "SIM_CHANGED", 4)
			s.wantLate(mtn, second, "APPLIED")
		case 22: // the second one is withdrawn
			s.wantLate(mtn, s.void(second), "APPLIED")
		}
		s.supplyThroughNow("MTN")
		if day == 40 {
			break
		}
		s.days(1)
	}

	for _, tc := range []struct {
		asOf, knownAt int // days; 0 is now, which is day 40
		want          string
		events        int
	}{
		{0, 0, "NORMAL", 4},
		{18, 0, "SWAPPED", 4},
		{18, 21, "SWAPPED", 3},
		{18, 19, "NORMAL", 1}, // as every answer of day 18 said
		{12, 0, "NORMAL", 1},
		{25, 21, "SWAPPED", 3},
		{25, 0, "SWAPPED", 4}, // contested
		{26, 0, "NORMAL", 4},
		{39, 19, "UNKNOWN STALE", 1},
		{-5, 0, "UNKNOWN NO_SUPPLY", 1}, // its first assurance is of day 0
		{-500, 0, "UNKNOWN NO_SUPPLY", 0},
		{18, -401, "UNKNOWN NO_SUPPLY", 0}, // nobody had reported anything
	} {
		q := supply.HistoryQuery{Number: s.parse(number(1))}
		if tc.asOf != 0 {
			q.AsOf = after(tc.asOf)
		}
		if tc.knownAt != 0 {
			q.KnownAt = after(tc.knownAt)
		}
		got := s.numberHistory(q)
		if word := strings.TrimSpace(string(got.Status) + " " + string(got.Reason)); word != tc.want || len(got.Events) != tc.events {
			t.Errorf("of day %d, known on day %d: %s with %d events; want %s with %d", tc.asOf, tc.knownAt, word, len(got.Events), tc.want, tc.events)
		}
	}
	if n := len(s.numberHistory(supply.HistoryQuery{Number: s.parse(number(1)), AsOf: after(-500)}).Tenures); n != 0 {
		t.Errorf("before the first tenure there are %d", n)
	}
}

// A held event counts from its confirmation on, and what was known before does not
// change.
func TestHistoryKnowsWhenAHeldEventWasConfirmed(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	start := s.clock
	s.wantOutcome(operator("MTN"), s.event(number(1), "PARKED", 50), "APPLIED")
	s.wantLate(operator("MTN"), s.event(number(1), "USED", 40), "WAITING TOO_OLD")
	s.days(3)
	s.createOrder(regulator(), number(1), "CONFIRM", func(f *order.Form) { f.Event = s.seq(number(1), line.Use) })
	s.supplyThroughNow("MTN")
	for name, tc := range map[string]struct {
		asOf, knownAt time.Time
		want          string
	}{
		"now":                      {time.Time{}, time.Time{}, "NORMAL "},
		"while it was held":        {start.AddDate(0, 0, 1), start.AddDate(0, 0, 1), "PARKED "},
		"before it was reported":   {start.Add(-time.Hour), start.Add(-time.Hour), "PARKED "},
		"then, as it is known now": {start.AddDate(0, 0, -45), time.Time{}, "PARKED "},
	} {
		got := s.numberHistory(supply.HistoryQuery{Number: s.parse(number(1)), AsOf: tc.asOf, KnownAt: tc.knownAt})
		if word := string(got.Status) + " " + string(got.Reason); word != tc.want {
			t.Errorf("%s: %s, want %s", name, word, tc.want)
		}
	}
}

// A baseline is known from the creation of its import, with later events and
// without.
func TestHistoryOfABaseline(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	began := s.daysAgo(30)
	ago := func(days int) line.Instant { return line.InstantOf(s.daysAgo(days)) }
	uid := s.baseline(number(1), began, line.Baseline{Tenure: ago(900), SIM: line.Never, State: line.StateParked, StateSince: ago(50)})
	s.baseline(number(2), began, line.Baseline{Tenure: ago(900), SIM: ago(40), State: line.StateEnded, StateSince: ago(35)})
	s.baseline(number(3), began, line.Baseline{Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: line.Never})
	for round := range 2 {
		for name, tc := range map[string]struct {
			number  string
			knownAt time.Time
			want    []supply.Tenure
		}{
			"parked":          {number(1), began, []supply.Tenure{{Network: "MTN", Start: s.daysAgo(900 + round), State: "PARKED"}}},
			"not yet known":   {number(1), began.Add(-time.Second), nil},
			"ended":           {number(2), began, []supply.Tenure{{Network: "MTN", Start: s.daysAgo(900 + round), End: s.daysAgo(35 + round), State: "ENDED"}}},
			"without a date":  {number(3), began, []supply.Tenure{{Network: "MTN", State: "ACTIVE"}}},
			"ended too early": {number(2), began.Add(-time.Second), nil},
		} {
			if diff := cmp.Diff(tc.want, s.numberHistory(supply.HistoryQuery{Number: s.parse(tc.number), KnownAt: tc.knownAt}).Tenures); diff != "" {
				t.Errorf("%s, round %d:\n%s", name, round, diff)
			}
		}
		s.days(1)
		s.report(operator("MTN"), s.event(number(1), "USED", 0), s.event(number(2), "ASSIGNED", 0), s.event(number(3), "PARKED", 0))
	}
	if _, err := s.Pool.Exec(t.Context(), `INSERT INTO line_event (number, seq, reported_at, effective, supplier, import, kind, authority, network)
		SELECT $1, nextval('line_event_seq'), now(), $2, 1, id, 7, 1, network FROM supply_import WHERE uid = $3`, s.parse(number(1)).Int(), ago(0), uid); err != nil {
		t.Fatal(err)
	}
	events := s.numberHistory(supply.HistoryQuery{Number: s.parse(number(1))}).Events
	if n := len(events); n != 3 || events[0].Import != uuid.Nil || events[2].Import != uid {
		t.Errorf("the events are %+v", events)
	}
}

// An operator sees the history of a number that is with its network, without the
// reasons and notes of others.
func TestHistoryForAnOperator(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	bar := s.event(number(1), "BARRED", 5)
	bar.Reason, bar.Note = "DEBT", "unpaid"
	s.report(mtn, s.event(number(1), "ASSIGNED", 400), bar)
	o, err := s.orders().Create(t.Context(), regulator(), order.Form{PhoneNumber: number(1), Action: "BAR", Reason: "COURT", Note: "case 12 of 2026"})
	if err != nil {
		t.Fatal(err)
	}

	shown := func(network string) []string {
		var list []string
		for _, e := range s.numberHistory(supply.HistoryQuery{Number: s.parse(number(1)), Network: network}).Events {
			id := e.ID
			if id == o.ID.String() {
				id = "order"
			}
			list = append(list, strings.Join([]string{e.Type, id, e.Code, e.Note}, "/"))
		}
		return list
	}
	if diff := cmp.Diff([]string{"ASSIGNED/e2//", "BARRED/e1/DEBT/unpaid", "BARRED/order/COURT/case 12 of 2026"}, shown("")); diff != "" {
		t.Errorf("staff:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ASSIGNED/e2//", "BARRED/e1/DEBT/unpaid", "BARRED///"}, shown("MTN")); diff != "" {
		t.Errorf("its operator:\n%s", diff)
	}
	for network, n := range map[string]string{"AIRTEL": number(1), "GLO": number(2), "NOBODY": number(1)} {
		if _, err := s.History(t.Context(), supply.HistoryQuery{Number: s.parse(n), Network: network}); !errors.Is(err, supply.ErrNoHistory) {
			t.Errorf("%s: %v", network, err)
		}
	}
	if got := s.numberHistory(supply.HistoryQuery{Number: s.parse(number(2)), Network: "MTN"}); got.Status != line.Unknown || len(got.Events) != 0 {
		t.Errorf("a number of its range without a tenure: %+v", got)
	}

	s.days(1)
	port := s.event(number(1), "PORTED", 0)
	port.Network = "AIRTEL"
	s.wantOutcome(newSupplier(line.ClearingHouse, ""), port, "APPLIED")
	if _, err := s.History(t.Context(), supply.HistoryQuery{Number: s.parse(number(1)), Network: "MTN"}); !errors.Is(err, supply.ErrNoHistory) {
		t.Errorf("the donor after the port: %v", err)
	}
	if diff := cmp.Diff([]string{"ASSIGNED///", "BARRED///", "BARRED///", "PORTED///"}, shown("AIRTEL")); diff != "" {
		t.Errorf("the recipient:\n%s", diff)
	}
}

// A future time is refused, and only staff can query the past.
func TestHistoryTimesThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	n, later := s.parse(number(1)), s.clock.Add(time.Second)
	for name, tc := range map[string]struct {
		q    supply.HistoryQuery
		want []string
	}{
		"the future":       {supply.HistoryQuery{AsOf: later, KnownAt: later}, []string{"asOf NOT_ALLOWED", "knownAt NOT_ALLOWED"}},
		"an operator":      {supply.HistoryQuery{Network: "MTN", AsOf: s.clock, KnownAt: s.clock}, []string{"asOf NOT_ALLOWED", "knownAt NOT_ALLOWED"}},
		"before any rules": {supply.HistoryQuery{AsOf: time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)}, []string{"asOf NOT_ALLOWED"}},
	} {
		tc.q.Number = n
		_, err := s.History(t.Context(), tc.q)
		if diff := cmp.Diff(tc.want, violations(err)); diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}
