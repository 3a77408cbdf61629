package phone

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// disagreement says how the short way and the library differ about s; empty when
// they do not. What the short way reads, the library must read alike; and a mobile
// number that only the library makes out of an odd spelling must be one that the
// short way knows in its plain spelling.
func disagreement(r *Region, s string) string {
	d, ok := read(s)
	if !ok {
		return ""
	}
	full, mobile, err := r.lookUp(d)
	quick, known := nigerianMobile(d)
	if !known && mobile {
		if plain, ok := read(full.E164()); ok {
			quick, known = nigerianMobile(plain)
		}
	}
	if known != mobile || known && (err != nil || quick != full) {
		return fmt.Sprintf("%q: the short way says %d, %v; the library %d, mobile %v, %v", s, quick.Int(), known, full.Int(), mobile, err)
	}
	return ""
}

// All ten thousand beginnings of a Nigerian number are judged as the library judges
// them, each in one of the forms, so that an update of the library cannot change
// answers unnoticed.
func TestShortWayKnowsThePlan(t *testing.T) {
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

// Any mobile number in any form and punctuation is read the short way, as the same
// number that the library reads.
func TestShortWayAgreesOnSpellings(t *testing.T) {
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
		d, ok := read(s)
		if !ok {
			t.Fatalf("read(%q) refuses", s)
		}
		if n, ok := nigerianMobile(d); !ok || n.E164() != "+234"+national {
			t.Fatalf("nigerianMobile(%q) = %d, %v", s, n.Int(), ok)
		}
		if diff := disagreement(r, s); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Any digits at all, near a Nigerian number or not, are judged alike.
func TestShortWayAgreesOnDigits(t *testing.T) {
	t.Parallel()

	r := &Region{code: "NG"}
	digits := rapid.StringMatching(`(\+|00)?(234)?0?0?[0-9]{0,14}`)
	rapid.Check(t, func(t *rapid.T) {
		if diff := disagreement(r, digits.Draw(t, "digits")); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The short way and the library never disagree.
func FuzzShortWay(f *testing.F) {
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
