// Package phone reads telephone numbers as people write them.
//
// What it promises:
//
//   - However a number is spelled, it becomes one [Number]; two spellings of one
//     number compare equal, and nothing that is not a number becomes one.
//   - A Number does not print: what shows in logs and errors is [Number.Masked].
//     Whoever needs the digits asks for [Number.E164] or [Number.Int].
//   - The usual spellings of a Nigerian mobile number are read without the
//     library and without an allocation, and a test holds the two to the same answer.
package phone

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
)

// What Parse and ParseMobile return. Neither text repeats what was sent.
var (
	// ErrMalformed reports text that is not a telephone number.
	ErrMalformed = errors.New("phone: not a telephone number")
	// ErrNotMobile reports a telephone number that is not a mobile number of the
	// region.
	ErrNotMobile = errors.New("phone: not a mobile number of the region")
)

// The least and the greatest number in E.164 form. Fifteen digits is the limit of
// E.164; six is the shortest number that the library holds possible anywhere.
const (
	least    = 100_000
	greatest = 999_999_999_999_999
)

// Number is a telephone number in E.164 form. Two Numbers are the same line exactly
// when they are equal with ==. The zero Number is none.
//
// A struct that is printed whole shows a Number in an unexported field, for package
// fmt calls no methods on what it cannot export.
type Number struct {
	digits int64 // country code and national number; no code begins with a zero
}

// FromInt returns the number whose E.164 digits are n, as [Number.Int] gave them. It
// is false when n has too few or too many digits.
func FromInt(n int64) (Number, bool) {
	if n < least || n > greatest {
		return Number{}, false
	}
	return Number{digits: n}, true
}

// Int returns the digits of the E.164 form as one integer, for keys and indexes.
func (n Number) Int() int64 { return n.digits }

// E164 returns the number with its plus sign, or nothing for the zero Number. It is
// for those who are entitled to the number, never for logs.
func (n Number) E164() string {
	if n.IsZero() {
		return ""
	}
	return "+" + strconv.FormatInt(n.digits, 10)
}

// IsZero reports whether n is no number at all.
func (n Number) IsZero() bool { return n.digits == 0 }

// Masked returns the only form that may be logged: the first three digits and, of
// a number with nine digits or more, the last two.
func (n Number) Masked() string {
	if n.IsZero() {
		return "+*"
	}
	const shown, tail = len("+234"), 2
	s := n.E164()
	if len(s) < len("+123456789") {
		return s[:shown] + strings.Repeat("*", len(s)-shown)
	}
	return s[:shown] + strings.Repeat("*", len(s)-shown-tail) + s[len(s)-tail:]
}

// String implements [fmt.Stringer] with the masked form.
func (n Number) String() string { return n.Masked() }

// Format implements [fmt.Formatter] with the masked form, so that no verb reaches
// the digits.
func (n Number) Format(s fmt.State, _ rune) {
	// A Formatter has nowhere to report an error; package fmt ignores its own too.
	_, _ = io.WriteString(s, n.Masked())
}

// LogValue implements [slog.LogValuer] with the masked form.
func (n Number) LogValue() slog.Value { return slog.StringValue(n.Masked()) }
