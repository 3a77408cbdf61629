package verify_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Impact lists exactly the answers that a replay of every answer finds, in the
// database and in archives: for one event, for a file, and for a period. This run is
// small; LINEPROOF_E2E_IMPACT_ANSWERS sets the size.
func TestImpactIsWhatAReplayOfEveryAnswerFinds(t *testing.T) {
	t.Parallel()
	answers := fromEnv(t, "LINEPROOF_E2E_IMPACT_ANSWERS", 2_400)
	start := time.Now()
	r := newImpactRun(t, max(answers/12, 100))
	r.live(answers)
	given := time.Since(start)
	replay := r.replay()
	t.Logf("%d answers in %v, replayed in %v", len(r.records), given.Round(time.Second), (time.Since(start) - given).Round(time.Second))
	if len(replay) != len(r.records) {
		t.Fatalf("%d answers were given, %d are recorded", len(r.records), len(replay))
	}
	parts := make(map[string]int)
	check := func(what string, c verify.Correction, contains func(*replayed) bool) int {
		t.Helper()
		began := time.Now()
		got := r.find(t.Context(), c)
		took := time.Since(began)
		want := make(map[uuid.UUID]verify.Said)
		for i := range replay {
			if a := &replay[i]; a.said != a.hindsight && contains(a) {
				want[a.RequestID] = a.hindsight
			}
		}
		found := make(map[uuid.UUID]verify.Said)
		for _, d := range got.Differences {
			found[d.RequestID] = d.Recomputed
			for _, p := range d.Parts {
				parts[p]++
			}
		}
		if len(found) != len(got.Differences) || got.NotDerivable > 0 || !maps.Equal(found, want) {
			t.Errorf("%s: %d differences, %d of them twice, %d not derivable; the replay finds %d:\n%s", what, len(got.Differences), len(got.Differences)-len(found),
				got.NotDerivable, len(want), cmp.Diff(want, found)[:min(3000, len(cmp.Diff(want, found)))])
		}
		if len(want) > 20 {
			t.Logf("%s: %d differences among %d answers, found in %v; %d numbers, %d records read", what, len(want), got.Compared, took.Round(time.Millisecond), got.Numbers, got.Records)
		}
		return len(want)
	}
	end := time.Now()
	for _, days := range []int{runDays + 1, 5, 1} {
		from := daysAgo(days)
		n := check("a period", verify.Correction{From: from, To: end}, func(a *replayed) bool {
			return a.baseline != 0 && r.created(a.baseline).After(from) ||
				slices.ContainsFunc(a.later, func(e line.Event) bool { return !e.ReportedAt.Before(from) && e.ReportedAt.Before(end) })
		})
		if n == 0 {
			t.Error("the run is not random enough: a period has no impact")
		}
	}
	for i, id := range r.imports {
		number := r.importNumber(id)
		n := check("a file", verify.Correction{Import: id}, func(a *replayed) bool {
			return a.baseline == number || slices.ContainsFunc(a.later, func(e line.Event) bool { return e.Import == number })
		})
		if n == 0 && i > 0 {
			t.Errorf("the run is not random enough: file %d has no impact", i)
		}
	}
	single := 0
	for _, seq := range r.someEvents(2) {
		single += check("an event", verify.Correction{Seq: seq}, func(a *replayed) bool {
			return slices.ContainsFunc(a.later, func(e line.Event) bool { return e.Seq == seq })
		})
	}
	if single == 0 {
		t.Error("the run is not random enough: no single event has an impact")
	}
	for _, p := range []string{"status", "network", "statusReason", "signals", "changedSince", "changes", "knownThrough"} {
		if parts[p] == 0 && answers >= 2_400 {
			t.Errorf("the run is not random enough: no answer differs in %s", p)
		}
	}
	t.Logf("differences by part: %v", parts)
}

// live lets the days of the run pass, with reports, files and answers.
func (r *impactRun) live(answers int) {
	const steps = runDays * 2
	r.verifyMany(answers / steps) // nothing is known yet
	for i := range steps {
		r.clock = r.clock.Add(12 * time.Hour)
		switch i {
		case 2:
			r.snapshot(r.clock.Add(-time.Hour), r.lines/10, r.lines*9/10, 0)
		case steps / 2, steps - 2:
			r.snapshot(r.clock.Add(-7*time.Hour), r.lines/20, r.lines*9/10, 30)
		}
		r.report(max(r.lines/steps/2, 10))
		if i%2 == 1 {
			r.decide(20)
		}
		r.clock = r.clock.Add(time.Second)
		r.verifyMany(answers / steps)
		if r.onStep != nil {
			r.onStep()
		}
	}
	r.archive(runDays / 2)
}

// replayed is an answer with what it would have said, computed in the plainest way.
type replayed struct {
	record.Entry

	said, hindsight verify.Said
	later           []line.Event // that were reported later and had taken effect
	baseline        int32        // the import of a baseline that was not known
}

// replay reads every answer from the database and the archives and computes what it
// would have said. It does not use versions, indexes or windows: an event was known if
// it had been reported by the time of the answer.
func (r *impactRun) replay() (all []replayed) {
	r.t.Helper()
	ctx := r.t.Context()
	everything := journal.Search{Pool: r.pool, Files: r.files, To: time.Now(), Match: func(int64, int64) bool { return true }}
	err := everything.Run(ctx, func(e *record.Entry) error {
		all = append(all, replayed{Entry: *e, said: verify.Said{Status: e.Status, Network: e.MobileNetwork, Extra: e.Extra}})
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	versions, err := policy.History(ctx, r.pool)
	if err != nil {
		r.t.Fatal(err)
	}
	terms, resolver := line.TermsOf(versions), &linestore.Resolver{}
	coverage := make(map[time.Time]func(l *linestore.Lookup))
	histories := r.histories()
	for i := range all {
		a := &all[i]
		if !r.records[a.RequestID] {
			r.t.Fatalf("record %s of an answer that nobody got", a.RequestID)
		}
		n, _ := phone.FromInt(a.Number)
		var l linestore.Lookup
		if l.Policy, l.Plan, err = resolver.Rules(ctx, r.pool, a.PolicyVersion, a.PlanVersion); err != nil {
			r.t.Fatal(err)
		}
		l.ApplyPlan(n, a.At)
		if coverage[a.At] == nil {
			at, err := linestore.CoverageAt(ctx, r.pool, a.At)
			if err != nil {
				r.t.Fatal(err)
			}
			coverage[a.At] = func(l *linestore.Lookup) { l.Coverage = at }
		}
		coverage[a.At](&l)
		h := histories[n]
		if h == nil {
			h = &line.History{}
		}
		l.Row, _ = line.Fold(a.withHindsight(r, h, l.Policy.Zone()), terms, line.Forever)
		if a.hindsight, err = verify.Say(&a.Entry, &l, a.At); err != nil {
			r.t.Fatal(err)
		}
	}
	return all
}

// withHindsight returns what the history would have been, and notes what of it was not
// known.
func (a *replayed) withHindsight(r *impactRun, h *line.History, zone *time.Location) *line.History {
	at := line.InstantOf(a.At)
	started := func(i line.Instant, day bool) bool {
		if day {
			i = line.DayStart(i, zone)
		}
		return i <= at
	}
	then := &line.History{Base: h.Base}
	if h.Base != nil && r.knownSince(h).After(a.At) {
		if then.Base = cut(h.Base, at, nil, started); then.Base != nil {
			a.baseline = h.Base.Import
		}
	}
	in := make(map[int64]bool)
	for _, e := range h.Events {
		known := !e.ReportedAt.After(a.At)
		var count bool
		switch {
		case e.Kind == line.Void || e.Kind == line.Confirm:
			count = known || in[e.Target]
		case e.Restates():
			if count = known; !known {
				e.Base = cut(e.Base, at, then.Base, started)
				count = e.Base != nil
			}
		default:
			count = known || started(e.Effective, e.Day)
		}
		if !count {
			continue
		}
		in[e.Seq] = true
		then.Events = append(then.Events, e)
		if !known {
			a.later = append(a.later, e)
		}
	}
	return then
}

// cut returns what a baseline says about the time until an instant.
func cut(b *line.Baseline, at line.Instant, before *line.Baseline, started func(line.Instant, bool) bool) *line.Baseline {
	if b.Tenure != line.Never && !started(b.Tenure, b.Bits&line.TenureDay != 0) {
		return nil
	}
	c := *b
	if b.SIM != line.Never && !started(b.SIM, b.Bits&line.SIMDay != 0) {
		c.SIM = line.Never
		c.Bits = c.Bits&^line.SIMDay | line.SIMUnknown
	}
	if b.StateSince != line.Never && !started(b.StateSince, b.Bits&line.EndDay != 0) {
		c.State, c.StateSince, c.Until = line.StateActive, b.Tenure, line.Never
		c.Bits &^= line.EndDay
		if before != nil && before.StateSince <= at {
			c.State, c.StateSince, c.Until = before.State, before.StateSince, before.Until
			c.Bits |= before.Bits & line.EndDay
		}
	}
	return &c
}

// histories reads the histories of all numbers.
func (r *impactRun) histories() map[phone.Number]*line.History {
	r.t.Helper()
	all := make(map[phone.Number]*line.History)
	for i := 0; i < r.lines; i += 10_000 {
		var numbers []phone.Number
		for k := i; k < min(i+10_000, r.lines); k++ {
			n, _ := phone.FromInt(firstLine + int64(k))
			numbers = append(numbers, n)
		}
		rows, err := linestore.Rows(r.t.Context(), r.pool, numbers)
		if err != nil {
			r.t.Fatal(err)
		}
		some, err := linestore.Histories(r.t.Context(), r.pool, numbers, rows)
		if err != nil {
			r.t.Fatal(err)
		}
		maps.Copy(all, some)
	}
	return all
}

// knownSince returns since when the baseline of a history was known: the report of the
// event that brought it to a number with events, or the creation of its import.
func (r *impactRun) knownSince(h *line.History) time.Time {
	for _, e := range h.Events {
		if e.Kind != line.Restate && e.Base != nil && e.Import == h.Base.Import {
			return e.ReportedAt
		}
	}
	return r.created(h.Base.Import)
}

func (r *impactRun) created(id int32) (at time.Time) {
	r.t.Helper()
	if r.createdAt == nil {
		r.createdAt = make(map[int32]time.Time)
	}
	at, ok := r.createdAt[id]
	if !ok {
		if err := r.pool.QueryRow(r.t.Context(), `SELECT created_at FROM supply_import WHERE id = $1`, id).Scan(&at); err != nil {
			r.t.Fatal(err)
		}
		r.createdAt[id] = at
	}
	return at
}

func (r *impactRun) importNumber(uid uuid.UUID) (id int32) {
	r.t.Helper()
	if err := r.pool.QueryRow(r.t.Context(), `SELECT id FROM supply_import WHERE uid = $1`, uid).Scan(&id); err != nil {
		r.t.Fatal(err)
	}
	return id
}

// someEvents returns events that were reported late, some of each kind.
func (r *impactRun) someEvents(n int) (seqs []int64) {
	r.t.Helper()
	rows, err := r.pool.Query(r.t.Context(), `SELECT seq FROM (SELECT seq, row_number() OVER (PARTITION BY kind ORDER BY reported_at - line_time(effective) DESC) AS nth
		FROM line_event WHERE line_time(effective) > $1) e WHERE nth <= $2 ORDER BY seq`, daysAgo(runDays), n)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			r.t.Fatal(err)
		}
		seqs = append(seqs, seq)
	}
	return seqs
}

// A damaged archive is an error, and not an answer that is missing from the list.
func TestImpactReadsNoDamagedArchive(t *testing.T) {
	t.Parallel()
	r := newImpactRun(t, 100)
	r.clock = r.clock.Add(time.Hour)
	r.snapshot(r.clock.Add(-time.Hour), 0, 100, 0)
	r.clock = r.clock.Add(time.Hour)
	r.verifyMany(20)
	r.archive(2)
	r.clock = r.clock.AddDate(0, 0, 4)
	r.report(50)
	archives, err := journal.Archives(t.Context(), r.pool, time.Time{}, time.Time{})
	if err != nil || len(archives) == 0 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, a := range archives {
		if err := r.files.Delete(t.Context(), a.Manifest.String()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.files.Put(t.Context(), a.Manifest.String(), bytes.NewReader([]byte("{}"))); err != nil {
			t.Fatal(err)
		}
	}
	f := &verify.ImpactFinder{Pool: r.pool, Files: r.files, Lines: &linestore.Resolver{}}
	if found, err := f.Find(t.Context(), verify.Correction{From: daysAgo(20), To: time.Now()}); err == nil {
		t.Errorf("found %d differences with damaged archives", len(found.Differences))
	}
}
