package phone

import "bytes"

// maxSpelling is the maximum length of the text: fifteen digits with a sign between
// every two of them fit.
const maxSpelling = 32

// rawNumber is a spelling without its punctuation: the digits, and whether they begin
// with a country code. It is an array and not a string, so that parsing a number
// allocates no memory.
type rawNumber struct {
	digits        [maxSpelling]byte
	n             int
	international bool // there was a plus sign, or 00
}

// stripPunctuation removes the punctuation from s. All input passes through it: only
// ASCII digits reach the library, and nothing else that the library understands
// (letters, digits of other scripts, extensions, tel: addresses). It is false for
// anything but digits, spaces, dashes, dots, brackets and one plus sign before the
// first digit.
//
// A leading 00 means a plus sign in every region, whatever the region's own
// international prefix is, because that is how people write numbers.
func stripPunctuation(s string) (d rawNumber, ok bool) {
	if len(s) > maxSpelling {
		return rawNumber{}, false
	}
	for i := range len(s) {
		switch c := s[i]; c {
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			d.digits[d.n] = c
			d.n++
		case ' ', '-', '.', '(', ')', '[', ']':
		case '+':
			if d.international || d.n > 0 {
				return rawNumber{}, false
			}
			d.international = true
		default:
			return rawNumber{}, false
		}
	}
	if !d.international && d.n > 2 && d.digits[0] == '0' && d.digits[1] == '0' {
		copy(d.digits[:], d.digits[2:d.n])
		d.n -= 2
		d.international = true
	}
	if d.n == 0 || d.international && d.digits[0] == '0' {
		return rawNumber{}, false // no country code begins with a zero
	}
	return d, true
}

// String returns the digits in the form that the library expects.
func (d rawNumber) String() string {
	digits := string(d.digits[:d.n])
	if d.international {
		return "+" + digits
	}
	return digits
}

const (
	nigeria        = 234
	nigerianLength = 10 // digits of a mobile number without 0 or 234
)

// nigerianMobile parses the spellings of a Nigerian mobile number: with 234, with 0,
// with both or with neither. It is false for everything else, which is then left to
// the library.
func nigerianMobile(d rawNumber) (Number, bool) {
	rest := d.digits[:d.n]
	if d.international || len(rest) > nigerianLength+1 {
		var ok bool
		if rest, ok = bytes.CutPrefix(rest, []byte("234")); !ok {
			return Number{}, false
		}
	}
	if len(rest) == nigerianLength+1 && rest[0] == '0' {
		rest = rest[1:]
	}
	if len(rest) != nigerianLength {
		return Number{}, false
	}
	national := int64(0)
	for _, c := range rest {
		national = national*10 + int64(c-'0')
	}
	if !isNigerianMobile(national) {
		return Number{}, false
	}
	const nationals = 10_000_000_000
	return Number{digits: nigeria*nationals + national}, true
}

// isNigerianMobile reports whether a national number of ten digits is a mobile
// number, by the same plan as the library's. A test compares all ten thousand
// four-digit prefixes with the library, and fails when a new version of the library
// adds a range.
func isNigerianMobile(national int64) bool {
	first4 := national / 1_000_000
	switch first3 := first4 / 10; {
	case first3 == 702:
		return first4 != 7023
	case first3 == 819:
		return first4 <= 8191
	case first3 >= 701 && first3 <= 729,
		first3 >= 801 && first3 <= 818,
		first3 >= 901 && first3 <= 909,
		first3 >= 911 && first3 <= 916:
		return true
	default:
		return false
	}
}
