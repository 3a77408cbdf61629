package policy_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// noon is the start time of these tests. Their clock only moves when a test sets it.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func at(now time.Time) func() time.Time { return func() time.Time { return now } }

// changed returns the defaults with one number changed. It is not based on any
// version.
func changed(swappedHours int) policy.Policy {
	p := policy.Defaults()
	p.Version, p.SwappedHours, p.Note = 0, swappedHours, "a test"
	return p
}

// values compares policies by what is stored of them.
var values = cmpopts.IgnoreUnexported(policy.Policy{})

// In a newly migrated database the defaults are the current policy, from the year
// 2000 on.
func TestDefaultsAreCurrentFromTheStart(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	want := policy.Defaults()
	want.EffectiveAt = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, when := range []time.Time{want.EffectiveAt, noon} {
		got, err := policy.Current(t.Context(), pool, when)
		if err != nil {
			t.Fatal(err)
		}
		got.CreatedAt = time.Time{}
		if diff := cmp.Diff(want, got, values); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if _, err := policy.Current(t.Context(), pool, want.EffectiveAt.Add(-1)); !errors.Is(err, policy.ErrNoVersion) {
		t.Errorf("before that: %v", err)
	}
	if _, err := policy.Load(t.Context(), pool, 2); !errors.Is(err, policy.ErrNoVersion) {
		t.Errorf("a version that does not exist: %v", err)
	}
}

// Fields in days and in hours become durations of days and hours.
func TestWindowsHaveTheirUnits(t *testing.T) {
	t.Parallel()
	p := policy.Defaults()
	const day = 24 * time.Hour
	got := []time.Duration{
		p.Recycled(), p.Swapped(), p.Ported(), p.Flagged(), p.Quarantine(), p.Notice(),
		p.LifecycleFreshness(), p.SIMFreshness(), p.SIMReport(), p.PortReport(), p.BarReport(), p.ChurnReport(), p.Backdating(),
	}
	want := []time.Duration{
		90 * day, 10 * day, 10 * day, 90 * day, 90 * day, 14 * day,
		7 * day, 36 * time.Hour, time.Hour, day, day, 7 * day, 30 * day,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// PORT is required while a clearing house is named, and once one has supplied its base.
func TestPortsAreRequiredWithAClearingHouse(t *testing.T) {
	t.Parallel()
	p := policy.Defaults()
	if got := p.PortFreshness(false); got != 0 {
		t.Errorf("without one PORT must be at most %v old", got)
	}
	if got := p.PortFreshness(true); got != 72*time.Hour {
		t.Errorf("with a base PORT must be at most %v old", got)
	}
	p.ClearingHouse = "Interconnect Clearing House"
	if got := p.PortFreshness(false); got != 72*time.Hour {
		t.Errorf("with one PORT must be at most %v old", got)
	}
}

// drawPolicy returns a policy that can be set, with all values within their bounds.
func drawPolicy(t *rapid.T) policy.Policy {
	var p policy.Policy
	for _, f := range policy.Fields {
		*f.Of(&p) = rapid.IntRange(f.Min, f.Max).Draw(t, f.Name)
	}
	p.TimeZone = rapid.SampledFrom([]string{"Africa/Lagos", "Asia/Kolkata", "America/Argentina/ComodRivadavia", "Etc/GMT-14", "UTC"}).Draw(t, "timeZone")
	p.ClearingHouse = rapid.StringMatching(`([a-zéß][a-z é]{0,98}[a-zß])?`).Draw(t, "clearingHouse")
	p.Purposes = rapid.StringMatching(`(payment=(exact|month|absent),)?other=(exact|month|absent)`).Draw(t, "purposes")
	p.LifecycleFreshnessHours = min(p.LifecycleFreshnessHours, 12*p.RecycledDays)
	p.SIMFreshnessHours = min(p.SIMFreshnessHours, p.SwappedHours/2)
	p.PortedHours = max(p.PortedHours, 2)
	p.PortFreshnessHours = min(p.PortFreshnessHours, p.PortedHours/2)
	return p
}

// A loaded policy is the same as the one that was set, for all values within their
// bounds.
func TestPolicySurvivesTheDatabase(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	now := noon
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPolicy(rt)
		p.Note = "  näh  "
		now = now.Add(time.Second)
		created, err := (&policy.Service{Pool: pool, Now: at(now.Add(999 * time.Microsecond))}).Set(t.Context(), p)
		if err != nil {
			rt.Fatal(err)
		}
		loaded, err := policy.Load(t.Context(), pool, created.Version)
		if err != nil {
			rt.Fatal(err)
		}
		p.Version, p.EffectiveAt, p.CreatedAt, p.Note = created.Version, now, now, "näh"
		if diff := cmp.Diff([]policy.Policy{p, p}, []policy.Policy{created, loaded}, values); diff != "" {
			rt.Fatal(diff)
		}
		if created != loaded || loaded.Zone().String() != p.TimeZone {
			rt.Fatalf("the loaded policy differs from the set one, or has the zone %v", loaded.Zone())
		}
	})
}

// The current version is the one that took effect last.
func TestVersionsTakeEffectInTurn(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	service := &policy.Service{Pool: pool, Now: at(noon)}
	for i, after := range []time.Duration{0, time.Hour, 2 * time.Hour} {
		p := changed(100 + i)
		p.EffectiveAt = noon.Add(after)
		if _, err := service.Set(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		after time.Duration
		hours int
	}{
		{-1, 240}, {0, 100}, {time.Hour - 1, 100}, {time.Hour, 101}, {2*time.Hour - 1, 101}, {2 * time.Hour, 102}, {9999 * time.Hour, 102},
	} {
		if got, err := policy.Current(t.Context(), pool, noon.Add(want.after)); err != nil || got.SwappedHours != want.hours {
			t.Errorf("after %v: %d hours, %v; want %d", want.after, got.SwappedHours, err, want.hours)
		}
	}
	history, err := policy.History(t.Context(), pool)
	if err != nil || len(history) != 4 || history[0].Note != "the defaults" || history[3].SwappedHours != 102 {
		t.Errorf("the history is %+v, %v", history, err)
	}
}

// A policy cannot take effect in the past, nor before an earlier version, and the error
// lists every number that is out of bounds. A refused policy changes nothing.
func TestInvalidPoliciesAreRefused(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	first := changed(100)
	first.EffectiveAt = noon.Add(time.Hour)
	if _, err := (&policy.Service{Pool: pool, Now: at(noon)}).Set(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	all := []string{"note"}
	for _, f := range policy.Fields {
		all = append(all, f.Name)
	}
	all = append(all, "timeZone", "clearingHouse", "purposes")
	for name, tc := range map[string]struct {
		now    time.Time
		change func(p *policy.Policy)
		want   []string
	}{
		"past":             {noon.Add(2 * time.Hour), func(p *policy.Policy) { p.EffectiveAt = noon.Add(2*time.Hour - time.Millisecond) }, []string{"effectiveAt"}},
		"now, before last": {noon, func(*policy.Policy) {}, []string{"effectiveAt"}},
		"same as last":     {noon, func(p *policy.Policy) { p.EffectiveAt = noon.Add(time.Hour) }, []string{"effectiveAt"}},
		"everything": {noon.Add(2 * time.Hour), func(p *policy.Policy) {
			*p = policy.Policy{HoldPercent: -1, SIMFreshnessHours: -1, WarmUpDays: -1, ClearingHouse: strings.Repeat("é", 101)}
		}, all},
		"broken clearing house": {noon.Add(2 * time.Hour), func(p *policy.Policy) { p.ClearingHouse = "a\xff" }, []string{"clearingHouse"}},
		"two lines":             {noon.Add(2 * time.Hour), func(p *policy.Policy) { p.ClearingHouse = "a\nb" }, []string{"clearingHouse"}},
		"long note":             {noon.Add(2 * time.Hour), func(p *policy.Policy) { p.Note = strings.Repeat("x", 501) }, []string{"note"}},
		"broken note":           {noon.Add(2 * time.Hour), func(p *policy.Policy) { p.Note = "\xff" }, []string{"note"}},
	} {
		p := changed(120)
		tc.change(&p)
		_, err := (&policy.Service{Pool: pool, Now: at(tc.now)}).Set(t.Context(), p)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok {
			t.Fatalf("%s: %v", name, err)
		}
		got := []string{}
		for _, v := range f.Violations {
			got = append(got, v.Field)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if history, err := policy.History(t.Context(), pool); err != nil || len(history) != 2 {
		t.Errorf("%d versions, %v; want 2", len(history), err)
	}
}

// Of two changes based on the same version the second is refused, so that it does not
// undo the first.
func TestChangesAreNotUndoneUnseen(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	base, err := policy.Current(t.Context(), pool, noon)
	if err != nil {
		t.Fatal(err)
	}
	base.EffectiveAt = time.Time{}
	first, second := base, base
	first.SwappedHours, second.NoticeDays = 120, 30
	created, err := (&policy.Service{Pool: pool, Now: at(noon)}).Set(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	service := &policy.Service{Pool: pool, Now: at(noon.Add(time.Second))}
	if _, err := service.Set(t.Context(), second); !errors.Is(err, policy.ErrStale) {
		t.Errorf("the second: %v", err)
	}
	second = created
	second.EffectiveAt, second.NoticeDays = time.Time{}, 30
	if created, err = service.Set(t.Context(), second); err != nil || created.Version != 3 || created.SwappedHours != 120 {
		t.Errorf("based on the first: version %d, %d hours, %v", created.Version, created.SwappedHours, err)
	}
}

// The database table has the same bounds as the fields.
func TestTableHasTheSameBounds(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	undone := errors.New("undone")
	check := func(flag string, value any, fits bool) {
		t.Helper()
		column := strings.ReplaceAll(flag, "-", "_")
		err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO policy SELECT (jsonb_populate_record(p,
				jsonb_build_object('version', 2, 'id', gen_random_uuid(), $1::text, $2::text))).* FROM policy p`, column, fmt.Sprint(value))
			if err != nil {
				return err
			}
			return undone
		})
		if fits != errors.Is(err, undone) || (!fits && pg.Violated(err) != "policy_"+column+"_check") {
			t.Errorf("%s = %v: %v", column, value, err)
		}
	}
	for _, f := range policy.Fields {
		for value, fits := range map[int]bool{f.Min - 1: false, f.Min: true, f.Default: true, f.Max: true, f.Max + 1: false} {
			check(f.Flag, value, fits)
		}
	}
	for _, f := range policy.TextFields {
		check(f.Flag, f.Default, true)
		for length, fits := range map[int]bool{f.Min - 1: false, f.Min: true, f.Max: true, f.Max + 1: false} {
			if length >= 0 {
				check(f.Flag, strings.Repeat("é", length), fits)
			}
		}
	}
}

// The role of the service may add versions but not change them.
func TestVersionsCannotBeChanged(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	for _, sql := range []string{"UPDATE policy SET swapped_hours = 1", "DELETE FROM policy"} {
		if _, err := pool.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// The audit log has an entry for each version but the first, which the migration
// creates.
func TestEveryVersionIsInTheAuditTrail(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	if _, err := (&policy.Service{Pool: pool, Now: at(noon)}).Set(t.Context(), changed(120)); err != nil {
		t.Fatal(err)
	}
	rows, err := pool.Query(t.Context(), `SELECT p.version FROM policy p JOIN audit a ON a.subject_id = p.id
		WHERE a.action = 'policy.set' AND a.actor_kind = 'operator' AND a.at = $1`, noon)
	if err != nil {
		t.Fatal(err)
	}
	versions, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if diff := cmp.Diff([]int32{2}, versions); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// Policies that are set concurrently get different versions and times.
func TestPoliciesThatAreSetConcurrently(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	service := &policy.Service{Pool: pool, Now: time.Now}
	const many = 3
	errs := make([]error, many)
	var wait sync.WaitGroup
	for i := range many {
		wait.Go(func() { _, errs[i] = service.Set(t.Context(), changed(100+i)) })
	}
	wait.Wait()
	created := 1 // by the migration
	for _, err := range errs {
		if err == nil {
			created++
		} else if fault.CodeOf(err) != fault.InvalidArgument { // within one millisecond of the last, the second is refused in words
			t.Error(err)
		}
	}
	history, err := policy.History(t.Context(), pool)
	if err != nil || len(history) != created || created < 3 {
		t.Fatalf("%d versions were created, but the history has %d, %v", created, len(history), err)
	}
	for i, p := range history {
		if p.Version != int32(i+1) || (i > 0 && !p.EffectiveAt.After(history[i-1].EffectiveAt)) {
			t.Errorf("version %d takes effect at %v", p.Version, p.EffectiveAt)
		}
	}
}

// The reference page has the fields, bounds and defaults of the code, in the same
// order.
func TestReferencePageMatchesTheFields(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reference/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("| field | flag | meaning | default | least | most |\n| --- | --- | --- | ---: | ---: | ---: |\n")
	for _, f := range policy.Fields {
		fmt.Fprintf(&want, "| `%s` | `--%s` | %s | %d | %d | %d |\n", f.Name, f.Flag, f.Meaning, f.Default, f.Min, f.Max)
	}
	if !strings.Contains(string(page), "\n\n"+want.String()+"\n") {
		t.Errorf("docs/reference/policy.md lacks this table:\n%s", want.String())
	}
	want.Reset()
	want.WriteString("| field | flag | meaning | default | characters |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range policy.TextFields {
		value := "none"
		if f.Default != "" {
			value = "`" + f.Default + "`"
		}
		fmt.Fprintf(&want, "| `%s` | `--%s` | %s | %s | %d to %d |\n", f.Name, f.Flag, f.Meaning, value, f.Min, f.Max)
	}
	if !strings.Contains(string(page), "\n\n"+want.String()+"\n") {
		t.Errorf("docs/reference/policy.md lacks this table:\n%s", want.String())
	}
}
