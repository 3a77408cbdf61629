package httpapi

import (
	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// guarded reports whether the guard counts requests of a key mode. A test key
// never reads a real line, so its requests are not counted.
func (a *API) guarded(mode string) bool { return a.Guard != nil && mode == access.Live }

// BudgetOf returns how much the organisation of an API key may verify.
func BudgetOf(who *access.Principal) guard.Budget {
	l := &who.Limits
	return guard.Budget{
		Day: l.DayQuota, Month: l.MonthQuota, Numbers: l.DayNumbers, Year: l.YearNumbers, OwnNumbers: l.OwnDay, OwnYear: l.OwnYear,
		Sponsor: who.Sponsor, SponsorNumbers: l.SponsorNumbers, SponsorYear: l.SponsorYear,
	}
}

// admitRequest returns the guard's error if the request is over a quota.
func (a *API) admitRequest(q *verify.Request, who *access.Principal) error {
	if !a.guarded(q.Mode) {
		return nil
	}
	return a.Guard.Admit(q.Entity, BudgetOf(who), q.Number)
}

// orStopped returns the error of a limit, or that of the guard if the organisation is stopped:
// it gets the same error for every verification, and to send fewer would not help it.
func (a *API) orStopped(who *access.Principal, err error) error {
	if fault.CodeOf(err) != fault.TooManyRequests || who.Kind != access.APIKey || !a.guarded(who.Mode) {
		return err
	}
	if stopped := a.Guard.CheckStopped(who.Entity, BudgetOf(who)); stopped != nil {
		return stopped
	}
	return err
}

// recordOutcome reports the outcome of an admitted request to the guard.
func (a *API) recordOutcome(q *verify.Request, answer *verify.Answer, err error) {
	switch {
	case !a.guarded(q.Mode):
	case err != nil:
		a.Guard.Refund(q.Entity, 1)
	default:
		a.Guard.Record(q.Entity, q.Number, answer.Status == line.Unallocated)
	}
}

// admitBatch checks the requests of a batch, all of one key, with the guard. It
// returns those that are admitted; for the others it sets the problem of their
// number. The requests are those of the numbers without a problem, in order.
func (a *API) admitBatch(requests []verify.Request, who *access.Principal, problems []error) ([]verify.Request, error) {
	if len(requests) == 0 || !a.guarded(requests[0].Mode) {
		return requests, nil
	}
	numbers := make([]phone.Number, len(requests))
	for i := range requests {
		numbers[i] = requests[i].Number
	}
	refused, err := a.Guard.AdmitAll(requests[0].Entity, BudgetOf(who), numbers)
	if err != nil || refused == nil {
		return requests, err
	}
	admitted, next := requests[:0], 0
	for i := range problems {
		if problems[i] != nil {
			continue
		}
		if problems[i] = refused[next]; problems[i] == nil {
			admitted = append(admitted, requests[next])
		}
		next++
	}
	return admitted, nil
}

// recordBatch reports the outcome of the admitted requests of a batch to the
// guard. Answers and errs are nil if none of them was carried out.
func (a *API) recordBatch(requests []verify.Request, answers []verify.Answer, errs []error) {
	if len(requests) == 0 || !a.guarded(requests[0].Mode) {
		return
	}
	if answers == nil {
		a.Guard.Refund(requests[0].Entity, len(requests))
		return
	}
	for i := range requests {
		a.recordOutcome(&requests[i], &answers[i], errs[i])
	}
}
