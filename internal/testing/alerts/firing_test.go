package alerts_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pause"
)

// factor divides the windows and waiting times of the rules in this test, so that an hour takes a
// minute. Thresholds stay as they are; a fault that takes days moves times in the database instead.
const factor = 60

// fault breaks one thing, and the alerts that must fire because of it.
type fault struct {
	name   string
	alerts string
	load   bool // verify requests are sent meanwhile
	breaks func(ctx context.Context) error
	mends  func(ctx context.Context) error // nil: the alerts end by themselves
}

// onlyCalculated are the alerts that no fault of this test raises, with the reason. Their unit
// tests try them.
var onlyCalculated = map[string]string{
	"LineproofPanics": "no request is known that causes one",
}

// Every alert fires by its fault, on a real node whose parts are broken for real and which a real
// Prometheus watches, and ends when the fault does.
func TestAlertsFireByTheirFaults(t *testing.T) { //nolint:paralleltest // the faults follow each other on one site
	if os.Getenv("LINEPROOF_E2E_ALERTS") == "" {
		t.Skip("takes 20 minutes; run make alerts")
	}
	ctx := t.Context()
	s := &site{}
	defer s.close()
	if err := s.open(ctx); err != nil {
		t.Fatal(err)
	}
	p, err := s.startPrometheus(ctx, shortened(t), s.private)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	// Otherwise the first fault is over before the first scrape.
	if err := until(ctx, "Prometheus has scraped the node", func(ctx context.Context) error {
		if found, err := p.query(ctx, `count_over_time(up{job="lineproof"}[10s]) >= 3`); err != nil || len(found) == 0 {
			return fmt.Errorf("%v, %w", found, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	faults := slices.Concat(s.faultsOfParts(), s.faultsOfRights(), s.faultsOfPeople(), s.faultsOfSupply(), s.faultsOfCallers(), s.faultsOfTime(), []fault{s.faultOfTheDisk(), s.faultOfTheCertificate()})
	raised := map[string]bool{}
	for _, f := range faults {
		for name := range strings.FieldsSeq(f.alerts) {
			raised[name] = true
		}
		t.Run(f.name, func(t *testing.T) { p.try(t, &f) })
	}
	for _, name := range alertNames(t) { //nolint:paralleltest // it starts no test
		if raised[name] == (onlyCalculated[name] != "") {
			t.Errorf("%s is raised by a fault %t, and listed as only calculated %t", name, raised[name], !raised[name])
		}
	}
}

// try breaks a thing, waits until its alerts fire, mends it, and waits until they have ended.
func (p *prometheus) try(t *testing.T, f *fault) {
	t.Helper()
	ctx := t.Context()
	want := strings.Fields(f.alerts)
	if f.load {
		end := p.site.load(ctx)
		defer end()
		pause.For(ctx, 3*time.Second) // a rate needs two values
	}
	begin := time.Now()
	if err := f.breaks(ctx); err != nil {
		t.Fatalf("break: %v", err)
	}
	if err := p.wait(ctx, 4*time.Minute, func(firing map[string]bool) bool {
		return !slices.ContainsFunc(want, func(name string) bool { return !firing[name] })
	}); err != nil {
		t.Errorf("%v must fire: %v", want, err)
	}
	fired := time.Since(begin)
	if f.mends != nil {
		if err := f.mends(ctx); err != nil {
			t.Fatalf("mend: %v", err)
		}
	}
	mended := time.Now()
	if err := p.wait(ctx, 4*time.Minute, func(firing map[string]bool) bool {
		return !slices.ContainsFunc(want, func(name string) bool { return firing[name] })
	}); err != nil {
		t.Errorf("%v must end: %v", want, err)
	}
	t.Logf("| %s | %s | %.0f | %.0f |", f.name, strings.Join(want, ", "), fired.Seconds(), time.Since(mended).Seconds())
}

// wait returns once the alerts that fire are as wanted.
func (p *prometheus) wait(ctx context.Context, limit time.Duration, wanted func(map[string]bool) bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last map[string]bool
	for {
		firing, err := p.firing(ctx)
		if err == nil && wanted(firing) {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("after %s: firing %v, %w", limit, last, errors.Join(err, ctx.Err()))
		}
		if err == nil {
			last = firing
		}
		pause.For(ctx, 500*time.Millisecond)
	}
}

var (
	inBrackets = regexp.MustCompile(`\[(\d+)([smhd])\]`)
	waiting    = regexp.MustCompile(`(?m)^(\s+for: )(\d+)([smhd])$`)
)

// shortened writes the rules with their windows and waiting times divided by the factor.
func shortened(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	seconds := map[string]int{"s": 1, "m": 60, "h": 3600, "d": 86400}
	divided := func(number, unit string) string {
		var n int
		if _, err := fmt.Sscan(number, &n); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%ds", max(1, n*seconds[unit]/factor))
	}
	for _, file := range []string{"recording.rules.yml", "alerts.rules.yml"} {
		text, err := os.ReadFile(filepath.Join(rulesDir, file))
		if err != nil {
			t.Fatal(err)
		}
		short := inBrackets.ReplaceAllStringFunc(string(text), func(m string) string {
			p := inBrackets.FindStringSubmatch(m)
			return "[" + divided(p[1], p[2]) + "]"
		})
		short = waiting.ReplaceAllStringFunc(short, func(m string) string {
			p := waiting.FindStringSubmatch(m)
			return p[1] + divided(p[2], p[3])
		})
		if err := os.WriteFile(filepath.Join(dir, file), []byte(short), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// alertNames returns the names of all alerts.
func alertNames(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rulesDir, "alerts.rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+- alert: (\w+)$`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}
