package numbering_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// noon is the start time of these tests. Their clock only moves when a test sets it.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func at(now time.Time) func() time.Time { return func() time.Time { return now } }

func set(t *testing.T, pool *pgxpool.Pool, now, effective time.Time, rows ...numbering.Row) *numbering.Plan {
	t.Helper()
	plan, err := (&numbering.Service{Pool: pool, Now: at(now)}).Set(t.Context(), rows, "a test", effective)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func inForce(t *testing.T, pool *pgxpool.Pool, at time.Time) *numbering.Plan {
	t.Helper()
	plan, err := numbering.Current(t.Context(), pool, at)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// Before the first plan is set, the current plan is empty.
func TestPlanBeforeTheFirstIsEmpty(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	plan := inForce(t, pool, noon)
	none, err := numbering.Load(t.Context(), pool, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*numbering.Plan{plan, none} {
		if _, held := p.RangeOf(number(t, "2348031234567"), noon); held || !p.Empty() || p.Version != 0 || len(p.Networks()) != 0 {
			t.Errorf("version %d with %d ranges", p.Version, len(p.Ranges()))
		}
	}
	if _, err := numbering.Load(t.Context(), pool, 1); !errors.Is(err, numbering.ErrNoVersion) {
		t.Errorf("Load of a version that does not exist: %v", err)
	}
}

// A loaded plan has the same ranges as the one that was set.
func TestPlanSurvivesTheDatabase(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	rows, source, _ := numbering.Shipped("NG")
	rows = append(rows, numbering.Row{
		Prefix: "2348190", Network: "STARCOMMS", Name: "Starcomms", Allocated: date("2004-02-29"), Withdrawn: date("2018-03-20"),
	})
	created, err := (&numbering.Service{Pool: pool, Now: at(noon.Add(1234567))}).Set(t.Context(), rows, " "+source+"\n", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := numbering.Load(t.Context(), pool, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(created, loaded, cmp.AllowUnexported(numbering.Plan{}), cmpopts.IgnoreFields(numbering.Plan{}, "lengths")); diff != "" {
		t.Errorf("(-set +loaded):\n%s", diff)
	}
	if !loaded.EffectiveAt.Equal(noon.Add(time.Millisecond)) || loaded.Source != source || loaded.Digits != 13 || len(loaded.Ranges()) != len(rows) {
		t.Errorf("loaded %d ranges of %d digits, effective %v, from %q", len(loaded.Ranges()), loaded.Digits, loaded.EffectiveAt, loaded.Source)
	}
	if r, ok := loaded.RangeOf(number(t, "2348190123456"), date("2018-03-19")); !ok || loaded.Code(r.Network) != "STARCOMMS" {
		t.Errorf("the day before it was withdrawn the range belongs to %q", loaded.Code(r.Network))
	}
}

// The current version is the one that took effect last, and a network keeps its id
// when it is renamed.
func TestVersionsTakeEffectInTurn(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	named := func(code, name string) numbering.Row {
		r := row("234809", code, "2008-01-01", "")
		r.Name = name
		return r
	}
	set(t, pool, noon, time.Time{}, row("234803", "MTN", "2001-08-01", ""), named("T2", "Etisalat"))
	set(t, pool, noon, noon.Add(time.Hour), named("T2", "9mobile"))
	set(t, pool, noon.Add(time.Minute), noon.Add(2*time.Hour), row("234805", "GLO", "2003-08-01", ""), named("T2", "T2"))

	const forever = 1000 * time.Hour
	for _, want := range []struct {
		after   time.Duration
		version int32
		name    string
	}{
		{-1, 0, "T2"},
		{0, 1, "Etisalat"},
		{time.Hour - 1, 1, "Etisalat"},
		{time.Hour, 2, "9mobile"},
		{2*time.Hour - 1, 2, "9mobile"},
		{2 * time.Hour, 3, "T2"},
		{forever, 3, "T2"},
	} {
		plan := inForce(t, pool, noon.Add(want.after))
		if plan.Version != want.version || plan.Name(2) != want.name || plan.Code(2) != "T2" {
			t.Errorf("after %v version %d calls network 2 %q", want.after, plan.Version, plan.Name(2))
		}
	}
	last := inForce(t, pool, noon.Add(forever))
	if diff := cmp.Diff([]numbering.Network{2, 3}, last.Networks()); diff != "" {
		t.Error(diff)
	}
	// MTN is no longer on the plan, but its lines still have a network name.
	if _, ok := last.Network("MTN"); ok || last.Name(1) != "MTN" {
		t.Errorf("MTN is on the plan: %v; its name is %q", ok, last.Name(1))
	}

	history, err := numbering.History(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	want := []numbering.VersionSummary{
		{1, noon, noon, "a test", 2, 2}, {2, noon.Add(time.Hour), noon, "a test", 1, 1}, {3, noon.Add(2 * time.Hour), noon.Add(time.Minute), "a test", 2, 2},
	}
	if diff := cmp.Diff(want, history); diff != "" {
		t.Error(diff)
	}
}

// A plan cannot take effect in the past, nor before an earlier version. A refused plan
// changes nothing.
func TestInvalidPlansAreRefused(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	mtn := row("234803", "MTN", "2001-08-01", "")
	set(t, pool, noon, noon.Add(time.Hour), mtn)
	long := row("23480312345678", "LONG", "2001-08-01", "")
	for name, tc := range map[string]struct {
		service   numbering.Service
		rows      []numbering.Row
		source    string
		effective time.Time
		fields    []string
	}{
		"past":             {numbering.Service{Now: at(noon.Add(2 * time.Hour))}, []numbering.Row{mtn}, "x", noon.Add(2*time.Hour - time.Millisecond), []string{"effectiveAt"}},
		"now, before last": {numbering.Service{Now: at(noon)}, []numbering.Row{mtn}, "x", time.Time{}, []string{"effectiveAt"}},
		"same as last":     {numbering.Service{Now: at(noon)}, []numbering.Row{mtn}, "x", noon.Add(time.Hour), []string{"effectiveAt"}},
		"empty":            {numbering.Service{Now: at(noon)}, nil, " ", noon.Add(3 * time.Hour), []string{"source", "plan"}},
		"source":           {numbering.Service{Now: at(noon)}, []numbering.Row{mtn}, strings.Repeat("x", 2001), noon.Add(3 * time.Hour), []string{"source"}},
		"NUL":              {numbering.Service{Now: at(noon)}, []numbering.Row{mtn}, "x\x00", noon.Add(3 * time.Hour), []string{"source"}},
		"digits":           {numbering.Service{Now: at(noon), Digits: 16}, []numbering.Row{mtn}, "x", noon.Add(3 * time.Hour), []string{"digits"}},
		"prefix":           {numbering.Service{Now: at(noon)}, []numbering.Row{mtn, long}, "x", noon.Add(3 * time.Hour), []string{"row 2, prefix"}},
		"twice":            {numbering.Service{Now: at(noon)}, []numbering.Row{mtn, mtn}, "x", noon.Add(3 * time.Hour), []string{"row 2, prefix"}},
		"no midnight":      {numbering.Service{Now: at(noon)}, []numbering.Row{{Prefix: "1", Network: "A", Name: "A", Allocated: noon}}, "x", noon.Add(3 * time.Hour), []string{"row 1, allocated"}},
	} {
		tc.service.Pool = pool
		_, err := tc.service.Set(t.Context(), tc.rows, tc.source, tc.effective)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok {
			t.Fatalf("%s: %v", name, err)
		}
		var fields []string
		for _, v := range f.Violations {
			fields = append(fields, v.Field)
		}
		if diff := cmp.Diff(tc.fields, fields); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	history, err := numbering.History(t.Context(), pool)
	if err != nil || len(history) != 1 {
		t.Errorf("%d versions, %v; want only the first", len(history), err)
	}
}

// The number of digits is inherited from the previous version unless it is set.
func TestDigitsAreInherited(t *testing.T) {
	t.Parallel()
	pool, acme := pgtest.NewAnyTime(t), row("233", "ACME", "2001-08-01", "")
	for i, tc := range []struct{ digits, want int }{{0, 13}, {12, 12}, {0, 12}, {11, 11}} {
		service := &numbering.Service{Pool: pool, Now: at(noon.Add(time.Duration(i) * time.Hour)), Digits: tc.digits}
		plan, err := service.Set(t.Context(), []numbering.Row{acme}, "a test", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Capacity(1, noon); plan.Digits != tc.want || strconv.FormatInt(got, 10) != "1"+strings.Repeat("0", tc.want-3) {
			t.Errorf("version %d has numbers of %d digits, and a capacity of %d", plan.Version, plan.Digits, got)
		}
	}
}

// The role of the service may add versions but not change them.
func TestVersionsCannotBeChanged(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	for _, sql := range []string{
		"UPDATE numbering_plan SET source = 'x'", "DELETE FROM numbering_plan", "UPDATE numbering_range SET network = 1",
		"DELETE FROM numbering_range", "UPDATE numbering_network SET name = 'x'", "DELETE FROM numbering_network",
	} {
		if _, err := pool.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// The audit log has an entry for each version.
func TestEveryVersionIsInTheAuditTrail(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	set(t, pool, noon, noon.Add(time.Hour), row("234803", "MTN", "2001-08-01", ""))
	set(t, pool, noon, noon.Add(2*time.Hour), row("234803", "MTN", "2001-08-01", ""))
	var n int
	err := pool.QueryRow(t.Context(), `SELECT count(*) FROM numbering_plan p JOIN audit a ON a.subject_id = p.id
		WHERE a.action = 'plan.set' AND a.actor_kind = 'operator' AND a.at = $1`, noon).Scan(&n)
	if err != nil || n != 2 {
		t.Errorf("%d versions have an entry, %v; want 2", n, err)
	}
}

// Plans that are set concurrently get different versions and times, and networks that
// all of them name for the first time are added once.
func TestPlansThatAreSetConcurrently(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	service := &numbering.Service{Pool: pool, Now: time.Now}
	const many = 3
	versions, errs := make([]int32, many), make([]error, many)
	var wait sync.WaitGroup
	for i := range many {
		wait.Go(func() {
			plan, err := service.Set(t.Context(), []numbering.Row{row("234803", "MTN", "2001-08-01", ""), row("234805", "GLO", "2003-08-01", "")}, "a test", time.Time{})
			if errs[i] = err; err == nil {
				versions[i] = plan.Version
			}
		})
	}
	wait.Wait()
	seen := map[int32]bool{}
	for i, err := range errs {
		// A second plan within the same millisecond is refused with an error.
		if err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Error(err)
		}
		if err == nil && seen[versions[i]] {
			t.Errorf("version %d was created twice", versions[i])
		}
		if err == nil {
			seen[versions[i]] = true
		}
	}
	history, err := numbering.History(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	if len(history) != len(seen) || len(seen) < 2 {
		t.Errorf("%d versions were created, but the history has %d", len(seen), len(history))
	}
	for i, e := range history {
		if e.Version != int32(i+1) || (i > 0 && !e.EffectiveAt.After(history[i-1].EffectiveAt)) {
			t.Errorf("version %d takes effect at %v", e.Version, e.EffectiveAt)
		}
	}
	if got := inForce(t, pool, time.Now()); len(got.Networks()) != 2 || got.Code(1) != "MTN" || got.Code(2) != "GLO" || got.Code(3) != "" {
		t.Errorf("the networks are %v", got.Networks())
	}
}
