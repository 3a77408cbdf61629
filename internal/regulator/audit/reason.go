package audit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// The length of a reason. One or two words do not help the reader of the audit trail
// a year later.
const (
	minReason = 10
	maxReason = 500
)

// CheckReason adds a violation for the reason to read data of others if it is too
// short, too long or not plain text. Personal data in it is masked; see [Write].
func CheckReason(wrong *fault.Form, field, reason string) {
	n := utf8.RuneCountInString(strings.TrimSpace(reason))
	wrong.Check(n > 0, field, fault.Required, "Give the reason for reading this. It is written to the audit trail.")
	wrong.Check(n == 0 || n >= minReason, field, fault.TooShort, "Use at least 10 characters: a case, a complaint, an order.")
	wrong.Check(n <= maxReason, field, fault.TooLong, "Use at most 500 characters.")
	wrong.Check(utf8.ValidString(reason) && !strings.ContainsFunc(reason, unicode.IsControl), field, fault.BadFormat, "Leave out control characters and line breaks.")
}
