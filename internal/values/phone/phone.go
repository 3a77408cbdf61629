// Package phone parses telephone numbers as people write them.
//
// Its guarantees:
//
//   - All spellings of a number give the same [Number], compared with ==. Text that is
//     not a number gives an error.
//   - Printing or logging a Number shows only [Number.Masked]. Code that needs the
//     digits calls [Number.E164] or [Number.Int].
//   - The usual spellings of a Nigerian mobile number are parsed without the phone
//     number library and without an allocation; a test checks that the result is the
//     same as the library's.
package phone

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
)

// The errors of Parse and ParseMobile. Neither text contains the input.
var (
	// ErrMalformed reports text that is not a telephone number.
	ErrMalformed = errors.New("phone: not a telephone number")
	// ErrNotMobile reports a telephone number that is not a mobile number of the
	// region.
	ErrNotMobile = errors.New("phone: not a mobile number of the region")
)

// The smallest and the largest number in E.164 form. E.164 allows at most fifteen
// digits; six is the shortest length that the library considers possible anywhere.
const (
	minNumber = 100_000
	maxNumber = 999_999_999_999_999
)

// Number is a telephone number in E.164 form. Two Numbers are the same line exactly
// when they are equal with ==. The zero Number is none.
//
// Caution: printing a whole struct shows the digits of a Number in an unexported
// field, because package fmt does not call methods on unexported fields.
type Number struct {
	digits int64 // country code and national number; no code begins with a zero
}

// FromInt returns the number whose E.164 digits are n; it is the reverse of
// [Number.Int]. It is false when n has too few or too many digits.
func FromInt(n int64) (Number, bool) {
	if n < minNumber || n > maxNumber {
		return Number{}, false
	}
	return Number{digits: n}, true
}

// Int returns the digits of the E.164 form as one integer, for keys and indexes.
func (n Number) Int() int64 { return n.digits }

// E164 returns the number with its plus sign, or "" for the zero Number. It is for
// readers who are entitled to the number, never for logs.
func (n Number) E164() string {
	if n.IsZero() {
		return ""
	}
	return "+" + strconv.FormatInt(n.digits, 10)
}

// IsZero reports whether n is the zero Number.
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
	// A Formatter cannot return an error; package fmt ignores its own write errors too.
	_, _ = io.WriteString(s, n.Masked())
}

// LogValue implements [slog.LogValuer] with the masked form.
func (n Number) LogValue() slog.Value { return slog.StringValue(n.Masked()) }

// NamedIn reports whether a text has the number, in any spelling.
func (n Number) NamedIn(text string) bool {
	const national = 9 // the last digits, without a country code or a leading zero
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	all := n.E164()
	return len(all) > national && strings.Contains(digits, all[len(all)-national:])
}

// LastDigits returns the last two digits, by which people who know the number recognise it.
func (n Number) LastDigits() string {
	all := n.E164()
	return all[max(0, len(all)-2):]
}
