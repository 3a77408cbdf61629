package phone_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/values/phone"
)

// spellings are different ways to write the same number.
var spellings = []string{
	"+2348031234567", "2348031234567", "08031234567", "8031234567", "002348031234567",
	"+234 803 123 4567", "+234-803-123-4567", "+234.803.123.4567", "+234 (803) 123 4567", "+234(803)123-4567",
	"+234 (0) 803 123 4567", "+234(0)8031234567", "+234 0803 123 4567", "+23408031234567", "+234 [0] 803 123 4567",
	"(+234) 803 123 4567", "(+234)8031234567", "[+234] 803-1234567", "+ 234 803 123 4567", "+(234) 803 123 4567",
	"234 803 123 4567", "234-803-123-4567", "(234) 803 1234567", "23408031234567", "234 (0) 803 123 4567",
	"0803 123 4567", "0803-123-4567", "0803.123.4567", "(0803) 123 4567", "(0803)123-4567", "[0803] 123 45 67",
	"0 803 123 4567", "0803 1234 567", "080 3123 4567", "0-8-0-3-1-2-3-4-5-6-7", "0803  123  4567",
	"803 123 4567", "803-123-4567", "(803) 123-4567", "803.123.4567",
	"00234 803 123 4567", "00 234 803 123 4567", "00234-803-123-4567", "00234 (0) 803 123 4567", "0023408031234567",
	" +2348031234567", "08031234567 ", "  0803 123 4567  ", "+234 803 - 123 - 4567", "+2348031234567.",
}

// All spellings give the same number.
func TestSpellingsOfOneNumber(t *testing.T) {
	t.Parallel()

	if len(spellings) < 40 {
		t.Fatalf("only %d spellings", len(spellings))
	}
	r := region(t, "NG")
	want, _ := phone.FromInt(2348031234567)
	seen := map[string]bool{}
	for _, s := range spellings {
		if seen[s] {
			t.Errorf("%q is listed twice", s)
		}
		seen[s] = true
		if got, err := r.ParseMobile(s); got != want || err != nil {
			t.Errorf("ParseMobile(%q) = %d, %v", s, got.Int(), err)
		}
		if got, err := r.Parse(s); got != want || err != nil {
			t.Errorf("Parse(%q) = %d, %v", s, got.Int(), err)
		}
	}
}

// Text that is not a number is malformed, even where the library would accept it.
func TestMalformed(t *testing.T) {
	t.Parallel()

	r := region(t, "NG")
	for name, s := range map[string]string{
		"empty":                "",
		"spaces":               "   ",
		"plus only":            "+",
		"zeros only":           "00",
		"many zeros":           "00000000000",
		"too short":            "0803",
		"too long":             "+234803123456789012",
		"33 bytes":             strings.Repeat(" ", 20) + "+234803123456",
		"33 bytes, 13 digits":  "+2348031234567" + strings.Repeat(" ", 19),
		"33 digits":            strings.Repeat("8", 33),
		"two plus signs":       "++2348031234567",
		"plus in the middle":   "0803+1234567",
		"plus after 234":       "234+8031234567",
		"plus at the end":      "2348031234567+",
		"plus before trunk 0":  "+08031234567",
		"plus and 00":          "+002348031234567",
		"zeros too many":       "+234000000000000",
		"unknown country":      "+9998031234567",
		"full-width digits":    "０８０３１２３４５６７",
		"Arabic digits":        "٠٨٠٣١٢٣٤٥٦٧",
		"one full-width digit": "0803123456７",
		"full-width plus":      "＋2348031234567",
		"letters":              "0803CALLME1",
		"vanity letters":       "+1 800 FLOWERS",
		"extension":            "08031234567 ext 5",
		"extension by x":       "08031234567x5",
		"extension by hash":    "08031234567#5",
		"tel address":          "tel:+2348031234567",
		"tel parameters":       "08031234567;ext=5",
		"slash":                "0803/1234567",
		"comma":                "0803,1234567",
		"NUL":                  "08031234567\x00",
		"tab":                  "0803\t1234567",
		"newline":              "08031234567\n",
		"delete":               "08031234567\x7f",
		"no-break space":       "0803\u00a01234567",
		"zero-width space":     "0803\u200b1234567",
		"right-to-left mark":   "\u200f08031234567",
		"en dash":              "0803–1234567",
		"not UTF-8":            "0803\xff1234567",
		"JSON number":          "8.031234567e9",
		"minus":                "−8031234567",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for parse, f := range map[string]func(string) (phone.Number, error){"Parse": r.Parse, "ParseMobile": r.ParseMobile} {
				got, err := f(s)
				if !errors.Is(err, phone.ErrMalformed) || !got.IsZero() {
					t.Errorf("%s(%q) = %d, %v", parse, s, got.Int(), err)
				}
			}
		})
	}
}

// A number that is not a mobile number of the region is accepted by Parse, and refused
// with ErrNotMobile by ParseMobile.
func TestNotMobile(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		region, in string
		want       int64
	}{
		"fixed line in Lagos":        {"NG", "02012345678", 2342012345678},
		"range that is not open":     {"NG", "07000000000", 2347000000000},
		"toll free":                  {"NG", "+234 800 123 4567", 2348001234567},
		"British mobile":             {"NG", "+44 7400 123456", 447400123456},
		"British, trunk zero":        {"NG", "+44 (0) 7400 123456", 447400123456},
		"British, 00":                {"NG", "0044 7400 123456", 447400123456},
		"Italian, zero belongs":      {"NG", "+39 06 6982", 39066982},
		"Ghanaian mobile":            {"NG", "+233 24 412 3456", 233244123456},
		"American":                   {"NG", "+1 212 555 0123", 12125550123},
		"no country (satellite)":     {"NG", "+870 773 111 632", 870773111632},
		"Nigerian mobile from Ghana": {"GH", "+234 803 123 4567", 2348031234567},
		"Isle of Man from Britain":   {"GB", "+44 7624 494 949", 447624494949},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := region(t, tc.region)
			if got, err := r.Parse(tc.in); got.Int() != tc.want || err != nil {
				t.Errorf("Parse(%q) = %d, %v, want %d", tc.in, got.Int(), err, tc.want)
			}
			if got, err := r.ParseMobile(tc.in); !errors.Is(err, phone.ErrNotMobile) || !got.IsZero() {
				t.Errorf("ParseMobile(%q) = %d, %v", tc.in, got.Int(), err)
			}
		})
	}
}

// A number of the region that is not in its plan is a typo, however it is written: a
// bank that accepts "not mobile" must not accept typos with it.
func TestTyposAreMalformed(t *testing.T) {
	t.Parallel()
	r := region(t, "NG")
	for _, s := range []string{
		"0803123456", "+234803123456", "234803123456", "080312345678", "0803123456789", "+23480312345678", "00234803123456", "447400123456",
	} {
		if got, err := r.ParseMobile(s); !errors.Is(err, phone.ErrMalformed) || !got.IsZero() {
			t.Errorf("ParseMobile(%q) = %d, %v, want ErrMalformed", s, got.Int(), err)
		}
	}
}

// Each region accepts its own national formats.
func TestOtherRegions(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		region, in string
		want       int64
	}{
		{"GH", "024 412 3456", 233244123456},
		{"ng", "0803 123 4567", 2348031234567},
		{"GB", "07400 123456", 447400123456},
		{"IN", "098765 43210", 919876543210},
		{"US", "(212) 555-0123", 12125550123},
		{"IT", "312 345 6789", 393123456789},
	} {
		if got, err := region(t, tc.region).ParseMobile(tc.in); got.Int() != tc.want || err != nil {
			t.Errorf("%s: ParseMobile(%q) = %d, %v, want %d", tc.region, tc.in, got.Int(), err, tc.want)
		}
	}
	// 00 is the international prefix of Britain, but a plus sign and 00 together are
	// malformed.
	if got, err := region(t, "GB").Parse("+00447400123456"); !errors.Is(err, phone.ErrMalformed) {
		t.Errorf("GB: Parse of a plus sign and 00 = %d, %v", got.Int(), err)
	}
	for _, code := range []string{"", "N", "XX", "ZZ", "NGA", "001", "ＮＧ"} {
		if r, err := phone.NewRegion(code); r != nil || err == nil {
			t.Errorf("NewRegion(%q) = %v, %v", code, r, err)
		}
	}
}

// The usual spellings are parsed without an allocation, by Parse and ParseMobile.
func TestUsualSpellingsDoNotAllocate(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	r := region(t, "NG")
	for _, s := range []string{"+2348031234567", "08031234567", "00234 803 123 4567", "+234 (0) 803 123 4567"} {
		n := testing.AllocsPerRun(100, func() {
			if _, err := r.ParseMobile(s); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Parse(s); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%q: %v allocations", s, n)
		}
	}
}

// The parser returns no error but its two, its result is valid for FromInt, and the
// E.164 form of the result parses to the same number.
func FuzzParse(f *testing.F) {
	for _, s := range spellings {
		f.Add(s)
	}
	f.Add("+39 06 6982")
	f.Add("+234000000000000")
	f.Add("tel:+234-803;ext=1")
	f.Add("０８０３")
	r, err := phone.NewRegion("NG")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := r.Parse(s)
		m, mobileErr := r.ParseMobile(s)
		if err != nil {
			if !errors.Is(err, phone.ErrMalformed) || !errors.Is(mobileErr, phone.ErrMalformed) || !n.IsZero() || !m.IsZero() {
				t.Fatalf("Parse(%q) = %d, %v; ParseMobile: %v", s, n.Int(), err, mobileErr)
			}
			return
		}
		// A number of the own region must be in the plan, not only of a possible length.
		typo := errors.Is(mobileErr, phone.ErrMalformed) && strings.HasPrefix(n.E164(), "+234")
		if mobileErr == nil && m != n || mobileErr != nil && !errors.Is(mobileErr, phone.ErrNotMobile) && !typo {
			t.Errorf("Parse(%q) = %d, ParseMobile = %d, %v", s, n.Int(), m.Int(), mobileErr)
		}
		if back, ok := phone.FromInt(n.Int()); !ok || back != n {
			t.Errorf("FromInt of %d fails", n.Int())
		}
		if again, err := r.Parse(n.E164()); err != nil || again != n {
			t.Errorf("Parse(%q) = %d, which parses back as %d, %v", s, n.Int(), again.Int(), err)
		}
	})
}

func BenchmarkParseMobile(b *testing.B) {
	r := region(b, "NG")
	for name, s := range map[string]string{"usual": "+2348031234567", "library": "+447400123456"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = r.ParseMobile(s)
			}
		})
	}
}

func region(tb testing.TB, code string) *phone.Region {
	tb.Helper()
	r, err := phone.NewRegion(code)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}
