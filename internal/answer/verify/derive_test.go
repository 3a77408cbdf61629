package verify_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
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
	l := &scenario{verifier: &verifier{pool: pgtest.NewAnyTime(t)}, clock: now.Add(-20 * time.Minute)}
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
	records, err := journal.Open(t.Context(), l.pool, "test", 2)
	if err != nil {
		t.Fatal(err)
	}
	resolver := &linestore.Resolver{}
	l.supply = &supply.Service{Pool: l.pool, Region: region, Lines: resolver, Now: tick}
	l.Verifier = &verify.Verifier{Journal: records, Lines: resolver, Now: tick, MaxBatch: 10, MaxInFlight: 1, MaxQueue: 10, Timeout: 10 * time.Second}
	return l
}

var mtn = supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN", Actor: audit.Actor{Kind: audit.Operator}}

// snapshot imports a snapshot of two MTN lines, as of yesterday.
func (l *scenario) snapshot(t *testing.T) {
	t.Helper()
	const rows = "number,tenureStart,simChangedAt,state,stateSince\n+2348031234567,2019-05-01,NEVER,ACTIVE,\n+2348031234568,2019-05-01,NEVER,ACTIVE,\n"
	im, err := l.supply.Begin(t.Context(), mtn, supply.ImportForm{Kind: linefile.Snapshot, AsOf: daysAgo(1)}, "cli")
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
	r, err := l.supply.ApplyEvents(t.Context(), mtn, []supply.Item{i})
	if err != nil || r.Results[0].Outcome != supply.Applied {
		t.Fatalf("report %s: %+v, %v", kind, r, err)
	}
	return i.ID
}

func (l *scenario) derive(t *testing.T, e record.Entry) verify.Derivation {
	t.Helper()
	d, err := verify.Derive(t.Context(), l.pool, &linestore.Resolver{}, &e)
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
	everything := verify.Request{Since: daysAgo(10), Include: verify.Include{Signals: true, Coverage: true, Dates: true}, Purpose: "payment"}
	records := make(map[string]record.Entry)
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
	verifyAs("after the swap was voided within the hour", normal, everything, line.Normal)
	next := policy.Defaults()
	next.Note, next.SwappedHours, next.LifecycleFreshnessHours, next.SIMFreshnessHours = "other windows", 2, 1, 1
	if _, err := (&policy.Service{Pool: l.pool, Now: l.Now}).Set(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	verifyAs("by another policy", swapped, verify.Request{}, line.Unknown)
	next = policy.Defaults()
	next.Version, next.Note, next.Purposes = 0, "exact dates", "payment=exact,other=absent"
	if _, err := (&policy.Service{Pool: l.pool, Now: l.Now}).Set(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	verifyAs("with exact dates", swapped, everything, line.Normal)
	if got := records["with exact dates"].Extra; !strings.Contains(got, `"dates":{"tenureStart":{"value":"2019-05-01","precision":"day"`) {
		t.Errorf("the record has %s", got)
	}
	if got := records["after the swap"].Extra; !strings.Contains(got, `"dates":{"tenureStart":{"value":"2019-05","precision":"month"`) {
		t.Errorf("the record of before has %s", got)
	}

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
	_, given := l.verifyLive(t, normal, verify.Request{Include: verify.Include{Signals: true, Dates: true}, Purpose: "payment"})
	if d := l.derive(t, given); d.Verdict != verify.Agrees {
		t.Fatalf("as given: %+v", d)
	}
	for name, change := range map[string]func(e *record.Entry){
		"status":            func(e *record.Entry) { e.Status = "NORMAL" },
		"network":           func(e *record.Entry) { e.MobileNetwork = "Glo" },
		"the purpose":       func(e *record.Entry) { e.Purpose = "collection" },
		"extra":             func(e *record.Entry) { e.Extra = `{"signals":[]}` },
		"an older version":  func(e *record.Entry) { e.LineVersion-- },
		"a future version":  func(e *record.Entry) { e.LineVersion++ },
		"no version":        func(e *record.Entry) { e.LineVersion = 0 },
		"an unknown policy": func(e *record.Entry) { e.PolicyVersion = 9 },
		"no policy":         func(e *record.Entry) { e.PolicyVersion = 0 },
		"an unknown plan":   func(e *record.Entry) { e.PlanVersion = 9 },
		"another number":    func(e *record.Entry) { e.Number = swapped },
		"a later time":      func(e *record.Entry) { e.At = e.At.AddDate(0, 0, 20) },
		"the reason":        func(e *record.Entry) { e.Reason = "STALE" },
		"a flag of a topic": func(e *record.Entry) { e.Coverage[13] ^= 2 },
		"a time of a topic": func(e *record.Entry) { e.Coverage[12]++ },
	} {
		e := given
		change(&e)
		if d := l.derive(t, e); d.Verdict != verify.Differs || d.Why == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A record has the coverage that its answer was given by, so the answer can be computed
// again although the coverage changed at that very moment.
func TestAnswersAreDerivedByTheCoverageThatTheySaw(t *testing.T) {
	t.Parallel()
	l := newScenario(t)
	l.report(t, line.Assign, 20, "")
	assure := func(topic line.Topic) {
		if _, err := l.supply.ApplyEvents(t.Context(), mtn, nil, supply.Assurance{Topic: topic, Through: l.clock}); err != nil {
			t.Fatal(err)
		}
	}
	assure(line.TopicLifecycle)
	assure(line.TopicSIM)
	ask := verify.Request{Include: verify.Include{Coverage: true}}
	_, before := l.verifyLive(t, normal, ask)
	// A report whose transaction began before the answer and ended after it.
	through := l.clock
	assure(line.TopicSIM)
	move := func(to time.Time) {
		if _, err := l.pool.Exec(t.Context(), `UPDATE supply_coverage_history SET at = $1 WHERE supplied_through = $2 AND topic = 2`, to, through); err != nil {
			t.Fatal(err)
		}
	}
	move(before.At)
	_, after := l.verifyLive(t, normal, ask)
	move(after.At.Add(time.Second)) // and one that began after the answer's clock was read
	for name, record := range map[string]record.Entry{"before": before, "after": after} {
		if d := l.derive(t, record); d.Verdict != verify.Agrees {
			t.Errorf("%s the change: %+v", name, d)
		}
	}
	move(after.At.Add(time.Hour))
	if d := l.derive(t, after); d.Verdict != verify.Differs {
		t.Errorf("the history of the coverage was altered: %+v", d)
	}
}

// An answer that is not about a real line, or that this program does not understand,
// cannot be computed again.
func TestMissingInputsShowInTheVerdict(t *testing.T) {
	t.Parallel()
	l := newScenario(t)
	l.snapshot(t)
	_, settled := l.verifyLive(t, normal, verify.Request{})
	for name, change := range map[string]func(e *record.Entry){
		"a test key":      func(e *record.Entry) { e.Mode = "test" },
		"strange options": func(e *record.Entry) { e.Options = "include=everything" },
		"other rules":     func(e *record.Entry) { e.Rules = 2 },
		"another type":    func(e *record.Entry) { e.Type = "file" },
		"erased":          func(e *record.Entry) { e.Inner, e.Personal = e.InnerHash(), record.Personal{} },
	} {
		e := settled
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
	list := l.impact(t)
	if len(list) != 1 || list[0].RequestID != wrong.RequestID || list[0].Answered.String() != "NORMAL MTN" || list[0].Recomputed.String() != "BARRED MTN" {
		t.Errorf("%+v", list)
	}
}

// An answer is listed where anything that it said would have been different, and not
// where only something that it was not asked for would have been.
func TestImpactComparesEverythingThatWasSaid(t *testing.T) {
	t.Parallel()
	l := newScenario(t)
	exactDates(t, l.pool, l.Now)
	l.snapshot(t)
	swap := l.report(t, line.ChangeSIM, 3, "")
	want := make(map[uuid.UUID][]string)
	verifyAs := func(q verify.Request, parts ...string) {
		q.Purpose = "payment"
		if _, record := l.verifyLive(t, normal, q); parts != nil {
			want[record.RequestID] = parts
		}
	}
	verifyAs(verify.Request{}, "status")
	verifyAs(verify.Request{Since: daysAgo(1)}, "status")
	verifyAs(verify.Request{Since: daysAgo(10)}, "status", "changedSince", "changes")
	verifyAs(verify.Request{Include: verify.Include{Signals: true}}, "status", "signals")
	verifyAs(verify.Request{Since: daysAgo(10), Include: verify.Include{Signals: true}}, "status", "signals", "changedSince", "changes")
	l.report(t, line.Void, 3, swap) // within an hour of its report: nothing of it is left
	verifyAs(verify.Request{Since: daysAgo(10), Include: verify.Include{Signals: true}})
	got := make(map[uuid.UUID][]string)
	for _, d := range l.impact(t) {
		got[d.RequestID] = d.Parts
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the differences (-want +got):\n%s", diff)
	}
}

// An event may be reported up to a minute ahead of its time, and answers have it at
// once. When it is withdrawn, those answers are listed, too.
func TestImpactListsAnswersBeforeTheTimeOfAWithdrawnEvent(t *testing.T) {
	t.Parallel()
	l := newScenario(t)
	l.snapshot(t)
	event := supply.Item{ID: "ahead", PhoneNumber: "+2348031234567", Type: line.Bar.String(), Reason: "LOST", EffectiveAt: l.clock.Add(50 * time.Second).Format(time.RFC3339)}
	if _, err := l.supply.ApplyEvents(t.Context(), mtn, []supply.Item{event}); err != nil {
		t.Fatal(err)
	}
	_, wrong := l.verifyLive(t, normal, verify.Request{})
	l.clock = l.clock.Add(2 * time.Minute)
	void := supply.Item{ID: "void", PhoneNumber: event.PhoneNumber, Type: line.Void.String(), EffectiveAt: event.EffectiveAt, Voids: event.ID, Note: "a mistake"}
	if _, err := l.supply.ApplyEvents(t.Context(), mtn, []supply.Item{void}); err != nil {
		t.Fatal(err)
	}
	var seq int64
	if err := l.pool.QueryRow(t.Context(), `SELECT max(seq) FROM line_event`).Scan(&seq); err != nil {
		t.Fatal(err)
	}
	found, err := (&verify.ImpactFinder{Pool: l.pool, Lines: &linestore.Resolver{}}).Find(t.Context(), verify.Correction{Seq: seq})
	if list := found.Differences; err != nil || len(list) != 1 || list[0].RequestID != wrong.RequestID || list[0].Recomputed.String() != "NORMAL MTN" {
		t.Errorf("%+v, %v", list, err)
	}
}

// impact returns the impact of everything that was reported.
func (l *scenario) impact(t *testing.T) []verify.Difference {
	t.Helper()
	found, err := (&verify.ImpactFinder{Pool: l.pool, Lines: &linestore.Resolver{}}).Find(t.Context(), verify.Correction{From: daysAgo(1), To: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return found.Differences
}
