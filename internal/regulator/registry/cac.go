// This part of the package parses registration numbers of the Corporate Affairs Commission.
//
// Their form is not part of the contract, so the package is lenient about what it
// accepts and guarantees two things: the text is kept exactly as it was sent, and if
// its form is known, every spelling of one registration has the same class and digits.
// The digits alone do not identify a registration: a company and a business name may
// share them.

package registry

import "strings"

const (
	maxLength    = 32
	maxDigits    = 8 // the longest seen in practice, without leading zeros
	legacyDigits = 6
	separators   = " /-"
)

// CACNumber is a registration number.
type CACNumber struct {
	// Text is the number as it was sent, byte for byte.
	Text string
	// Class is RC (company), BN (business name), IT (incorporated trustees), LP or
	// LLP (partnerships); or, of a number in the old form, the two letters of the
	// state that issued it, such as KD. It is in upper case, and empty if the form is
	// not known.
	Class string
	// Digits is the number inside its class, without leading zeros, and empty if
	// the form is not known. Class and Digits are both set or both empty.
	Digits string
}

// ParseCAC parses a registration number. It returns false unless s is 1 to 32 ASCII letters,
// digits, spaces, slashes and dashes that begin with a letter or digit. A number whose
// form is not known is accepted without class and digits.
//
// The known forms, in any case and with any separators between letters and digits:
// a class and up to eight digits (RC 123456, bn-1234567); digits alone, which mean RC;
// and the old form of two letters and exactly six digits (KD023538). Leading zeros do
// not count, and zeros alone are no number.
func ParseCAC(s string) (CACNumber, bool) {
	if s == "" || len(s) > maxLength || strings.Contains(separators, s[:1]) {
		return CACNumber{}, false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) && !strings.Contains(separators, s[i:i+1]) {
			return CACNumber{}, false
		}
	}
	n := CACNumber{Text: s}
	n.Class, n.Digits = canonical(s)
	return n, true
}

// canonical returns class and digits of a number whose form is known.
func canonical(s string) (class, digits string) {
	s = strings.TrimRight(s, separators)
	rest := strings.TrimLeftFunc(s, func(r rune) bool { return !isSeparatorOrDigit(r) })
	letters := strings.ToUpper(s[:len(s)-len(rest)])
	rest = strings.TrimLeft(rest, separators)
	for i := range len(rest) {
		if !isDigit(rest[i]) {
			return "", ""
		}
	}
	digits = strings.TrimLeft(rest, "0")
	if digits == "" || len(digits) > maxDigits {
		return "", ""
	}
	switch letters {
	case "":
		return "RC", digits
	case "RC", "BN", "IT", "LP", "LLP":
		return letters, digits
	default:
		if len(letters) == 2 && len(rest) == legacyDigits {
			return letters, digits
		}
		return "", ""
	}
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isSeparatorOrDigit(r rune) bool { return strings.ContainsRune(separators+"0123456789", r) }
