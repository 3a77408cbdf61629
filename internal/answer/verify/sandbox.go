package verify

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// isTest reports whether the request comes from a test key, which never sees a
// real line. The database knows no modes but live and test.
func (r *Request) isTest() bool { return r.Mode == "test" }

// Hint returns a hint about a mistake of the caller, or "": a live key gets UNALLOCATED for a
// test number.
func (v *Verifier) Hint(r *Request, a *Answer) string {
	if r.isTest() || a.Status != line.Unallocated || v.Simulator == nil || !v.Simulator.Has(r.Number) {
		return ""
	}
	return sandbox.LiveHint
}

// BatchHint is Hint for a batch: one hint, whichever numbers it is about.
func (v *Verifier) BatchHint(requests []Request, answers []Answer, errs []error) string {
	for i := range requests {
		if errs[i] == nil && v.Hint(&requests[i], &answers[i]) != "" {
			return sandbox.LiveBatchHint
		}
	}
	return ""
}

// checkTestNumbers runs before requests of a test key are queued. It refuses
// numbers that are not test numbers and those that simulate an error, and waits
// as long as the slowest of the others simulates. There is one error, or nil, for
// each request.
func (v *Verifier) checkTestNumbers(ctx context.Context, requests []Request) []error {
	numbers := make([]phone.Number, len(requests))
	for i := range requests {
		numbers[i] = requests[i].Number
	}
	errs := v.Simulator.Admit(ctx, v.Timeout, numbers...)
	for i, err := range errs {
		if errors.Is(err, context.DeadlineExceeded) {
			errs[i] = ErrTimeout.Because(fault.ErrExpected)
		}
	}
	return errs
}

// verifyAllTest is [Verifier.VerifyAll] for a test key.
func (v *Verifier) verifyAllTest(ctx context.Context, requests []Request) ([]Answer, []error, error) {
	answers, errs := make([]Answer, len(requests)), v.checkTestNumbers(ctx, requests)
	var accepted []Request
	for i, err := range errs {
		if err == nil {
			accepted = append(accepted, requests[i])
		}
	}
	if len(accepted) == 0 {
		return answers, errs, nil
	}
	acceptedAnswers, acceptedErrs, err := v.verifyAll(ctx, accepted)
	if err != nil {
		return nil, nil, err
	}
	next := 0
	for i, err := range errs {
		if err == nil {
			answers[i], errs[i] = acceptedAnswers[next], acceptedErrs[next]
			next++
		}
	}
	return answers, errs, nil
}

// testClocks returns the test clocks of the test keys in a batch.
func testClocks(ctx context.Context, from pg.DB, batch []*pending) (map[uuid.UUID]sandbox.Clock, error) {
	var keys []uuid.UUID
	for _, p := range batch {
		if p.request.isTest() {
			keys = append(keys, p.request.Key)
		}
	}
	return sandbox.Clocks(ctx, from, keys)
}

// simulate returns the simulated line of a test number, and the time of the test
// clock, for which its status is to be computed.
func (v *Verifier) simulate(r *Request, c sandbox.Clock, now time.Time, p *policy.Policy) (l linestore.Lookup, statusAt time.Time, err error) {
	result, ok := v.Simulator.Simulate(r.Number, c, now, p)
	switch {
	case !ok:
		return l, statusAt, v.Simulator.NotTestNumber()
	case result.Fault != nil:
		return l, statusAt, result.Fault
	}
	return *result.Lookup, result.At, nil
}
