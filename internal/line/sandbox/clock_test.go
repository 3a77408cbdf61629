package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// ParseStep accepts ISO 8601 durations and nothing else.
func TestParseStep(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]time.Duration{
		"P30D": 30 * day, "P1W": 7 * day, "P1W2D": 9 * day, "PT12H": 12 * time.Hour, "P1DT6H30M5S": day + 6*time.Hour + 30*time.Minute + 5*time.Second,
		"PT90M": 90 * time.Minute, "P0DT1S": time.Second,
	} {
		if got, ok := sandbox.ParseDuration(text); !ok || got != want {
			t.Errorf("%s is %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "P", "PT", "P1DT", "P0D", "PT0S", "30D", "P-1D", "-P1D", "P1M", "P1Y", "P1.5D", "p1d", "P1D ", " P1D", "P1D\n", "P1DT1D", "P1H", "PT1D",
		"P1D2W", "P123456D", "30 days", "P٣D", "PT9999999999S",
	} {
		if got, ok := sandbox.ParseDuration(text); ok {
			t.Errorf("%q is accepted as %v", text, got)
		}
	}
}

// newService returns a service with its own database, and test keys in it.
func newService(t *testing.T, keys int) (*sandbox.Service, []uuid.UUID) {
	t.Helper()
	pool := pgtest.New(t)
	peppers, err := secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"})
	if err != nil {
		t.Fatal(err)
	}
	bank, err := (&registry.Registry{Pool: pool, Now: time.Now}).CreateRelyingParty(t.Context(), "Harbour Bank", "RC 7", access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	accessService := &access.Service{Pool: pool, Peppers: peppers, Now: time.Now}
	all := make([]uuid.UUID, keys)
	for i := range all {
		key, err := accessService.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Test}, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = key.ID
	}
	return &sandbox.Service{Pool: pool, Simulator: simulator, Now: func() time.Time { return now }}, all
}

// A clock starts at day 0, can be advanced several times, and starts over when it
// is reset. Its state shows the scenarios at its time.
func TestClockIsAdvancedAndReset(t *testing.T) {
	t.Parallel()

	service, keys := newService(t, 1)
	start := now.Truncate(time.Second)
	for i, step := range []struct {
		move  bool
		reset bool
		by    time.Duration
		day   int
		ahead time.Duration
		want  string // the answer of the first scenario
	}{
		{false, false, 0, 0, 0, "RECYCLED"},
		{true, false, 20 * day, 20, 20 * day, "SWAPPED"},
		{false, false, 0, 20, 20 * day, "SWAPPED"},
		{true, false, 12 * time.Hour, 20, 20*day + 12*time.Hour, "SWAPPED"},
		{true, false, 200 * day, 220, 220*day + 12*time.Hour, "PENDING_CHURN"},
		{true, true, 0, 0, 0, "RECYCLED"},
		{true, true, 100 * day, 100, 100 * day, "NORMAL"},
		{true, true, 100 * day, 100, 100 * day, "NORMAL"}, // a reset can be repeated
	} {
		shown, err := service.State(t.Context(), keys[0])
		if step.move {
			shown, err = service.Advance(t.Context(), keys[0], step.reset, step.by, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if shown.Day != step.day || !shown.Now.Equal(now.Add(step.ahead)) || !shown.Start.Equal(start) || shown.Scenarios[0].Answer != step.want {
			t.Errorf("step %d: day %d, now %s, start %s, %s; want %+v", i, shown.Day, shown.Now, shown.Start, shown.Scenarios[0].Answer, step)
		}
	}
	// The clock also runs with real time.
	service.Now = func() time.Time { return now.Add(3 * day) }
	if shown, err := service.State(t.Context(), keys[0]); err != nil || shown.Day != 103 || !shown.Start.Equal(start) {
		t.Errorf("three days later: day %d, %v; want 103", shown.Day, err)
	}
}

// Each key has its own clock; a key without one is at day 0; one call reads the
// clocks of several keys.
func TestClocksBelongToKeys(t *testing.T) {
	t.Parallel()

	service, keys := newService(t, 3)
	for i, by := range []time.Duration{day, 2 * day} {
		if _, err := service.Advance(t.Context(), keys[i], false, by, nil); err != nil {
			t.Fatal(err)
		}
	}
	clocks, err := sandbox.Clocks(t.Context(), service.Pool, append(keys, uuid.New()))
	if err != nil || len(clocks) != 2 || clocks[keys[0]].Ahead != day || clocks[keys[1]].Ahead != 2*day || clocks[keys[2]] != (sandbox.Clock{}) {
		t.Errorf("Clocks = %v, %v", clocks, err)
	}
	if none, err := sandbox.Clocks(t.Context(), service.Pool, nil); err != nil || len(none) != 0 {
		t.Errorf("of no keys: %v, %v", none, err)
	}
}

// A clock can be at most ten years ahead, and a refused call changes nothing.
func TestClockHasALimit(t *testing.T) {
	t.Parallel()

	service, keys := newService(t, 1)
	for _, tc := range []struct {
		reset bool
		by    time.Duration
		want  error
	}{
		{false, 3651 * day, sandbox.ErrTooFar},
		{false, 3650 * day, nil},
		{false, time.Second, sandbox.ErrTooFar},
		{true, 3651 * day, sandbox.ErrTooFar},
		{true, day, nil},
		{false, 3649 * day, nil},
	} {
		if _, err := service.Advance(t.Context(), keys[0], tc.reset, tc.by, nil); !errors.Is(err, tc.want) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
	if shown, err := service.State(t.Context(), keys[0]); err != nil || shown.Day != 3650 {
		t.Errorf("day %d, %v; want 3650", shown.Day, err)
	}
}

// Of concurrent calls none is lost.
func TestConcurrentAdvancesAllCount(t *testing.T) {
	t.Parallel()

	service, keys := newService(t, 1)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := service.Advance(t.Context(), keys[0], false, day, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if shown, err := service.State(t.Context(), keys[0]); err != nil || shown.Day != 20 {
		t.Errorf("day %d, %v; want 20", shown.Day, err)
	}
}

// Nothing in this package reads a real line: its only table is that of the clocks.
func TestOnlyTheClocksAreRead(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?i)\b(?:from|join|into|update)\s+([a-z]+_[a-z_]+)`)
	tables := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range table.FindAllSubmatch(text, -1) {
			tables[string(m[1])] = true
		}
	}
	if !tables["rehearsal_clock"] || len(tables) != 1 {
		t.Errorf("the package names the tables %v", tables)
	}
}
