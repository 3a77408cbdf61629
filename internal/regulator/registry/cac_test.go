package registry_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// Every spelling of one registration has the same class and digits, and the text
// stays as it was sent.
func TestKnownForms(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		class, digits string
		spellings     []string
	}{
		{"RC", "123456", []string{
			"RC123456", "rc123456", "Rc 123456", "RC-123456", "rc-123456", "RC/123456", "RC - 123456", "RC0123456",
			"RC 00123456", "123456", "0123456", "123456 ", "RC123456-", "RC 0000000000123456",
		}},
		{"BN", "1234567", []string{"BN1234567", "bn 1234567", "BN/1234567", "BN-01234567"}},
		{"IT", "7000", []string{"IT7000", "it/7000", "IT 07000"}},
		{"LP", "12", []string{"LP12", "lp-12"}},
		{"LLP", "12", []string{"LLP12", "llp/12", "LLP 000012"}},
		{"RC", "12345678", []string{"RC12345678", "12345678"}},
		{"KD", "23538", []string{"KD023538", "kd023538", "KD 023538", "KD/023538"}},
		{"AB", "123456", []string{"AB123456", "ab-123456"}},
		{"RC", "7", []string{"7", "007", "RC7"}},
	} {
		for _, s := range tc.spellings {
			got, ok := registry.ParseCAC(s)
			if diff := cmp.Diff(registry.CACNumber{Text: s, Class: tc.class, Digits: tc.digits}, got); diff != "" || !ok {
				t.Errorf("Parse(%q) is %v (-want +got):\n%s", s, ok, diff)
			}
		}
	}
}

// A form that nobody described is accepted as it is, without class and digits.
func TestOtherFormsAreKept(t *testing.T) {
	t.Parallel()

	for _, s := range []string{
		"A", "RC", "LLP-", "RC0", "000", "RC 000000", "RC No 123456", "RC12-3456", "12 34", "RC123456A", "123456RC",
		"AB12345", "AB1234567", "ABC123456", "A123456", "RC123456789", "123456789", "CAC/IT/NO 12345", "R C 123456",
		"LAZ 123456", strings.Repeat("9", 32), strings.Repeat("x", 32), "7/7-7 7",
	} {
		got, ok := registry.ParseCAC(s)
		if diff := cmp.Diff(registry.CACNumber{Text: s}, got); diff != "" || !ok {
			t.Errorf("Parse(%q) is %v (-want +got):\n%s", s, ok, diff)
		}
	}
}

// What is not letters, digits, spaces, slashes and dashes, or is too long, or begins
// with a separator, is refused.
func TestRefused(t *testing.T) {
	t.Parallel()

	for _, s := range []string{
		"", " ", "-", " RC123456", "/123456", "-123456", strings.Repeat("9", 33), "RC:123456", "RC.123456", "RC_123456",
		"RC#123456", "RC\t123456", "RC123456\n", "RC123456\x00", "ＲＣ123456", "RC１２３", "РС123456", "RC\u00a0123456",
		"RC–123456", "RC\xff123456", "RC123456'", "<b>", "é123", "123é",
	} {
		if got, ok := registry.ParseCAC(s); ok || got != (registry.CACNumber{}) {
			t.Errorf("Parse(%q) = %+v, %v", s, got, ok)
		}
	}
}

// ParseCAC lets in exactly the documented alphabet, keeps the text, and gives class and
// digits together, in a form that reads back as itself.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"RC123456", "rc - 0042", "123456", "KD023538", "LLP/7", "BN 1234567", "x", "-1", "RC 000", "ＲＣ1", ""} {
		f.Add(s)
	}
	allowed := regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9 /-]{0,31}\z`)
	class := regexp.MustCompile(`\A([A-Z]{2}|LLP)\z`)
	digits := regexp.MustCompile(`\A[1-9][0-9]{0,7}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := registry.ParseCAC(s)
		if ok != allowed.MatchString(s) {
			t.Fatalf("Parse(%q) is %v", s, ok)
		}
		if !ok {
			return
		}
		if n.Text != s {
			t.Errorf("Parse(%q) keeps %q", s, n.Text)
		}
		if n.Class == "" && n.Digits == "" {
			return
		}
		if !class.MatchString(n.Class) || !digits.MatchString(n.Digits) {
			t.Errorf("Parse(%q) = %+v", s, n)
		}
		plain := n.Class + strings.Repeat("0", max(0, 6-len(n.Digits))) + n.Digits // six digits, as the old form wants
		again, ok := registry.ParseCAC(plain)
		if !ok || again.Class != n.Class || again.Digits != n.Digits {
			t.Errorf("Parse(%q) = %+v, which reads back as %+v, %v", s, n, again, ok)
		}
	})
}
