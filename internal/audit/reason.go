package audit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/fault"
)

// How long the reason of a look is. A word or two says nothing to whoever reads
// the trail a year later.
const (
	shortestReason = 10
	longestReason  = 500
)

// CheckReason complains about a reason for a look at what belongs to others that
// says nothing, or too much. The trail masks what it would not keep; see [Write].
func CheckReason(wrong *fault.Form, field, reason string) {
	n := utf8.RuneCountInString(strings.TrimSpace(reason))
	wrong.Check(n > 0, field, fault.Required, "Say why you look. It is written into the audit trail.")
	wrong.Check(n == 0 || n >= shortestReason, field, fault.TooShort, "Say it in at least 10 characters: a case, a complaint, an order.")
	wrong.Check(n <= longestReason, field, fault.TooLong, "Use at most 500 characters.")
	wrong.Check(utf8.ValidString(reason) && !strings.ContainsFunc(reason, unicode.IsControl), field, fault.BadFormat, "Leave out control characters and line breaks.")
}
