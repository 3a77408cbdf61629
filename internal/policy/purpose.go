package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/fault"
)

// OtherPurpose is the purpose of a key for which the policy has no code. Every policy
// has it.
const OtherPurpose = "other"

// DateForm is how the answers to keys of one purpose give the dates of a line.
type DateForm string

// The forms of dates.
const (
	ExactDates  DateForm = "exact"
	MonthDates  DateForm = "month"
	AbsentDates DateForm = "absent"
)

var (
	dateForms   = []DateForm{ExactDates, MonthDates, AbsentDates}
	purposeCode = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
)

// PurposeCodes returns the codes of the purposes, in the order of the policy.
func (p Policy) PurposeCodes() (codes []string) {
	for purpose := range strings.SplitSeq(p.Purposes, ",") {
		code, _, _ := strings.Cut(purpose, "=")
		codes = append(codes, code)
	}
	return codes
}

// DatesFor returns how the answers to a purpose give dates. They give none to a purpose
// that the policy does not have, such as that of a key which is older than the policy.
func (p Policy) DatesFor(code string) DateForm {
	for purpose := range strings.SplitSeq(p.Purposes, ",") {
		if name, form, _ := strings.Cut(purpose, "="); name == code {
			return DateForm(form)
		}
	}
	return AbsentDates
}

// checkPurposes reports the first thing that is wrong with the purposes.
func (p Policy) checkPurposes(wrong *fault.Form) {
	const field = "purposes"
	codes := p.PurposeCodes()
	malformed := func(code string) bool {
		return !purposeCode.MatchString(code) || !slices.Contains(dateForms, p.DatesFor(code))
	}
	switch {
	case len(p.Purposes) > maxPurposes:
		wrong.Check(false, field, fault.TooLong, "Use at most 1000 characters.")
	case slices.ContainsFunc(codes, malformed):
		wrong.Check(false, field, fault.BadFormat, "Write each purpose as code=exact, code=month or code=absent, with commas between them. A code has at most 40 lower-case letters, digits and hyphens, such as account-opening.")
	case len(slices.Compact(slices.Sorted(slices.Values(codes)))) < len(codes):
		wrong.Check(false, field, fault.NotAllowed, "Name each purpose once.")
	case !slices.Contains(codes, OtherPurpose):
		wrong.Check(false, field, fault.Required, "Keep the purpose other, which keys without a code have.")
	}
}
