package linefile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// tomorrow is the end of the period in which the tests' lines change.
var tomorrow = asOf.Add(24 * time.Hour)

// A generated snapshot has exactly the requested lines of the network, in order,
// each once, and the reader accepts all of them. This holds for every network of
// the plan that ships.
func TestGeneratedSnapshotIsGood(t *testing.T) {
	t.Parallel()
	const lines = 5000
	plan := shipped(t)
	for _, network := range plan.Networks() {
		n := linefile.SyntheticNetwork{Seed: 7, Plan: plan, Network: network, Lines: lines, AsOf: asOf}
		var file bytes.Buffer
		if err := n.Snapshot(&file); err != nil {
			t.Fatal(err)
		}
		got := readAll(t, &file, options(t, linefile.Snapshot), 1000)
		if got.err != nil || len(got.refused) > 0 || len(got.rows) != lines {
			t.Fatalf("%s: %d rows, %v, refused %v", plan.Code(network), len(got.rows), got.err, got.refused)
		}
		last := int64(0)
		for _, r := range got.rows {
			if r.Number.Int() <= last {
				t.Fatalf("%s: line %d is not in order", plan.Code(network), r.Place)
			}
			last = r.Number.Int()
			if of, ok := plan.RangeOf(r.Number, asOf); !ok || of.Network != network {
				t.Fatalf("%s: line %d belongs to another network", plan.Code(network), r.Place)
			}
		}
	}
}

// The n-th line is the n-th row of the file, as the reader returns it: also a tenure
// that began on the day of asOf.
func TestLinesCanBeComputed(t *testing.T) {
	t.Parallel()
	n := nation(t, 20_000)
	n.AsOf = asOf.Add(9*time.Hour + 30*time.Minute)
	var file bytes.Buffer
	if err := n.Snapshot(&file); err != nil {
		t.Fatal(err)
	}
	roll, err := n.Generator()
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, linefile.Snapshot)
	o.AsOf = n.AsOf
	cut, seen := 0, int64(0)
	for _, r := range readAll(t, &file, o, 1000).rows {
		if number, snap := roll.At(seen); number != r.Number || snap != r.Snap {
			t.Errorf("line %d is %v, in the file %v", seen, snap, r.Snap)
		}
		seen++
		if r.Snap.Tenure == line.InstantOf(n.AsOf) {
			cut++
		}
	}
	if seen != n.Lines || cut == 0 {
		t.Errorf("%d lines of %d, %d of which began on the day of asOf", seen, n.Lines, cut)
	}
}

// The same seed makes the same files in every release, and another seed makes other
// files. If this fails, measurements of different releases no longer compare.
func TestGeneratedFilesNeverChange(t *testing.T) {
	t.Parallel()
	n := nation(t, 10_000)
	n.Plan, n.Network = smallPlan(t, 13)
	sum := func(write func(io.Writer) error) string {
		h := sha256.New()
		if err := write(h); err != nil {
			t.Fatal(err)
		}
		return hex.EncodeToString(h.Sum(nil)[:8])
	}
	got := map[string]string{"snapshot": sum(n.Snapshot), "changes": sum(func(w io.Writer) error { return n.Changes(w, 1000, asOf, tomorrow, false) })}
	want := map[string]string{"snapshot": "0c4b8bdf684e05a2", "changes": "284931818afc3dda"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	n.Seed++
	if sum(n.Snapshot) == got["snapshot"] {
		t.Error("another seed makes the same lines")
	}
}

// smallPlan has a range of network A with inner ranges of other networks, and inner
// ranges of those that belong to A again. Unlike the plan that ships it never
// changes.
func smallPlan(tb testing.TB, digits int) (*numbering.Plan, numbering.Network) {
	tb.Helper()
	since := time.Date(2001, 8, 1, 0, 0, 0, 0, time.UTC)
	row := func(prefix, code string) numbering.Row {
		return numbering.Row{Prefix: prefix, Network: code, Name: code, Allocated: since}
	}
	gone := row("2348037", "B")
	gone.Withdrawn = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	plan, err := numbering.New([]numbering.Row{
		row("234803", "A"), row("2348031", "B"), row("23480315", "A"), row("234803159", "B"), row("2348039", "B"), gone, row("234802", "B"),
		row("2348024", "A"), row("234804", "B"),
	}, digits)
	if err != nil {
		tb.Fatal(err)
	}
	a, _ := plan.Network("A")
	return plan, a
}

// The maximum number of lines uses every number of the network, without the inner
// ranges of others; one line more is refused.
func TestGeneratorUsesEveryNumber(t *testing.T) {
	t.Parallel()
	plan, a := smallPlan(t, 10)
	room := plan.Capacity(a, asOf)
	n := linefile.SyntheticNetwork{Plan: plan, Network: a, Lines: room, AsOf: asOf}
	roll, err := n.Generator()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := room, int64(10_000-1000+100-10-1000+1000); got != want {
		t.Fatalf("%d numbers, want %d", got, want)
	}
	last := int64(0)
	for i := range room {
		number, _ := roll.At(i)
		if of, ok := plan.RangeOf(number, asOf); !ok || of.Network != a || number.Int() <= last {
			t.Fatalf("line %d is out of order or belongs to another network", i)
		}
		last = number.Int()
	}
	for name, change := range map[string]func(*linefile.SyntheticNetwork){
		"one line too many":  func(n *linefile.SyntheticNetwork) { n.Lines++ },
		"fewer than none":    func(n *linefile.SyntheticNetwork) { n.Lines = -1 },
		"unknown network":    func(n *linefile.SyntheticNetwork) { n.Network = 99 },
		"before the network": func(n *linefile.SyntheticNetwork) { n.AsOf = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"too early":          func(n *linefile.SyntheticNetwork) { n.AsOf = time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC) },
		"too late":           func(n *linefile.SyntheticNetwork) { n.AsOf = time.Date(2088, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		wrong := n
		change(&wrong)
		if err := wrong.Snapshot(io.Discard); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The shares of states, of young tenures and of changed SIMs are those that the
// comments state.
func TestMixOfGeneratedLines(t *testing.T) {
	t.Parallel()
	const lines = 100_000
	roll, err := nation(t, lines).Generator()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]float64{}
	now := line.InstantOf(asOf)
	for i := range int64(lines) {
		_, s := roll.At(i)
		count[s.State.String()]++
		if s.Tenure > now.Add(-30*24*time.Hour) {
			count["tenure of a month"]++
		}
		if s.Tenure < now.Add(-10*365*24*time.Hour) {
			count["tenure of ten years"]++
		}
		if s.SIM > now.Add(-10*24*time.Hour) {
			count["SIM of 240 hours"]++
		}
		if s.State == line.StateEnded && s.SIM >= s.StateSince {
			t.Fatalf("line %d got a SIM after its end", i)
		}
	}
	for what, share := range map[string]float64{
		"ACTIVE": 0.888, "INACTIVE": 0.06, "QUARANTINED": 0.03, "PENDING_CHURN": 0.01, "BARRED": 0.007, "PARKED": 0.005,
		"tenure of a month": 0.025, "tenure of ten years": 0.36, "SIM of 240 hours": 0.0034,
	} {
		if got := count[what] / lines; math.Abs(got-share) > 0.1*share+0.001 {
			t.Errorf("%s: %.4f, want about %.4f", what, got, share)
		}
	}
}

// Changes are valid events about the generated lines, and each has an effect: as
// many as requested, about different lines, with different ids, within the period.
// Sorted or not, the events are the same.
func TestGeneratedChangesApply(t *testing.T) {
	t.Parallel()
	const lines, count = 20_000, 7000 // which has a factor in common with its golden section
	n := nation(t, lines)
	var sorted, spread bytes.Buffer
	if err := errors.Join(n.Changes(&sorted, count, asOf, tomorrow, true), n.Changes(&spread, count, asOf, tomorrow, false)); err != nil {
		t.Fatal(err)
	}
	ordered := slices.Sorted(strings.Lines(spread.String()))
	if !slices.Equal(ordered, slices.Sorted(strings.Lines(sorted.String()))) || spread.String() == sorted.String() {
		t.Error("the order makes other events")
	}
	got := readAll(t, &sorted, options(t, linefile.Events), 1000)
	if got.err != nil || len(got.refused) > 0 || len(got.rows) != count {
		t.Fatalf("%d rows, %v, refused %v", len(got.rows), got.err, got.refused)
	}
	roll, err := n.Generator()
	if err != nil {
		t.Fatal(err)
	}
	baselines := map[phone.Number]line.Baseline{}
	for i := range int64(lines) {
		number, b := roll.At(i)
		b.Network = n.Network
		if b.State == line.StateNoticed {
			b.Until = line.InstantOf(asOf.AddDate(0, 0, 14)) // as package supply fills it in
		}
		baselines[number] = b
	}
	ids, last, kinds := map[string]bool{}, int64(0), map[line.Kind]int{}
	for _, r := range got.rows {
		e := r.Event
		if ids[e.ID] || r.Number.Int() <= last || e.Effective <= line.InstantOf(asOf) || e.Effective > line.InstantOf(tomorrow) {
			t.Fatalf("line %d: id or number comes twice or is out of order, or the time is another", r.Place)
		}
		if (e.Kind == line.GiveNotice) != (e.ChurnAt != line.Never) || e.ChurnAt != line.Never && e.ChurnAt < e.Effective.Add(14*24*time.Hour) {
			t.Errorf("line %d: %s with a churn at %v", r.Place, e.Kind, e.ChurnAt.Time())
		}
		if code, known := line.ParseCode(e.Reason); (e.Reason != "") != known || (e.Kind == line.Bar || e.Kind == line.End) != known {
			t.Errorf("line %d: %s for the reason %d", r.Place, e.Kind, code)
		}
		ids[e.ID], last = true, r.Number.Int()
		kinds[e.Kind]++
		b := baselines[r.Number]
		_, outcome := line.Fold(&line.History{Base: &b, Events: []line.Event{{
			Seq: 1, ReportedAt: tomorrow, Kind: e.Kind, Effective: e.Effective, Authority: line.Operator, Network: n.Network, Until: e.ChurnAt,
			EndedAfter: line.Never,
		}}}, line.TermsOf(nil), line.Forever)
		if outcome[0] != line.Applied {
			t.Errorf("line %d: %s of a line that is %s has no effect", r.Place, e.Kind, b.State)
		}
	}
	if len(kinds) < 10 || kinds[line.ChangeSIM] < count/3 {
		t.Errorf("the mix of changes is %v", kinds)
	}
	for name, err := range map[string]error{
		"more changes than lines": n.Changes(io.Discard, lines+1, asOf, tomorrow, true),
		"fewer than none":         n.Changes(io.Discard, -1, asOf, tomorrow, true),
		"no time":                 n.Changes(io.Discard, 1, asOf, asOf, true),
	} {
		if fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Generating a file needs the same memory for any size, and stops when the writer
// fails.
func TestGeneratingNeedsLittleMemory(t *testing.T) { //nolint:paralleltest // counts the memory of the whole process
	const lines = 300_000
	n := nation(t, lines)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := errors.Join(n.Snapshot(io.Discard), n.Changes(io.Discard, lines, asOf, tomorrow, false)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes were allocated in all", used)
	}
	full := errors.New("the disk is full")
	if err := n.Snapshot(failing{full}); !errors.Is(err, full) {
		t.Errorf("a writer that fails: %v", err)
	}
	if err := n.Changes(failing{full}, lines, asOf, tomorrow, true); !errors.Is(err, full) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
