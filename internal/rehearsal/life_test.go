package rehearsal_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/rehearsal"
)

const day = 24 * time.Hour

// from is what a number answers from a day of the test clock on.
type from struct {
	day    int
	answer string
}

// scripts is the sequence of each life by the default policy. Integrators build
// on it, so that a life may become longer and never another one.
var scripts = map[int][]from{
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
		{24, "UNKNOWN STALE Savanna Mobile"},
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

// begun is when the clocks of these tests were set, some seconds ago.
var begun = now.Add(-7 * time.Second).Truncate(time.Second)

// A year and a half, rehearsed day by day, goes as it is written.
func TestLivesGoDayByDayAsWritten(t *testing.T) {
	t.Parallel()

	for _, r := range stage.Roles() {
		if !r.Life {
			continue
		}
		var got []from
		for d := range 550 {
			part, _ := stage.Play(r.Number, rehearsal.Clock{Begun: begun, Ahead: time.Duration(d) * day}, now, defaults())
			if answer := said(part); len(got) == 0 || got[len(got)-1].answer != answer {
				got = append(got, from{d, answer})
			}
		}
		if diff := cmp.Diff(scripts[int(r.Number.Int()-first)], got, cmp.AllowUnexported(from{})); diff != "" {
			t.Errorf("%s (-written +played):\n%s", r.Title, diff)
		}
	}
}

// Whoever follows what comes next, turn by turn, meets the same sequence and
// misses nothing that happens on the way.
func TestNextLeadsThroughALife(t *testing.T) {
	t.Parallel()

	for _, life := range stage.Lives(rehearsal.Clock{Begun: begun}, now, defaults()) {
		script := scripts[int(life.Number.Int()-first)]
		got := []from{{0, life.Answer}}
		turns := 0
		for next := life.Next; next != nil; turns++ {
			if next.Text == "" || !strings.HasSuffix(next.Text, ".") {
				t.Errorf("%s, day %d: %q is no sentence", life.Title, next.Day, next.Text)
			}
			if got[len(got)-1].answer != next.Answer {
				got = append(got, from{next.Day, next.Answer})
			}
			if want := begun.Add(time.Duration(next.Day) * day); !next.At.Equal(want) {
				t.Errorf("%s, day %d is at %s, want %s", life.Title, next.Day, next.At, want)
			}
			ahead := next.At.Sub(now.Truncate(time.Second))
			following := stage.Lives(rehearsal.Clock{Begun: begun, Ahead: ahead}, now, defaults())
			i := slices.IndexFunc(following, func(l rehearsal.Life) bool { return l.Number == life.Number })
			if following[i].Answer != next.Answer {
				t.Errorf("%s, day %d: %s was foretold, and %s came", life.Title, next.Day, next.Answer, following[i].Answer)
			}
			next = following[i].Next
		}
		var want []from
		for _, f := range script {
			word, _, _ := strings.Cut(f.answer, " ")
			if len(want) == 0 || want[len(want)-1].answer != word {
				want = append(want, from{f.day, word})
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(from{})); diff != "" || turns < len(want)-1 {
			t.Errorf("%s, %d turns (-written +followed):\n%s", life.Title, turns, diff)
		}
	}
}

// What is told late counts from when it is told, and then for the past as well.
func TestLateWordChangesThePast(t *testing.T) {
	t.Parallel()

	since := begun.Add(50 * day)
	for d, want := range map[int]string{59: line.Maybe, 60: line.Yes, 90: line.Yes} {
		part, _ := stage.Play(number(t, 93), rehearsal.Clock{Begun: begun, Ahead: time.Duration(d) * day}, now, defaults())
		if got, _ := line.ChangedSince(&part.Look.Facts, part.Look.Policy, since, part.At); got != want {
			t.Errorf("on day %d: %s, want %s", d, got, want)
		}
	}
}

// A caller that remembers when it met its customer is warned when the number
// has passed on.
func TestNewHolderIsNoticedSinceTheFirstDay(t *testing.T) {
	t.Parallel()

	met := now // seconds after the clock was set
	for d, want := range map[int]string{0: line.Maybe, 1: line.No, 25: line.Yes, 340: line.Yes} {
		part, _ := stage.Play(number(t, 90), rehearsal.Clock{Begun: begun, Ahead: time.Duration(d) * day}, now, defaults())
		if got, _ := line.ChangedSince(&part.Look.Facts, part.Look.Policy, met, part.At); got != want {
			t.Errorf("on day %d: %s, want %s", d, got, want)
		}
	}
}

// Whatever windows the regulator sets, a life has an answer on every day, ends,
// and what is foretold comes.
func TestLivesHoldUnderEveryPolicy(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		p, c := anyPolicy(t), anyClock(t)
		for _, life := range stage.Lives(c, now, p) {
			if life.Answer != "UNAVAILABLE" && !slices.Contains(line.Statuses, line.Status(life.Answer)) {
				t.Fatalf("the answer is %q", life.Answer)
			}
			if life.Next == nil {
				continue
			}
			if got := playedAt(t, life.Number, c, life.Next.At, p); got != life.Next.Answer || life.Next.Text == "" {
				t.Fatalf("day %d: %s was foretold (%s), and %s came", life.Next.Day, life.Next.Answer, life.Next.Text, got)
			}
		}
	})
}

// playedAt returns the answer when the test clock shows a time.
func playedAt(t *rapid.T, n phone.Number, c rehearsal.Clock, at time.Time, p *policy.Policy) string {
	start := c.Start(now)
	part, ok := stage.Play(n, rehearsal.Clock{Begun: start, Ahead: at.Sub(now.Truncate(time.Second))}, now, p)
	if !ok {
		t.Fatalf("the number is not played")
	}
	word, _, _ := strings.Cut(said(part), " ")
	return word
}
