package rehearsal_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/rehearsal"
)

// first is the first test number of Nigeria.
const first = 2347290000000

var (
	stage = rehearsal.NewStage("NG")
	now   = time.Date(2026, 11, 15, 9, 30, 0, 123_000_000, time.UTC)
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

// answers is what each test number without a life answers: the status, its
// reason and the network, or the code of the error.
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

// said is what a part answers, in the form of answers.
func said(p rehearsal.Part) string {
	if p.Fault != nil {
		return string(fault.CodeOf(p.Fault))
	}
	v := p.Look.View(p.At)
	text := string(v.Status)
	if v.Reason != "" {
		text += " " + string(v.Reason)
	}
	return text + " " + p.Look.NetworkName(v.Network)
}

// anyPolicy draws a policy that the regulator could set.
func anyPolicy(t *rapid.T) *policy.Policy {
	p := defaults()
	for _, f := range policy.Fields {
		*f.Of(p) = rapid.IntRange(f.Min, f.Max).Draw(t, f.Name)
	}
	return p
}

// anyClock draws a test clock that a caller could have made.
func anyClock(t *rapid.T) rehearsal.Clock {
	if rapid.Bool().Draw(t, "never touched") {
		return rehearsal.Clock{}
	}
	return rehearsal.Clock{
		Begun: now.Truncate(time.Second).Add(-time.Duration(rapid.IntRange(0, 900*86400).Draw(t, "begun, seconds ago")) * time.Second),
		Ahead: time.Duration(rapid.IntRange(0, 3650*86400).Draw(t, "seconds ahead")) * time.Second,
	}
}

// A number without a life answers the same at every time, whatever the clock
// shows and whatever windows the regulator sets.
func TestNumbersAnswerAlwaysTheSame(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		p, c := anyPolicy(t), anyClock(t)
		at := now.Add(time.Duration(rapid.Int64Range(0, int64(10*365*24*time.Hour)).Draw(t, "later")))
		for digits, want := range answers {
			n, _ := phone.FromInt(first + int64(digits))
			part, ok := stage.Play(n, c, at, p)
			if !ok {
				t.Fatalf("%02d is not played", digits)
			}
			if got := said(part); got != want {
				t.Errorf("%02d answers %q, want %q", digits, got, want)
			}
		}
	})
}

// Every word that the service knows is the answer of some number, and the test
// above tries every number but the lives.
func TestEveryStatusIsPlayed(t *testing.T) {
	t.Parallel()

	played := map[line.Status]bool{}
	for _, r := range stage.Roles() {
		if r.Life {
			continue
		}
		if _, tried := answers[int(r.Number.Int()-first)]; !tried {
			t.Errorf("no test knows what %02d answers", r.Number.Int()-first)
		}
		if part, _ := stage.Play(r.Number, rehearsal.Clock{}, now, defaults()); part.Look != nil {
			played[part.Look.View(part.At).Status] = true
		}
	}
	for _, s := range line.Statuses {
		if !played[s] {
			t.Errorf("no number answers %s", s)
		}
	}
}

// A key for tests never sees a line: a number that is not in the list is not
// played, in whichever country.
func TestOnlyTestNumbersArePlayed(t *testing.T) {
	t.Parallel()

	listed := map[int64]bool{}
	for _, r := range stage.Roles() {
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
		if part, ok := stage.Play(n, anyClock(t), now, defaults()); ok != listed[digits] || !ok && part != (rehearsal.Part{}) {
			t.Fatalf("played: %v, listed: %v", ok, listed[digits])
		}
		if errs := stage.Await(context.Background(), time.Millisecond, n); !listed[digits] && !errors.Is(errs[0], stage.Outside()) {
			t.Fatalf("a number that is not listed gets %v", errs)
		}
	})
}

// What Outside says is safe to show and tells the caller what to do: the range,
// and where the numbers are listed.
func TestOutsideSaysWhatToDo(t *testing.T) {
	t.Parallel()

	f, ok := errors.AsType[*fault.Error](stage.Outside())
	const want = "A key for tests is answered for test numbers only. They are in the range from +2347290000000 to +2347290000099; /docs lists them."
	if !ok || f.Code != fault.NotApplicable || f.Message != want || len(f.Violations) != 1 || f.Violations[0].Field != "phoneNumber" {
		t.Errorf("Outside = %#v", f)
	}
	if err := rehearsal.NewStage("XX").Outside(); fault.CodeOf(err) != fault.NotApplicable {
		t.Errorf("where there are no test numbers: %v", err)
	}
}

// The same question at the same moment has the same answer, with everything
// that stands behind it.
func TestPlayingIsDeterministic(t *testing.T) {
	t.Parallel()

	c := rehearsal.Clock{Begun: now.Add(-time.Hour).Truncate(time.Second), Ahead: 216 * 24 * time.Hour}
	for _, r := range stage.Roles() {
		one, _ := stage.Play(r.Number, c, now, defaults())
		two, _ := rehearsal.NewStage("NG").Play(r.Number, c, now, defaults())
		if one.Fault != nil && errors.Is(one.Fault, two.Fault) {
			continue
		}
		if diff := cmp.Diff(one.Look.View(one.At), two.Look.View(two.At)); diff != "" || one.Look.Row != two.Look.Row || one.Delay != two.Delay {
			t.Errorf("%s (-one +other):\n%s", r.Title, diff)
		}
	}
}

// What stands behind an answer is of the rules in force, and of no line and no
// plan that the database has.
func TestVersionsOfAPart(t *testing.T) {
	t.Parallel()

	p := defaults()
	p.Version = 7
	for _, r := range stage.Roles() {
		part, _ := stage.Play(r.Number, rehearsal.Clock{}, now, p)
		if part.Fault == nil && (part.Look.Policy != p || part.Look.Row.Version != 0 || part.Look.Plan.Version != 0) {
			t.Errorf("%s: policy %d, line %d, plan %d", r.Title, part.Look.Policy.Version, part.Look.Row.Version, part.Look.Plan.Version)
		}
	}
}

// What else can be asked agrees with the word: what has changed since a moment,
// which signals hold, and how far the supply reaches.
func TestWhatElseIsAskedAgrees(t *testing.T) {
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
		{0, days(3000), line.Yes, []line.Change{line.HolderChanged}, nil},
		{1, days(10), line.No, nil, nil},
		{1, days(12), line.Yes, []line.Change{line.SIMChanged}, nil},
		{2, days(800), line.Yes, []line.Change{line.SIMChanged, line.NetworkChanged}, nil},
		{11, days(1), line.No, nil, []line.Status{line.Blacklisted, line.Quarantined}},
		{11, days(6), line.Yes, []line.Change{line.HolderChanged}, []line.Status{line.Blacklisted, line.Quarantined}},
		{14, days(2), line.No, nil, []line.Status{line.Barred, line.Flagged, line.Swapped}},
		{19, days(1), line.No, nil, []line.Status{line.Quarantined}},
		{19, days(3), line.Yes, []line.Change{line.HolderChanged}, []line.Status{line.Quarantined}},
		{20, days(4), line.No, nil, []line.Status{line.Quarantined}},
		{20, days(8), line.Maybe, nil, []line.Status{line.Quarantined}},
		{20, days(13), line.Yes, []line.Change{line.HolderChanged}, []line.Status{line.Quarantined}},
		{21, days(31), line.Yes, []line.Change{line.HolderChanged}, []line.Status{line.Recycled}},
		{22, days(1), line.No, nil, []line.Status{line.Swapped}},
		{22, days(3), line.Yes, []line.Change{line.SIMChanged}, []line.Status{line.Swapped}},
		{23, days(3), line.Yes, []line.Change{line.SIMChanged, line.NetworkChanged}, []line.Status{line.Swapped, line.Ported}},
		{24, days(31), line.Yes, []line.Change{line.HolderChanged, line.SIMChanged}, []line.Status{line.Recycled, line.Swapped}},
		{29, days(1), line.No, nil, nil},
		{30, days(1), line.Maybe, nil, nil},
		{31, days(1), line.Maybe, nil, nil},
		{32, days(3), line.Yes, []line.Change{line.SIMChanged}, []line.Status{line.Swapped}},
	} {
		part, _ := stage.Play(number(t, tc.digits), rehearsal.Clock{}, now, defaults())
		changed, what := line.ChangedSince(&part.Look.Facts, part.Look.Policy, tc.since, part.At)
		if diff := cmp.Diff(tc.what, what); changed != tc.changed || diff != "" {
			t.Errorf("%02d since %s: %s, want %s\n%s", tc.digits, tc.since, changed, tc.changed, diff)
		}
		var signals []line.Status
		for _, s := range part.Look.View(part.At).Signals {
			signals = append(signals, s.Status)
		}
		if diff := cmp.Diff(tc.signals, signals); diff != "" {
			t.Errorf("%02d: signals (-want +got):\n%s", tc.digits, diff)
		}
	}
}

// The levels of a flag can be told apart.
func TestFlagsHaveTheirLevels(t *testing.T) {
	t.Parallel()

	for digits, want := range map[int]line.Code{15: line.LevelMedium, 16: line.LevelHigh, 17: line.LevelVeryHigh} {
		part, _ := stage.Play(number(t, digits), rehearsal.Clock{}, now, defaults())
		if got := part.Look.View(part.At).Signals[0].Level; got != want {
			t.Errorf("%02d has the level %s, want %s", digits, got, want)
		}
	}
}

// Errors come before a question is asked, slow ones take their time, and the one
// that is never answered ends with the caller's patience.
func TestAwaitPlaysErrorsAndDelays(t *testing.T) {
	t.Parallel()

	const patience = 400 * time.Millisecond
	for digits, want := range answers {
		if digits >= 50 {
			continue
		}
		err := stage.Await(t.Context(), patience, number(t, digits))[0]
		if failed := digits >= 40; failed != (err != nil) || failed && string(fault.CodeOf(err)) != want {
			t.Errorf("%02d: Await = %v", digits, err)
		}
	}
	begun := time.Now()
	errs := stage.Await(t.Context(), patience, number(t, 0), number(t, 50), number(t, 40))
	if took := time.Since(begun); took < 300*time.Millisecond || errs[0] != nil || errs[1] != nil || fault.CodeOf(errs[2]) != fault.NotApplicable {
		t.Errorf("the slow one among others: %v after %v", errs, took)
	}
	begun = time.Now()
	if errs := stage.Await(t.Context(), patience, number(t, 52), number(t, 0)); !errors.Is(errs[0], context.DeadlineExceeded) || errs[1] != nil || time.Since(begun) < patience {
		t.Errorf("the one without an answer: %v after %v", errs, time.Since(begun))
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	begun = time.Now()
	if stage.Await(gone, time.Minute, number(t, 52)); time.Since(begun) > time.Minute/2 {
		t.Error("it waits for a caller who has left")
	}
	for digits, least := range map[int]time.Duration{41: 0, 42: time.Hour, 43: 0} {
		part, _ := stage.Play(number(t, digits), rehearsal.Clock{}, now, defaults())
		if f, ok := errors.AsType[*fault.Error](part.Fault); !ok || f.RetryAfter != least {
			t.Errorf("%02d: come back after %v, want %v", digits, f.RetryAfter, least)
		}
	}
	for digits, delay := range map[int]time.Duration{0: 0, 50: 300 * time.Millisecond, 51: 900 * time.Millisecond} {
		if part, _ := stage.Play(number(t, digits), rehearsal.Clock{}, now, defaults()); part.Delay != delay {
			t.Errorf("%02d: a delay of %v, want %v", digits, part.Delay, delay)
		}
	}
}
