package verify_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/verify"
)

// scenario is a register whose events and answers are timed by one test clock.
type scenario struct {
	*verifier

	supply *supply.Service
	clock  time.Time
}

// newScenario starts its clock twenty minutes ago. No line is known yet.
func newScenario(t *testing.T) *scenario {
	t.Helper()
	l := &scenario{verifier: &verifier{pool: pgtest.New(t)}, clock: now.Add(-20 * time.Minute)}
	tick := func() time.Time {
		l.clock = l.clock.Add(time.Second)
		return l.clock
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	rows, source, _ := numbering.Shipped("NG")
	if _, err := (&numbering.Service{Pool: l.pool, Now: func() time.Time { return daysAgo(60) }}).Set(t.Context(), rows, source, time.Time{}); err != nil {
		t.Fatal(err)
	}
	records, err := journal.Open(t.Context(), l.pool, "test")
	if err != nil {
		t.Fatal(err)
	}
	resolver := &line.Resolver{}
	l.supply = &supply.Service{Pool: l.pool, Region: region, Lines: resolver, Now: tick}
	l.Verifier = &verify.Verifier{Journal: records, Lines: resolver, Now: tick, MaxBatch: 10, MaxInFlight: 1, MaxQueue: 10, Timeout: 10 * time.Second}
	return l
}

var mtn = supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN", Actor: audit.Actor{Kind: audit.Operator}}

// snapshot imports a snapshot of two MTN lines, as of four days ago.
func (l *scenario) snapshot(t *testing.T) {
	t.Helper()
	const rows = "number,tenureStart,simChangedAt,state,stateSince\n+2348031234567,2019-05-01,,ACTIVE,\n+2348031234568,2019-05-01,,ACTIVE,\n"
	im, err := l.supply.Begin(t.Context(), mtn, supply.ImportForm{Kind: linefile.Snapshot, AsOf: daysAgo(4)}, "cli")
	if err == nil {
		im, err = l.supply.Run(t.Context(), im.ID, supply.Source{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(rows)), nil }}, nil)
	}
	if err != nil || im.State != supply.Finished {
		t.Fatalf("the snapshot is %s, %v", im.State, err)
	}
}

// report reports an event that took effect that many days ago.
func (l *scenario) report(t *testing.T, kind line.Kind, days int, voids string) (id string) {
	t.Helper()
	i := supply.Item{ID: uuid.NewString(), PhoneNumber: "+2348031234567", Type: kind.String(), EffectiveAt: daysAgo(days).Format(time.RFC3339), Voids: voids}
	if kind == line.Bar {
		i.Reason = "LOST"
	}
	if voids != "" {
		i.Note = "a mistake"
	}
	r, err := l.supply.ApplyEvents(t.Context(), mtn, []supply.Item{i}, time.Time{})
	if err != nil || r.Results[0].Outcome != supply.Applied {
		t.Fatalf("report %s: %+v, %v", kind, r, err)
	}
	return i.ID
}

func (l *scenario) derive(t *testing.T, e journal.Entry) verify.Derivation {
	t.Helper()
	d, err := verify.Derive(t.Context(), l.pool, &line.Resolver{}, &e)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Whatever is reported, voided or changed in the policy later, an answer can be
// computed again from what its record names, with all extra fields.
func TestAnswersAreDerivedAsTheyWereGiven(t *testing.T) {
	t.Parallel()
	l := newScenario(t)
	everything := verify.Request{Since: daysAgo(10), Include: verify.Include{Signals: true, Coverage: true}}
	records := make(map[string]journal.Entry)
	verifyAs := func(name string, number int64, q verify.Request, want line.Status) {
		a, record := l.verifyLive(t, number, q)
		if a.Status != want {
			t.Fatalf("%s: answered %s, want %s", name, a.Status, want)
		}
		records[name] = record
	}
	verifyAs("before any event", normal, verify.Request{}, line.Unknown)
	verifyAs("before any event, all extras", normal, everything, line.Unknown)
	l.snapshot(t)
	verifyAs("after the snapshot", normal, verify.Request{}, line.Normal)
	verifyAs("after the snapshot, all extras", normal, everything, line.Normal)
	verifyAs("a number missing from the snapshot", unlisted, verify.Request{Include: verify.Include{Signals: true}}, line.Unallocated)
	verifyAs("a number of another network", gloLine, verify.Request{}, line.Unknown)
	swap := l.report(t, line.ChangeSIM, 3, "")
	verifyAs("after the swap", normal, everything, line.Swapped)
	l.report(t, line.Bar, 2, "")
	verifyAs("after the bar", normal, everything, line.Barred)
	l.report(t, line.Unbar, 1, "")
	l.report(t, line.Void, 1, swap)
	verifyAs("after the swap was voided", normal, everything, line.Normal)
	next := policy.Defaults()
	next.Note, next.SwappedHours, next.FreshnessDays = "other windows", 1, 1
	if _, err := (&policy.Service{Pool: l.pool, Now: l.Now}).Set(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	verifyAs("by another policy", normal, verify.Request{}, line.Unknown)

	for name, record := range records {
		d := l.derive(t, record)
		if d.Verdict != verify.Agrees || !cmp.Equal(d.Answers, []string{record.Status + " " + record.MobileNetwork}) {
			t.Errorf("%s: %s %s is derived as %+v", name, record.Status, record.MobileNetwork, d)
		}
	}
}

// A record that was altered in any part differs, and so does one whose history,
// policy or plan does not exist.
func TestAlteredRecordsDiffer(t *testing.T) {
	t.Parallel()
	l := newScenario(t)
	l.snapshot(t)
	l.report(t, line.ChangeSIM, 3, "")
	_, record := l.verifyLive(t, normal, verify.Request{Include: verify.Include{Signals: true}})
	if d := l.derive(t, record); d.Verdict != verify.Agrees {
		t.Fatalf("as given: %+v", d)
	}
	for name, change := range map[string]func(e *journal.Entry){
		"status":            func(e *journal.Entry) { e.Status = "NORMAL" },
		"network":           func(e *journal.Entry) { e.MobileNetwork = "Glo" },
		"extra":             func(e *journal.Entry) { e.Extra = `{"signals":[]}` },
		"an older version":  func(e *journal.Entry) { e.LineVersion-- },
		"a future version":  func(e *journal.Entry) { e.LineVersion++ },
		"no version":        func(e *journal.Entry) { e.LineVersion = 0 },
		"an unknown policy": func(e *journal.Entry) { e.PolicyVersion = 9 },
		"no policy":         func(e *journal.Entry) { e.PolicyVersion = 0 },
		"an unknown plan":   func(e *journal.Entry) { e.PlanVersion = 9 },
		"another number":    func(e *journal.Entry) { e.Number = swapped },
		"a later time":      func(e *journal.Entry) { e.At = e.At.AddDate(0, 0, 20) },
	} {
		e := record
		change(&e)
		if d := l.derive(t, e); d.Verdict != verify.Differs || d.Why == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// When the answer depended on a coverage that is not stored, the verdict is
// possible; when there is nothing to compute it from, the verdict says so.
func TestMissingInputsShowInTheVerdict(t *testing.T) {
	t.Parallel()
	l := newScenario(t)
	l.report(t, line.Assign, 400, "")
	if _, err := l.supply.ApplyEvents(t.Context(), mtn, nil, l.clock); err != nil { // no events: the call only extends the coverage
		t.Fatal(err)
	}
	_, standard := l.verifyLive(t, normal, verify.Request{})
	_, withCoverage := l.verifyLive(t, normal, verify.Request{Include: verify.Include{Coverage: true}})
	if standard.Status != "NORMAL" {
		t.Fatalf("answered %s", standard.Status)
	}
	if d := l.derive(t, standard); d.Verdict != verify.Possible || !cmp.Equal(d.Answers, []string{"UNKNOWN MTN", "NORMAL MTN"}) {
		t.Errorf("without the coverage in the record: %+v", d)
	}
	if d := l.derive(t, withCoverage); d.Verdict != verify.Agrees {
		t.Errorf("with the coverage in the record: %+v", d)
	}
	for name, change := range map[string]func(e *journal.Entry){
		"a test key":      func(e *journal.Entry) { e.Mode = "test" },
		"strange options": func(e *journal.Entry) { e.Options = "include=everything" },
	} {
		e := standard
		change(&e)
		if d := l.derive(t, e); d.Verdict != verify.NotDerivable || d.Why == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// For an event that is reported late, Impact lists the answers that it would have
// changed, and no others.
func TestImpactListsTheAnswersThatALateEventWouldHaveChanged(t *testing.T) {
	t.Parallel()
	l := newScenario(t)
	l.snapshot(t)
	_, wrong := l.verifyLive(t, normal, verify.Request{})
	l.verifyLive(t, swapped, verify.Request{})
	l.report(t, line.Bar, 2, "")
	l.verifyLive(t, normal, verify.Request{})
	list, err := verify.Impact(t.Context(), l.pool, &line.Resolver{}, verify.Correction{From: daysAgo(1), To: now.Add(time.Hour)})
	if err != nil || len(list) != 1 || list[0].RequestID != wrong.RequestID || list[0].Answered != "NORMAL MTN" || list[0].Recomputed != "BARRED MTN" {
		t.Errorf("%+v, %v", list, err)
	}
}
