package httpapi

import (
	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/verify"
)

// guarded reports whether what somebody asks is counted. A key for tests sees no
// line, so there is nothing to count.
func (a *API) guarded(mode string) bool { return a.Guard != nil && mode == access.Live }

func budgetOf(l access.Limits) guard.Budget {
	return guard.Budget{Day: l.DayQuota, Month: l.MonthQuota, Numbers: l.DayNumbers}
}

// admitQuestion asks the guard whether a question may be asked.
func (a *API) admitQuestion(q *verify.Question, l access.Limits) error {
	if !a.guarded(q.Mode) {
		return nil
	}
	return a.Guard.Admit(q.Entity, budgetOf(l), q.Number)
}

// learn tells the guard what became of a question that it has admitted.
func (a *API) learn(q *verify.Question, answer *verify.Answer, err error) {
	switch {
	case !a.guarded(q.Mode):
	case err != nil:
		a.Guard.Unanswered(q.Entity, 1)
	default:
		a.Guard.Learn(q.Entity, q.Number, answer.Status == line.Unallocated)
	}
}

// admitQuestions asks the guard about the questions of a batch, all of one key.
// It returns those that may be asked; the others become problems of their
// numbers. The questions are those whose numbers have no problem yet, in order.
func (a *API) admitQuestions(questions []verify.Question, l access.Limits, problems []error) ([]verify.Question, error) {
	if len(questions) == 0 || !a.guarded(questions[0].Mode) {
		return questions, nil
	}
	numbers := make([]phone.Number, len(questions))
	for i := range questions {
		numbers[i] = questions[i].Number
	}
	refused, err := a.Guard.AdmitAll(questions[0].Entity, budgetOf(l), numbers)
	if err != nil || refused == nil {
		return questions, err
	}
	asked, next := questions[:0], 0
	for i := range problems {
		if problems[i] != nil {
			continue
		}
		if problems[i] = refused[next]; problems[i] == nil {
			asked = append(asked, questions[next])
		}
		next++
	}
	return asked, nil
}

// learnAll tells the guard what became of the questions of a batch. Answers and
// errs are nil when none of them was asked.
func (a *API) learnAll(questions []verify.Question, answers []verify.Answer, errs []error) {
	if len(questions) == 0 || !a.guarded(questions[0].Mode) {
		return
	}
	if answers == nil {
		a.Guard.Unanswered(questions[0].Entity, len(questions))
		return
	}
	for i := range questions {
		a.learn(&questions[i], &answers[i], errs[i])
	}
}
