package phone

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// disagreement describes how the fast path and the library differ about s; it is empty
// when they agree. A number that the fast path accepts must be the same in the library;
// and a mobile number that only the library finds in an unusual spelling must be one
// that the fast path accepts in its usual spelling.
func disagreement(r *Region, s string) string {
	d, ok := stripPunctuation(s)
	if !ok {
		return ""
	}
	full, mobile, err := r.parseWithLibrary(d)
	fast, known := nigerianMobile(d)
	if !known && mobile {
		if plain, ok := stripPunctuation(full.E164()); ok {
			fast, known = nigerianMobile(plain)
		}
	}
	if known != mobile || known && (err != nil || fast != full) {
		return fmt.Sprintf("%q: the fast path gives %d, %v; the library %d, mobile %v, %v", s, fast.Int(), known, full.Int(), mobile, err)
	}
	return ""
}

// For all ten thousand four-digit prefixes of Nigerian numbers the fast path agrees with
// the library, each in one of the formats, so that an update of the library cannot
// change results unnoticed.
func TestFastPathAgreesOnThePlan(t *testing.T) {
	t.Parallel()

	r := &Region{code: "NG"}
	forms := []string{"+234", "234", "0", "", "+2340"}
	for first4 := range 10_000 {
		s := fmt.Sprintf("%s%04d%06d", forms[first4%len(forms)], first4, (first4*7919)%1_000_000)
		if diff := disagreement(r, s); diff != "" {
			t.Error(diff)
		}
	}
}

// The fast path parses any mobile number, in any format and punctuation, to the same
// number as the library.
func TestFastPathAgreesOnSpellings(t *testing.T) {
	t.Parallel()

	r := &Region{code: "NG"}
	rapid.Check(t, func(t *rapid.T) {
		national := rapid.StringMatching(`(70[1456789]|71[0-9]|72[0-9]|80[1-9]|81[0-8]|90[1-9]|91[1-6])[0-9]{7}`).Draw(t, "national")
		form := rapid.SampledFrom([]string{"+234", "234", "00234", "0", "", "+2340", "002340", "2340"}).Draw(t, "form")
		marks := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "", "", " ", "-", ".", "(", ")", "[", "]"}), 18, 18).Draw(t, "marks")
		var b strings.Builder
		for i, c := range form + national {
			b.WriteString(marks[i])
			b.WriteRune(c)
		}
		s := b.String()
		if len(s) > maxSpelling {
			t.Skip("too long")
		}
		d, ok := stripPunctuation(s)
		if !ok {
			t.Fatalf("stripPunctuation(%q) refuses", s)
		}
		if n, ok := nigerianMobile(d); !ok || n.E164() != "+234"+national {
			t.Fatalf("nigerianMobile(%q) = %d, %v", s, n.Int(), ok)
		}
		if diff := disagreement(r, s); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The fast path agrees with the library on arbitrary digits.
func TestFastPathAgreesOnDigits(t *testing.T) {
	t.Parallel()

	r := &Region{code: "NG"}
	digits := rapid.StringMatching(`(\+|00)?(234)?0?0?[0-9]{0,14}`)
	rapid.Check(t, func(t *rapid.T) {
		if diff := disagreement(r, digits.Draw(t, "digits")); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The fast path and the library never disagree.
func FuzzFastPath(f *testing.F) {
	for _, s := range []string{
		"+2348031234567", "08031234567", "8031234567", "002348031234567", "23408031234567",
		"+234 (0) 702 312 3456", "0819 212 3456", "2342348031234567", "234007010000000", "009234803123456", "+44 7911 123456",
	} {
		f.Add(s)
	}
	r := &Region{code: "NG"}
	f.Fuzz(func(t *testing.T, s string) {
		if diff := disagreement(r, s); diff != "" {
			t.Error(diff)
		}
	})
}
