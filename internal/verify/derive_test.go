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
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/verify"
)

// tale is a register in which things are told and asked by one clock.
type tale struct {
	*asking

	desk  *supply.Desk
	clock time.Time
}

// newTale begins twenty minutes ago, with a snapshot of MTN's lines.
func newTale(t *testing.T) *tale {
	t.Helper()
	l := &tale{asking: &asking{pool: pgtest.New(t)}, clock: now.Add(-20 * time.Minute)}
	tick := func() time.Time {
		l.clock = l.clock.Add(time.Second)
		return l.clock
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	rows, source, _ := numbering.Shipped("NG")
	if _, err := (&numbering.Book{Pool: l.pool, Now: func() time.Time { return daysAgo(60) }}).Set(t.Context(), rows, source, time.Time{}); err != nil {
		t.Fatal(err)
	}
	records, err := journal.Open(t.Context(), l.pool, "test")
	if err != nil {
		t.Fatal(err)
	}
	almanac := &line.Almanac{}
	l.desk = &supply.Desk{Pool: l.pool, Region: region, Lines: almanac, Now: tick}
	l.Verifier = &verify.Verifier{Journal: records, Lines: almanac, Now: tick, Batch: 10, Flushes: 1, Queue: 10, Patience: 10 * time.Second}
	return l
}

var mtn = supply.Speaker{Authorities: []line.Authority{line.Operator}, Network: "MTN", Actor: audit.Actor{Kind: audit.Operator}}

// snapshot supplies both lines, as of four days ago.
func (l *tale) snapshot(t *testing.T) {
	t.Helper()
	const rows = "number,tenureStart,simChangedAt,state,stateSince\n+2348031234567,2019-05-01,,ACTIVE,\n+2348031234568,2019-05-01,,ACTIVE,\n"
	im, err := l.desk.Begin(t.Context(), mtn, supply.ImportForm{Kind: linefile.Snapshot, AsOf: daysAgo(4)}, "cli")
	if err == nil {
		im, err = l.desk.Run(t.Context(), im.ID, supply.Source{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(rows)), nil }}, nil)
	}
	if err != nil || im.State != supply.Finished {
		t.Fatalf("the snapshot is %s, %v", im.State, err)
	}
}

// tell tells an event that took effect so many days ago.
func (l *tale) tell(t *testing.T, kind line.Kind, days int, voids string) (id string) {
	t.Helper()
	i := supply.Item{ID: uuid.NewString(), PhoneNumber: "+2348031234567", Type: kind.String(), EffectiveAt: daysAgo(days).Format(time.RFC3339), Voids: voids}
	if kind == line.Bar {
		i.Reason = "LOST"
	}
	if voids != "" {
		i.Note = "a mistake"
	}
	r, err := l.desk.Tell(t.Context(), mtn, []supply.Item{i}, time.Time{})
	if err != nil || r.Results[0].Outcome != supply.Applied {
		t.Fatalf("told %s: %+v, %v", kind, r, err)
	}
	return i.ID
}

func (l *tale) derive(t *testing.T, e journal.Entry) verify.Derivation {
	t.Helper()
	d, err := verify.Derive(t.Context(), l.pool, &line.Almanac{}, &e)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Whatever was told, withdrawn and ruled later: an answer comes out of what its
// record names as it was given, with everything else that was said.
func TestAnswersComeOutAgainAsTheyWereGiven(t *testing.T) {
	t.Parallel()
	l := newTale(t)
	everything := verify.Question{Since: daysAgo(10), Include: verify.Include{Signals: true, Coverage: true}}
	given := make(map[string]journal.Entry)
	ask := func(name string, number int64, q verify.Question, want line.Status) {
		a, record := l.ask(t, number, q)
		if a.Status != want {
			t.Fatalf("%s: answered %s, want %s", name, a.Status, want)
		}
		given[name] = record
	}
	ask("before anything was told", normal, verify.Question{}, line.Unknown)
	ask("before anything was told, at length", normal, everything, line.Unknown)
	l.snapshot(t)
	ask("by the snapshot", normal, verify.Question{}, line.Normal)
	ask("by the snapshot, at length", normal, everything, line.Normal)
	ask("a number that the snapshot does not have", nobodys, verify.Question{Include: verify.Include{Signals: true}}, line.Unallocated)
	ask("another network's", glos, verify.Question{}, line.Unknown)
	swap := l.tell(t, line.ChangeSIM, 3, "")
	ask("after the swap", normal, everything, line.Swapped)
	l.tell(t, line.Bar, 2, "")
	ask("after the bar", normal, everything, line.Barred)
	l.tell(t, line.Unbar, 1, "")
	l.tell(t, line.Void, 1, swap)
	ask("after the swap was withdrawn", normal, everything, line.Normal)
	next := policy.Defaults()
	next.Note, next.SwappedHours, next.FreshnessDays = "other windows", 1, 1
	if _, err := (&policy.Book{Pool: l.pool, Now: l.Now}).Set(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	ask("by another policy", normal, verify.Question{}, line.Unknown)

	for name, record := range given {
		d := l.derive(t, record)
		if d.Verdict != verify.Agrees || !cmp.Equal(d.Answers, []string{record.Status + " " + record.MobileNetwork}) {
			t.Errorf("%s: %s %s comes out as %+v", name, record.Status, record.MobileNetwork, d)
		}
	}
}

// An answer that does not come out is said to differ, whichever part of it is
// another; and so is one whose history or rules are gone.
func TestAnswersThatDoNotComeOutDiffer(t *testing.T) {
	t.Parallel()
	l := newTale(t)
	l.snapshot(t)
	l.tell(t, line.ChangeSIM, 3, "")
	_, record := l.ask(t, normal, verify.Question{Include: verify.Include{Signals: true}})
	if d := l.derive(t, record); d.Verdict != verify.Agrees {
		t.Fatalf("as given: %+v", d)
	}
	for name, change := range map[string]func(e *journal.Entry){
		"status":            func(e *journal.Entry) { e.Status = "NORMAL" },
		"network":           func(e *journal.Entry) { e.MobileNetwork = "Glo" },
		"what else":         func(e *journal.Entry) { e.Extra = `{"signals":[]}` },
		"an older version":  func(e *journal.Entry) { e.LineVersion-- },
		"a version to come": func(e *journal.Entry) { e.LineVersion++ },
		"no version":        func(e *journal.Entry) { e.LineVersion = 0 },
		"an unknown policy": func(e *journal.Entry) { e.PolicyVersion = 9 },
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

// Where the reach of the supply decided and is not kept, that is said; and so is
// that there is nothing to compute an answer from.
func TestWhatIsNotKeptIsSaid(t *testing.T) {
	t.Parallel()
	l := newTale(t)
	l.tell(t, line.Assign, 400, "")
	if _, err := l.desk.Tell(t.Context(), mtn, nil, l.clock); err != nil { // a call that says how far the supply reaches
		t.Fatal(err)
	}
	_, plain := l.ask(t, normal, verify.Question{})
	_, atLength := l.ask(t, normal, verify.Question{Include: verify.Include{Coverage: true}})
	if plain.Status != "NORMAL" {
		t.Fatalf("answered %s", plain.Status)
	}
	if d := l.derive(t, plain); d.Verdict != verify.Possible || !cmp.Equal(d.Answers, []string{"UNKNOWN MTN", "NORMAL MTN"}) {
		t.Errorf("without a word about the reach: %+v", d)
	}
	if d := l.derive(t, atLength); d.Verdict != verify.Agrees {
		t.Errorf("with the reach in the record: %+v", d)
	}
	for name, change := range map[string]func(e *journal.Entry){
		"a test key":      func(e *journal.Entry) { e.Mode = "test" },
		"no policy":       func(e *journal.Entry) { e.PolicyVersion = 0 },
		"strange options": func(e *journal.Entry) { e.Options = "include=everything" },
	} {
		e := plain
		change(&e)
		if d := l.derive(t, e); d.Verdict != verify.Untold || d.Why == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// An event that is told late shows which answers it would have changed, and no
// others.
func TestImpactListsTheAnswersThatALateEventWouldHaveChanged(t *testing.T) {
	t.Parallel()
	l := newTale(t)
	l.snapshot(t)
	_, wrong := l.ask(t, normal, verify.Question{})
	l.ask(t, swapped, verify.Question{})
	l.tell(t, line.Bar, 2, "")
	l.ask(t, normal, verify.Question{})
	list, err := verify.Impact(t.Context(), l.pool, &line.Almanac{}, verify.Correction{From: daysAgo(1), To: now.Add(time.Hour)})
	if err != nil || len(list) != 1 || list[0].RequestID != wrong.RequestID || list[0].Said != "NORMAL MTN" || list[0].WouldSay != "BARRED MTN" {
		t.Errorf("%+v, %v", list, err)
	}
}
