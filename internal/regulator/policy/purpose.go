package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/values/fault"
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
	form, _ := p.purpose(code)
	return form
}

// quiet follows the form of a purpose that gets no notices.
const quiet = "quiet"

// NoticesFor reports whether the organisation is told when an answer to a purpose would
// be different now. It is, unless the policy says that the purpose is quiet.
func (p Policy) NoticesFor(code string) bool {
	_, option := p.purpose(code)
	return option != quiet
}

// purpose returns what the policy says about a purpose: the form of dates, and what
// follows it after a slash.
func (p Policy) purpose(code string) (form DateForm, option string) {
	for purpose := range strings.SplitSeq(p.Purposes, ",") {
		if name, text, _ := strings.Cut(purpose, "="); name == code {
			text, option, _ := strings.Cut(text, "/")
			return DateForm(text), option
		}
	}
	return AbsentDates, ""
}

// checkPurposes reports the first thing that is wrong with the purposes.
func (p Policy) checkPurposes(wrong *fault.Form) {
	const field = "purposes"
	codes := p.PurposeCodes()
	malformed := func(code string) bool {
		form, option := p.purpose(code)
		return !purposeCode.MatchString(code) || !slices.Contains(dateForms, form) || option != "" && option != quiet || strings.Contains(p.Purposes+",", "/,")
	}
	switch {
	case len(p.Purposes) > maxPurposes:
		wrong.Check(false, field, fault.TooLong, "Use at most 1000 characters.")
	case slices.ContainsFunc(codes, malformed):
		wrong.Check(false, field, fault.BadFormat, "Write each purpose as code=exact, code=month or code=absent, with commas between them, and /quiet after it for no notices about past answers. A code has at most 40 lower-case letters, digits and hyphens, such as account-opening.")
	case len(slices.Compact(slices.Sorted(slices.Values(codes)))) < len(codes):
		wrong.Check(false, field, fault.NotAllowed, "Name each purpose once.")
	case !slices.Contains(codes, OtherPurpose):
		wrong.Check(false, field, fault.Required, "Keep the purpose other, which keys without a code have.")
	}
}
