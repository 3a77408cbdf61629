package guard

import "iter"

// refusals are the part of a budget that refused lists and files spend. The zero value is none. They
// are kept in memory: a restart gives back one part in 8,192 of the budget.
//
// What is refused is rolled back, and so leaves the sketch as it was. Of five million numbers
// it changes with one new number in 350: whoever has come to the end of a budget, and offers
// one number after the other, would be refused only those by which it changes, and could
// enter all others for ever. So each refusal spends as much as can be expected to have
// entered before it. More numbers at once than nearEnd have no chance to be accepted so, and
// spend nothing: a list that is far too long is a mistake.
type refusals struct{ spent int64 }

const (
	refusalSpends = 8192 // one part in so many of the budget; a number that changes the sketch counts for one in 11,800
	nearEnd       = 1000 // one part in so many over the budget
)

// Over reports whether numbers, with what refusals have spent, are more than a budget, and
// then spends for the refusal.
func (r *refusals) Over(numbers, budget int64) bool {
	over := numbers + r.spent - budget
	if over > 0 && over <= max(1, budget/nearEnd) {
		r.spent += 1 + budget/refusalSpends
	}
	return over > 0
}

// isEmpty reports whether nothing enters.
func isEmpty[T any](numbers iter.Seq[T]) bool {
	for range numbers {
		return false
	}
	return true
}
