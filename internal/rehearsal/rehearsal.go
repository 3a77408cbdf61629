// Package rehearsal plays the test numbers, so that whoever integrates the
// service can meet every answer and every error before a customer does.
//
// A key for tests is answered from here and never from the lines of the nation.
// Each test number has a [Role]: a line that stands in one way for ever, an
// error, a slow answer, or a life that goes on as the caller advances its own
// [Clock]. What a role says are facts, the same that an operator would supply;
// the status is made of them by the rule that makes every other status.
//
// Playing is a pure function of the number, the clock, the time and the policy.
// It asks no database.
package rehearsal

import (
	"context"
	_ "embed" // for the ranges
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
)

// ranges has a line for each region: its code, and the test numbers' digits
// without the last two. Integrators write these numbers into their tests, so
// that none of them ever changes.
//
//go:embed ranges.txt
var ranges string

// perRange is how many numbers a range has.
const perRange = 100

// Stage is where the test numbers of one region are played. It never changes,
// so any number of goroutines may use it.
type Stage struct {
	prefix  int64 // of every test number: its digits without the last two
	plan    *numbering.Plan
	outside *fault.Error
}

// NewStage returns the stage of the region with that ISO 3166 code. A region
// without a range has no test numbers: nothing is played there.
func NewStage(region string) *Stage {
	s := &Stage{plan: testPlan(), outside: fault.New(fault.NotApplicable, "A key for tests is answered for test numbers only, and this country has none.")}
	for entry := range strings.Lines(ranges) {
		code, digits, _ := strings.Cut(strings.TrimSpace(entry), " ")
		if !strings.EqualFold(code, region) {
			continue
		}
		prefix, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			panic("rehearsal: ranges.txt is wrong: " + err.Error()) // a test reads all of it
		}
		s.prefix = prefix
		s.outside = fault.New(fault.NotApplicable, fmt.Sprintf("A key for tests is answered for test numbers only. They are in the range from %s to %s; /docs lists them.",
			s.number(0).E164(), s.number(perRange-1).E164()))
	}
	s.outside = s.outside.With(fault.Violation{Field: "phoneNumber", Code: fault.NotAllowed, Message: "Ask about a test number, or use a live key."})
	return s
}

// number returns the number of the region with these last two digits.
func (s *Stage) number(digits int) phone.Number {
	n, _ := phone.FromInt(s.prefix*perRange + int64(digits))
	return n
}

// Outside is what a key for tests is told about every number that is not a
// test number.
func (s *Stage) Outside() error { return s.outside }

// role returns what a number plays.
func (s *Stage) role(n phone.Number) (*Role, bool) {
	if s.prefix == 0 || n.Int()/perRange != s.prefix {
		return nil, false
	}
	r, ok := byDigits[int(n.Int()%perRange)]
	return r, ok
}

// Part is what a number plays at a moment.
type Part struct {
	// Look is what is known of the line, as a look-up would have it. Its policy is
	// the one that was passed; its plan has version 0, and so has its row.
	Look *line.Look
	At   time.Time // by the test clock: the moment for which the status holds
	// Fault is what the caller is told instead of an answer. Then there is no Look.
	Fault error
	Delay time.Duration // how long the caller waits first
}

// Play returns what a number plays for a caller whose test clock is c, at the
// present moment now and by the policy p. It is false for every number that is
// not a test number.
func (s *Stage) Play(n phone.Number, c Clock, now time.Time, p *policy.Policy) (Part, bool) {
	r, ok := s.role(n)
	if !ok {
		return Part{}, false
	}
	return s.play(r, c.present(now, p), c.Now(now)), true
}

func (s *Stage) play(r *Role, now present, at time.Time) Part {
	part := Part{At: at, Delay: r.delay}
	if f := r.faultAt(&now); f != nil {
		part.Fault = f
		return part
	}
	part.Look = &line.Look{Facts: r.facts(&now), Policy: now.rules, Plan: s.plan}
	return part
}

// Await is what comes before the questions of a key for tests are asked at all.
// It refuses numbers that are not test numbers and those that always play an
// error, and waits as long as the slowest of the others plays. What would take
// longer than patience ends then, with [context.DeadlineExceeded]. The errors
// are those of the numbers, in their order.
func (s *Stage) Await(ctx context.Context, patience time.Duration, numbers ...phone.Number) []error {
	errs, slowest := make([]error, len(numbers)), time.Duration(0)
	for i, n := range numbers {
		r, ok := s.role(n)
		switch {
		case !ok:
			errs[i] = s.outside
		case r.fault != nil:
			errs[i] = r.fault
		case r.delay >= patience:
			errs[i], slowest = context.DeadlineExceeded, patience
		default:
			slowest = max(slowest, r.delay)
		}
	}
	timer := time.NewTimer(slowest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done(): // nobody hears the answer
	}
	return errs
}

// Roles returns the test numbers of the region with what they play, in the
// order of the numbers. There are none where the region has no range.
func (s *Stage) Roles() []Role {
	if s.prefix == 0 {
		return nil
	}
	all := make([]Role, 0, len(cast))
	for _, r := range cast {
		r.Number = s.number(r.digits)
		all = append(all, r)
	}
	return all
}
