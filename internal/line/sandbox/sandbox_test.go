package sandbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// first is the first test number of Nigeria.
const first = 2347290000000

var (
	simulator = sandbox.NewSimulator("NG")
	now       = time.Date(2026, 11, 15, 9, 30, 0, 123_000_000, time.UTC)
)

func number(t testing.TB, digits int) phone.Number {
	t.Helper()
	n, ok := phone.FromInt(first + int64(digits))
	if !ok {
		t.Fatalf("there is no number with the digits %02d", digits)
	}
	return n
}

func defaults() *policy.Policy {
	p := policy.Defaults()
	return &p
}

// answers has the answer of each test number that is not a scenario: the status,
// its reason and the network, or the code of the error.
var answers = map[int]string{
	0: "NORMAL Savanna Mobile", 1: "NORMAL Savanna Mobile", 2: "NORMAL Harmattan Mobile", 3: "NORMAL Savanna Mobile",
	10: "BLACKLISTED Savanna Mobile", 11: "BLACKLISTED Savanna Mobile", 12: "BARRED Savanna Mobile", 13: "BARRED Savanna Mobile",
	14: "BARRED Savanna Mobile", 15: "FLAGGED Savanna Mobile", 16: "FLAGGED Savanna Mobile", 17: "FLAGGED Savanna Mobile",
	18: "QUARANTINED Savanna Mobile", 19: "QUARANTINED Savanna Mobile", 20: "QUARANTINED Savanna Mobile", 21: "RECYCLED Savanna Mobile",
	22: "SWAPPED Savanna Mobile", 23: "PORTED Harmattan Mobile", 24: "SWAPPED Savanna Mobile", 25: "PENDING_CHURN Savanna Mobile",
	26: "PARKED Savanna Mobile", 27: "INACTIVE Savanna Mobile", 28: "UNALLOCATED RANGE UNKNOWN", 29: "UNALLOCATED NUMBER Savanna Mobile",
	30: "UNKNOWN NO_SUPPLY Mute Mobile", 31: "UNKNOWN STALE Silent Mobile", 32: "SWAPPED Silent Mobile",
	40: "SERVICE_NOT_APPLICABLE", 41: "TOO_MANY_REQUESTS", 42: "QUOTA_EXCEEDED", 43: "UNAVAILABLE",
	50: "NORMAL Savanna Mobile", 51: "NORMAL Savanna Mobile", 52: "NORMAL Savanna Mobile",
}

// answerOf returns the answer of a result, in the form of answers.
func answerOf(p sandbox.Result) string {
	if p.Fault != nil {
		return string(fault.CodeOf(p.Fault))
	}
	v := p.Lookup.View(p.At)
	text := string(v.Status)
	if v.Reason != "" {
		text += " " + string(v.Reason)
	}
	return text + " " + p.Lookup.NetworkName(v.Network)
}

// anyPolicy draws a valid policy.
func anyPolicy(t *rapid.T) *policy.Policy {
	p := defaults()
	for _, f := range policy.Fields {
		*f.Of(p) = rapid.IntRange(f.Min, f.Max).Draw(t, f.Name)
	}
	return p
}

// anyClock draws a test clock that a caller could have set.
func anyClock(t *rapid.T) sandbox.Clock {
	if rapid.Bool().Draw(t, "never set") {
		return sandbox.Clock{}
	}
	return sandbox.Clock{
		Start: now.Truncate(time.Second).Add(-time.Duration(rapid.IntRange(0, 900*86400).Draw(t, "day 0, seconds ago")) * time.Second),
		Ahead: time.Duration(rapid.IntRange(0, 3650*86400).Draw(t, "seconds ahead")) * time.Second,
	}
}

// A test number that is not a scenario gives the same answer at every time, for
// every test clock and every policy.
func TestFixedNumbersAlwaysGiveTheSameAnswer(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		p, c := anyPolicy(t), anyClock(t)
		at := now.Add(time.Duration(rapid.Int64Range(0, int64(10*365*24*time.Hour)).Draw(t, "later")))
		for digits, want := range answers {
			n, _ := phone.FromInt(first + int64(digits))
			result, ok := simulator.Simulate(n, c, at, p)
			if !ok {
				t.Fatalf("%02d is not a test number", digits)
			}
			if got := answerOf(result); got != want {
				t.Errorf("%02d answers %q, want %q", digits, got, want)
			}
		}
	})
}

// Every status is the answer of some test number, and the test above covers every
// number that is not a scenario.
func TestEveryStatusHasATestNumber(t *testing.T) {
	t.Parallel()

	covered := map[line.Status]bool{}
	for _, r := range simulator.TestNumbers() {
		if r.IsScenario {
			continue
		}
		if _, tried := answers[int(r.Number.Int()-first)]; !tried {
			t.Errorf("answers has no entry for %02d", r.Number.Int()-first)
		}
		if result, _ := simulator.Simulate(r.Number, sandbox.Clock{}, now, defaults()); result.Lookup != nil {
			covered[result.Lookup.View(result.At).Status] = true
		}
	}
	for _, s := range line.Statuses {
		if !covered[s] {
			t.Errorf("no number answers %s", s)
		}
	}
}

// A test key never sees a real line: a number that is not a test number is not
// simulated, whatever the country.
func TestOnlyTestNumbersAreSimulated(t *testing.T) {
	t.Parallel()

	listed := map[int64]bool{}
	for _, r := range simulator.TestNumbers() {
		listed[r.Number.Int()] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.OneOf(
			rapid.Int64Range(100_000, 999_999_999_999_999),
			rapid.Int64Range(2347010000000, 2349169999999),
			rapid.Int64Range(first-1000, first+1000),
			rapid.Int64Range(first/100, first/100+99),
			rapid.Int64Range(first*10, first*10+999),
		).Draw(t, "digits")
		n, _ := phone.FromInt(digits)
		if result, ok := simulator.Simulate(n, anyClock(t), now, defaults()); ok != listed[digits] || !ok && result != (sandbox.Result{}) {
			t.Fatalf("simulated: %v, listed: %v", ok, listed[digits])
		}
		if errs := simulator.Admit(context.Background(), time.Millisecond, n); !listed[digits] && !errors.Is(errs[0], simulator.NotTestNumber()) {
			t.Fatalf("a number that is not listed gets %v", errs)
		}
	})
}

// The error for other numbers names the range of the test numbers and where they
// are listed.
func TestErrorForOtherNumbersNamesTheRange(t *testing.T) {
	t.Parallel()

	f, ok := errors.AsType[*fault.Error](simulator.NotTestNumber())
	const want = "A test key works only with test numbers. They are in the range from +2347290000000 to +2347290000099; /docs lists them."
	if !ok || f.Code != fault.NotApplicable || f.Message != want || len(f.Violations) != 1 || f.Violations[0].Field != "phoneNumber" {
		t.Errorf("NotTestNumber = %#v", f)
	}
	if err := sandbox.NewSimulator("XX").NotTestNumber(); fault.CodeOf(err) != fault.NotApplicable {
		t.Errorf("where there are no test numbers: %v", err)
	}
}

// The same number, clock, time and policy give the same result, with all facts
// behind it.
func TestSimulationIsDeterministic(t *testing.T) {
	t.Parallel()

	c := sandbox.Clock{Start: now.Add(-time.Hour).Truncate(time.Second), Ahead: 216 * 24 * time.Hour}
	for _, r := range simulator.TestNumbers() {
		one, _ := simulator.Simulate(r.Number, c, now, defaults())
		two, _ := sandbox.NewSimulator("NG").Simulate(r.Number, c, now, defaults())
		if one.Fault != nil && errors.Is(one.Fault, two.Fault) {
			continue
		}
		if diff := cmp.Diff(one.Lookup.View(one.At), two.Lookup.View(two.At)); diff != "" || one.Lookup.Row != two.Lookup.Row || one.Delay != two.Delay {
			t.Errorf("%s (-one +other):\n%s", r.Title, diff)
		}
	}
}

// A result has the policy that was passed, and version 0 of line and plan, because
// neither is in the database.
func TestVersionsOfAResult(t *testing.T) {
	t.Parallel()

	p := defaults()
	p.Version = 7
	for _, r := range simulator.TestNumbers() {
		result, _ := simulator.Simulate(r.Number, sandbox.Clock{}, now, p)
		if result.Fault == nil && (result.Lookup.Policy != p || result.Lookup.Row.Version != 0 || result.Lookup.Plan.Version != 0) {
			t.Errorf("%s: policy %d, line %d, plan %d", r.Title, result.Lookup.Policy.Version, result.Lookup.Row.Version, result.Lookup.Plan.Version)
		}
	}
}

// The changes since a time and the signals agree with the status.
func TestChangesAndSignalsAgreeWithTheStatus(t *testing.T) {
	t.Parallel()

	days := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	for _, tc := range []struct {
		digits  int
		since   time.Time
		changed string
		what    []line.Change
		signals []line.Status
	}{
		{0, days(1000), line.No, nil, nil},
		{0, days(3000), line.Yes, []line.Change{line.HolderChanged, line.SIMChanged}, nil},
		{1, days(10), line.No, nil, nil},
		{1, days(12), line.Yes, []line.Change{line.SIMChanged}, nil},
		{2, days(800), line.Yes, []line.Change{line.SIMChanged, line.NetworkChanged}, nil},
		{11, days(1), line.No, nil, []line.Status{line.Blacklisted, line.Quarantined}},
		{11, days(6), line.Yes, []line.Change{line.HolderChanged}, []line.Status{line.Blacklisted, line.Quarantined}},
		{14, days(2), line.No, nil, []line.Status{line.Barred, line.Flagged, line.Swapped}},
		{19, days(1), line.No, nil, []line.Status{line.Quarantined}},
		{19, days(3), line.Yes, []line.Change{line.HolderChanged}, []line.Status{line.Quarantined}},
		{20, days(4), line.No, nil, []line.Status{line.Quarantined}},
		{20, days(8), line.Uncertain, nil, []line.Status{line.Quarantined}},
		{20, days(13), line.Yes, []line.Change{line.HolderChanged}, []line.Status{line.Quarantined}},
		{21, days(31), line.Yes, []line.Change{line.HolderChanged, line.SIMChanged}, []line.Status{line.Recycled}},
		{22, days(1), line.No, nil, []line.Status{line.Swapped}},
		{22, days(3), line.Yes, []line.Change{line.SIMChanged}, []line.Status{line.Swapped}},
		{23, days(3), line.Yes, []line.Change{line.SIMChanged, line.NetworkChanged}, []line.Status{line.Swapped, line.Ported}},
		{24, days(31), line.Yes, []line.Change{line.HolderChanged, line.SIMChanged}, []line.Status{line.Recycled, line.Swapped}},
		{29, days(1), line.No, nil, nil},
		{30, days(1), line.Uncertain, nil, nil},
		{31, days(1), line.Uncertain, nil, nil},
		{32, days(3), line.Yes, []line.Change{line.SIMChanged}, []line.Status{line.Swapped}},
	} {
		result, _ := simulator.Simulate(number(t, tc.digits), sandbox.Clock{}, now, defaults())
		answer := line.ChangedSince(&result.Lookup.Facts, result.Lookup.Policy, tc.since, result.At)
		if diff := cmp.Diff(tc.what, answer.Changes); answer.Changed != tc.changed || diff != "" {
			t.Errorf("%02d since %s: %s, want %s\n%s", tc.digits, tc.since, answer.Changed, tc.changed, diff)
		}
		var signals []line.Status
		for _, s := range result.Lookup.View(result.At).Signals {
			signals = append(signals, s.Status)
		}
		if diff := cmp.Diff(tc.signals, signals); diff != "" {
			t.Errorf("%02d: signals (-want +got):\n%s", tc.digits, diff)
		}
	}
}

// There is a test number for each level of a flag.
func TestFlagsHaveTheirLevels(t *testing.T) {
	t.Parallel()

	for digits, want := range map[int]line.Code{15: line.LevelMedium, 16: line.LevelHigh, 17: line.LevelVeryHigh} {
		result, _ := simulator.Simulate(number(t, digits), sandbox.Clock{}, now, defaults())
		if got := result.Lookup.View(result.At).Signals[0].Level; got != want {
			t.Errorf("%02d has the level %s, want %s", digits, got, want)
		}
	}
}

// Admit returns the simulated errors, waits for slow numbers, and ends at the
// timeout for the number that is slower than that.
func TestAdmitSimulatesErrorsAndDelays(t *testing.T) {
	t.Parallel()

	const timeout = 400 * time.Millisecond
	for digits, want := range answers {
		if digits >= 50 {
			continue
		}
		err := simulator.Admit(t.Context(), timeout, number(t, digits))[0]
		if failed := digits >= 40; failed != (err != nil) || failed && string(fault.CodeOf(err)) != want {
			t.Errorf("%02d: Admit = %v", digits, err)
		}
	}
	start := time.Now()
	errs := simulator.Admit(t.Context(), timeout, number(t, 0), number(t, 50), number(t, 40))
	if took := time.Since(start); took < 300*time.Millisecond || errs[0] != nil || errs[1] != nil || fault.CodeOf(errs[2]) != fault.NotApplicable {
		t.Errorf("a slow number among others: %v after %v", errs, took)
	}
	start = time.Now()
	if errs := simulator.Admit(t.Context(), timeout, number(t, 52), number(t, 0)); !errors.Is(errs[0], context.DeadlineExceeded) || errs[1] != nil || time.Since(start) < timeout {
		t.Errorf("the number slower than the timeout: %v after %v", errs, time.Since(start))
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	start = time.Now()
	if simulator.Admit(canceled, time.Minute, number(t, 52)); time.Since(start) > time.Minute/2 {
		t.Error("it waits although the context has ended")
	}
	for digits, want := range map[int]time.Duration{41: 0, 42: time.Hour, 43: 0} {
		result, _ := simulator.Simulate(number(t, digits), sandbox.Clock{}, now, defaults())
		if f, ok := errors.AsType[*fault.Error](result.Fault); !ok || f.RetryAfter != want {
			t.Errorf("%02d: Retry-After %v, want %v", digits, f.RetryAfter, want)
		}
	}
	for digits, delay := range map[int]time.Duration{0: 0, 50: 300 * time.Millisecond, 51: 900 * time.Millisecond} {
		if result, _ := simulator.Simulate(number(t, digits), sandbox.Clock{}, now, defaults()); result.Delay != delay {
			t.Errorf("%02d: a delay of %v, want %v", digits, result.Delay, delay)
		}
	}
}
