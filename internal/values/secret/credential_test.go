package secret_test

import (
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/values/secret"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var kinds = []secret.Prefix{
	secret.LiveKey, secret.TestKey, secret.AccessToken, secret.Session, secret.PortalCookie, secret.ClientSecret,
}

// A credential has the form that secret scanners search for, its checksum is
// the CRC-32 of the standard library, and no two are equal.
func TestNewHasTheForm(t *testing.T) {
	t.Parallel()

	seen := map[secret.Text]bool{}
	for _, kind := range kinds {
		form := regexp.MustCompile("^" + string(kind) + "[0-9A-Za-z]{38}$")
		for range 200 {
			made := secret.New(kind)
			s := made.Reveal()
			if !form.MatchString(s) {
				t.Fatalf("New(%s) made %q", kind, s)
			}
			if got, ok := secret.Parse(s); got != kind || !ok {
				t.Fatalf("Parse of a new %s = %q, %v", kind, got, ok)
			}
			if want := inBase62(crc32.ChecksumIEEE([]byte(s[:len(s)-6]))); s[len(s)-6:] != want {
				t.Fatalf("checksum of %q, want %q", s, want)
			}
			if seen[made] {
				t.Fatalf("%q was made twice", s)
			}
			seen[made] = true
		}
	}
}

// Every single wrong character and every swap of two different neighbours is
// rejected without a query.
func TestParseRefusesTypos(t *testing.T) {
	t.Parallel()

	refuse := func(typo string) {
		if kind, ok := secret.Parse(typo); ok || kind != "" {
			t.Errorf("Parse(%q) = %q, %v", typo, kind, ok)
		}
	}
	for _, kind := range kinds {
		for range 20 {
			s := secret.New(kind).Reveal()
			for i := range len(s) {
				for _, c := range base62 + "_- \x00" {
					if byte(c) != s[i] {
						refuse(s[:i] + string(c) + s[i+1:])
					}
				}
				if i > 0 && s[i-1] != s[i] {
					refuse(s[:i-1] + s[i:i+1] + s[i-1:i] + s[i+1:])
				}
				refuse(s[:i] + s[i+1:])
				refuse(s[:i])
				refuse(s[:i] + "0" + s[i:])
			}
			refuse(" " + s)
			refuse(s + "\n")
			refuse(strings.ToUpper(s))
		}
	}
	// The checksum binds the prefix: a session is not a client secret.
	refuse(string(secret.ClientSecret) + strings.TrimPrefix(secret.New(secret.Session).Reveal(), string(secret.Session)))
	refuse("")
}

// No character is favoured. With 64,000 draws a fair one is seen 1,032 times, give
// or take 32; the bounds are at least five of those away, while the modulo of a byte
// without rejection would show the first eight characters about 1,250 times each.
func TestNewIsUnbiased(t *testing.T) {
	t.Parallel()

	count := map[rune]int{}
	for range 2000 {
		for _, c := range secret.New(secret.LiveKey).Reveal()[8:40] {
			count[c]++
		}
	}
	for _, c := range base62 {
		if n := count[c]; n < 800 || n > 1200 {
			t.Errorf("%c was drawn %d times of 64,000", c, n)
		}
	}
}

// Parse runs before every authenticated request and allocates nothing.
func TestParseDoesNotAllocate(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	s := secret.New(secret.LiveKey).Reveal()
	if n := testing.AllocsPerRun(100, func() { secret.Parse(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A page shows enough to tell two keys apart and too little to use one.
func TestPreview(t *testing.T) {
	t.Parallel()

	s := secret.New(secret.TestKey)
	if got, want := secret.Preview(s), "lp_test_"+s.Reveal()[8:12]+"…"+s.Reveal()[42:]; got != want {
		t.Errorf("Preview = %q, want %q", got, want)
	}
	for _, other := range []secret.Text{"", "lp_live_", "correct horse battery staple"} {
		if got := secret.Preview(other); got != "[secret]" {
			t.Errorf("Preview of something else = %q", got)
		}
	}
}

// Whatever Parse accepts is exactly a prefix, 32 characters and their checksum.
func FuzzParse(f *testing.F) {
	for _, kind := range kinds {
		s := secret.New(kind).Reveal()
		f.Add(s)
		f.Add(s[:len(s)-1])
	}
	f.Add("lp_live_" + strings.Repeat("0", 38))
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		kind, ok := secret.Parse(s)
		want := false
		for _, k := range kinds {
			rest, has := strings.CutPrefix(s, string(k))
			want = want || has && len(rest) == 38 && strings.Trim(rest, base62) == "" &&
				rest[32:] == inBase62(crc32.ChecksumIEEE([]byte(s[:len(s)-6])))
		}
		if ok != want || ok != (kind != "") {
			t.Errorf("Parse(%q) = %q, %v", s, kind, ok)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	s := secret.New(secret.LiveKey).Reveal()
	b.ReportAllocs()
	for b.Loop() {
		secret.Parse(s)
	}
}

// inBase62 encodes n in the simple way, for comparison.
func inBase62(n uint32) string {
	var s string
	for ; n > 0; n /= 62 {
		s = base62[n%62:n%62+1] + s
	}
	return fmt.Sprintf("%s%s", strings.Repeat("0", 6-len(s)), s)
}
