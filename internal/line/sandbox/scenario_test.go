package sandbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

const day = 24 * time.Hour

// change is the answer of a number from a day of the test clock on.
type change struct {
	day    int
	answer string
}

// scripts has the answers of each scenario by the default policy. Integrators
// build on them: a scenario may become longer, but nothing else may change.
var scripts = map[int][]change{
	90: {
		{0, "RECYCLED Savanna Mobile"},
		{20, "SWAPPED Savanna Mobile"},
		{30, "RECYCLED Savanna Mobile"},
		{90, "NORMAL Savanna Mobile"},
		{205, "INACTIVE Savanna Mobile"},
		{215, "PENDING_CHURN Savanna Mobile"},
		{235, "QUARANTINED Savanna Mobile"},
		{330, "RECYCLED Savanna Mobile"},
		{350, "SWAPPED Savanna Mobile"},
		{360, "RECYCLED Savanna Mobile"},
		{420, "NORMAL Savanna Mobile"},
	},
	91: {
		{0, "NORMAL Savanna Mobile"},
		{12, "PORTED Harmattan Mobile"},
		{22, "NORMAL Harmattan Mobile"},
		{60, "PARKED Harmattan Mobile"},
		{150, "NORMAL Harmattan Mobile"},
		{200, "PORTED Savanna Mobile"},
		{210, "NORMAL Savanna Mobile"},
		{385, "INACTIVE Savanna Mobile"},
		{395, "NORMAL Savanna Mobile"},
	},
	92: {
		{0, "NORMAL Savanna Mobile"},
		{5, "FLAGGED Savanna Mobile"},
		{25, "BARRED Savanna Mobile"},
		{40, "FLAGGED Savanna Mobile"},
		{105, "NORMAL Savanna Mobile"},
		{130, "FLAGGED Savanna Mobile"},
		{140, "NORMAL Savanna Mobile"},
		{160, "BLACKLISTED Savanna Mobile"},
		{280, "QUARANTINED Savanna Mobile"},
		{300, "RECYCLED Savanna Mobile"},
		{390, "NORMAL Savanna Mobile"},
	},
	93: {
		{0, "NORMAL Savanna Mobile"},
		{12, "UNKNOWN STALE Savanna Mobile"},
		{60, "SWAPPED Savanna Mobile"},
		{65, "NORMAL Savanna Mobile"},
		{100, "UNAVAILABLE"},
		{101, "NORMAL Savanna Mobile"},
	},
	94: {
		{0, "UNALLOCATED RANGE UNKNOWN"},
		{30, "UNALLOCATED NUMBER Harmattan Mobile"},
		{60, "RECYCLED Harmattan Mobile"},
		{150, "NORMAL Harmattan Mobile"},
		{200, "QUARANTINED Harmattan Mobile"},
		{220, "NORMAL Harmattan Mobile"},
	},
}

// dayZero is when the clocks of these tests were set, some seconds ago.
var dayZero = now.Add(-7 * time.Second).Truncate(time.Second)

// Advanced day by day for a year and a half, each scenario gives the answers of
// its script.
func TestScenariosFollowTheirScripts(t *testing.T) {
	t.Parallel()

	for _, r := range simulator.TestNumbers() {
		if !r.IsScenario {
			continue
		}
		var got []change
		for d := range 550 {
			result, _ := simulator.Simulate(r.Number, sandbox.Clock{Start: dayZero, Ahead: time.Duration(d) * day}, now, defaults())
			if answer := answerOf(result); len(got) == 0 || got[len(got)-1].answer != answer {
				got = append(got, change{d, answer})
			}
		}
		if diff := cmp.Diff(scripts[int(r.Number.Int()-first)], got, cmp.AllowUnexported(change{})); diff != "" {
			t.Errorf("%s (-script +simulated):\n%s", r.Title, diff)
		}
	}
}

// Advancing the clock to the next step again and again gives the same answers as
// the script, and skips no step.
func TestNextStepsLeadThroughAScenario(t *testing.T) {
	t.Parallel()

	for _, scenario := range simulator.Scenarios(sandbox.Clock{Start: dayZero}, now, defaults()) {
		script := scripts[int(scenario.Number.Int()-first)]
		got := []change{{0, scenario.Answer}}
		steps := 0
		for next := scenario.Next; next != nil; steps++ {
			if next.Text == "" || !strings.HasSuffix(next.Text, ".") {
				t.Errorf("%s, day %d: %q is not a sentence", scenario.Title, next.Day, next.Text)
			}
			if got[len(got)-1].answer != next.Answer {
				got = append(got, change{next.Day, next.Answer})
			}
			if want := dayZero.Add(time.Duration(next.Day) * day); !next.At.Equal(want) {
				t.Errorf("%s, day %d is at %s, want %s", scenario.Title, next.Day, next.At, want)
			}
			ahead := next.At.Sub(now.Truncate(time.Second))
			following := simulator.Scenarios(sandbox.Clock{Start: dayZero, Ahead: ahead}, now, defaults())
			i := slices.IndexFunc(following, func(l sandbox.Scenario) bool { return l.Number == scenario.Number })
			if following[i].Answer != next.Answer {
				t.Errorf("%s, day %d: announced %s, got %s", scenario.Title, next.Day, next.Answer, following[i].Answer)
			}
			next = following[i].Next
		}
		var want []change
		for _, f := range script {
			word, _, _ := strings.Cut(f.answer, " ")
			if len(want) == 0 || want[len(want)-1].answer != word {
				want = append(want, change{f.day, word})
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(change{})); diff != "" || steps < len(want)-1 {
			t.Errorf("%s, %d steps (-script +followed):\n%s", scenario.Title, steps, diff)
		}
	}
}

// An event that is reported late counts from when it is reported, and from then
// on for the past as well.
func TestLateReportChangesThePast(t *testing.T) {
	t.Parallel()

	since := dayZero.Add(50 * day)
	for d, want := range map[int]string{59: line.Uncertain, 60: line.Yes, 90: line.Yes} {
		result, _ := simulator.Simulate(number(t, 93), sandbox.Clock{Start: dayZero, Ahead: time.Duration(d) * day}, now, defaults())
		if got := line.ChangedSince(&result.Lookup.Facts, result.Lookup.Policy, since, result.At).Changed; got != want {
			t.Errorf("on day %d: %s, want %s", d, got, want)
		}
	}
}

// A caller that stored when it first dealt with its customer learns from
// changedSince when the number has a new holder.
func TestNewHolderShowsInChangedSince(t *testing.T) {
	t.Parallel()

	firstContact := now // seconds after the clock was set
	for d, want := range map[int]string{0: line.Uncertain, 1: line.No, 25: line.Yes, 340: line.Yes} {
		result, _ := simulator.Simulate(number(t, 90), sandbox.Clock{Start: dayZero, Ahead: time.Duration(d) * day}, now, defaults())
		if got := line.ChangedSince(&result.Lookup.Facts, result.Lookup.Policy, firstContact, result.At).Changed; got != want {
			t.Errorf("on day %d: %s, want %s", d, got, want)
		}
	}
}

// Under every policy a scenario has an answer at every time, and its next step
// comes as announced.
func TestScenariosWorkUnderEveryPolicy(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		p, c := anyPolicy(t), anyClock(t)
		for _, scenario := range simulator.Scenarios(c, now, p) {
			if scenario.Answer != "UNAVAILABLE" && !slices.Contains(line.Statuses, line.Status(scenario.Answer)) {
				t.Fatalf("the answer is %q", scenario.Answer)
			}
			if scenario.Next == nil {
				continue
			}
			if got := statusAt(t, scenario.Number, c, scenario.Next.At, p); got != scenario.Next.Answer || scenario.Next.Text == "" {
				t.Fatalf("day %d: announced %s (%s), got %s", scenario.Next.Day, scenario.Next.Answer, scenario.Next.Text, got)
			}
		}
	})
}

// statusAt returns the status or error code at a time of the test clock.
func statusAt(t *rapid.T, n phone.Number, c sandbox.Clock, at time.Time, p *policy.Policy) string {
	start := c.DayZero(now)
	result, ok := simulator.Simulate(n, sandbox.Clock{Start: start, Ahead: at.Sub(now.Truncate(time.Second))}, now, p)
	if !ok {
		t.Fatalf("it is not a test number")
	}
	word, _, _ := strings.Cut(answerOf(result), " ")
	return word
}
