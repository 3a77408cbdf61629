// Package sandbox simulates lines for test numbers, so that an integrator can
// try every answer and every error before a customer gets it.
//
// A test key is answered from here and never from real lines. Each [TestNumber]
// is one of these: a line whose status never changes, an error, a slow answer,
// or a scenario, whose line changes as the caller advances the [Clock] of its
// key. A fixture gives facts, the same kind that an operator would supply; the
// status is computed from them by the same rule as for a real line.
//
// A simulation is a pure function of the number, the clock, the time and the
// policy. It uses no database.
package sandbox

import (
	"context"
	_ "embed" // for ranges.txt
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// ranges has a line for each region: its code, and the digits of its test
// numbers without the last two. Integrators write these numbers into their
// tests, so a range must never change.
//
//go:embed ranges.txt
var ranges string

// perRange is the size of a range.
const perRange = 100

// Simulator simulates the test numbers of one region. It never changes, so it is
// safe for concurrent use.
type Simulator struct {
	prefix        int64 // the digits of the test numbers without the last two; 0 when the region has none
	plan          *numbering.Plan
	notTestNumber *fault.Error
}

// NewSimulator returns the simulator for the region with that ISO 3166 code. A
// region without a range in ranges.txt has no test numbers.
func NewSimulator(region string) *Simulator {
	s := &Simulator{plan: testPlan(), notTestNumber: fault.New(fault.NotApplicable, "A test key works only with test numbers, and this country has none.")}
	for entry := range strings.Lines(ranges) {
		code, digits, _ := strings.Cut(strings.TrimSpace(entry), " ")
		if !strings.EqualFold(code, region) {
			continue
		}
		prefix, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			panic("sandbox: ranges.txt is wrong: " + err.Error()) // a test reads all of it
		}
		s.prefix = prefix
		s.notTestNumber = fault.New(fault.NotApplicable, fmt.Sprintf("A test key works only with test numbers. They are in the range from %s to %s; /docs lists them.",
			s.number(0).E164(), s.number(perRange-1).E164()))
	}
	s.notTestNumber = s.notTestNumber.With(fault.Violation{Field: "phoneNumber", Code: fault.NotAllowed, Message: "Send a test number, or use a live key."})
	return s
}

// number returns the region's test number with these last two digits.
func (s *Simulator) number(digits int) phone.Number {
	n, _ := phone.FromInt(s.prefix*perRange + int64(digits))
	return n
}

// NotTestNumber returns the error that a test key gets for every number that is
// not a test number.
func (s *Simulator) NotTestNumber() error { return s.notTestNumber }

// find returns the fixture of a number.
func (s *Simulator) find(n phone.Number) (*TestNumber, bool) {
	if s.prefix == 0 || n.Int()/perRange != s.prefix {
		return nil, false
	}
	r, ok := byDigits[int(n.Int()%perRange)]
	return r, ok
}

// Has reports whether a number is a test number.
func (s *Simulator) Has(n phone.Number) bool {
	_, ok := s.find(n)
	return ok
}

// LiveHint is for a live key that asks about a test number that is not allocated, and
// LiveBatchHint for one that does so in a batch.
const (
	LiveHint      = "This is a test number. A live key gets the ordinary answer for it, UNALLOCATED; use a test key (lp_test_) for the answer that it simulates."
	LiveBatchHint = "There are test numbers in this batch. A live key gets the ordinary answer for them, UNALLOCATED; use a test key (lp_test_) for the answers that they simulate."
)

// Result is the simulated result for a test number at one moment.
type Result struct {
	// Look is the simulated look-up of the line. Its policy is the one that was
	// passed; its plan and its row have version 0.
	Lookup *linestore.Lookup
	At     time.Time // the time of the test clock, for which the status is computed
	// Fault is the error that the caller gets instead of an answer; Look is nil
	// then.
	Fault error
	Delay time.Duration // before the answer
}

// Simulate returns the result of a number for a caller whose test clock is c, at
// the real time now and by the policy p. It is false for every number that is not
// a test number.
func (s *Simulator) Simulate(n phone.Number, c Clock, now time.Time, p *policy.Policy) (Result, bool) {
	r, ok := s.find(n)
	if !ok {
		return Result{}, false
	}
	return s.simulate(r, c.moment(now, p), c.Now(now)), true
}

func (s *Simulator) simulate(r *TestNumber, now moment, at time.Time) Result {
	result := Result{At: at, Delay: r.delay}
	if f := r.faultAt(&now); f != nil {
		result.Fault = f
		return result
	}
	result.Lookup = &linestore.Lookup{Facts: r.facts(&now), Policy: now.policy, Plan: s.plan}
	return result
}

// Admit is called before the requests of a test key are queued. It refuses
// numbers that are not test numbers and those that always give an error, and
// waits as long as the slowest of the others simulates. A number slower than the
// timeout gets [context.DeadlineExceeded] once the timeout has passed. There is
// one error, or nil, for each number.
func (s *Simulator) Admit(ctx context.Context, timeout time.Duration, numbers ...phone.Number) []error {
	errs, slowest := make([]error, len(numbers)), time.Duration(0)
	for i, n := range numbers {
		r, ok := s.find(n)
		switch {
		case !ok:
			errs[i] = s.notTestNumber
		case r.fault != nil:
			errs[i] = r.fault.Because(fault.ErrExpected)
		case r.delay >= timeout:
			errs[i], slowest = context.DeadlineExceeded, timeout
		default:
			slowest = max(slowest, r.delay)
		}
	}
	timer := time.NewTimer(slowest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done(): // the caller no longer waits
	}
	return errs
}

// TestNumbers returns the test numbers of the region, in the order of the
// numbers. A region without a range has none.
func (s *Simulator) TestNumbers() []TestNumber {
	if s.prefix == 0 {
		return nil
	}
	all := make([]TestNumber, 0, len(testNumbers))
	for _, r := range testNumbers {
		r.Number = s.number(r.digits)
		all = append(all, r)
	}
	return all
}
