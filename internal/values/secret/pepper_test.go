package secret_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// What is stored stays valid: the sums and the version of a pepper, as another program
// computes them (Python's hmac: HKDF-SHA-256, then HMAC-SHA-256 over each part after its length).
func TestSignKnownVectors(t *testing.T) {
	t.Parallel()

	p := peppers(t, secret.Text(strings.Repeat("p", 32)))
	for name, got := range map[string][]byte{
		"ad0aabb3a4dde8713ca2d1e1b797e83f8125246bad2ee9534639f1f3b8fd7fd8":             p.Sign(secret.ForCredentials, "lp_live_x"),
		"0d2daab723488b4ae1911d18d6e13cdab700c50187e6a9dc4a3066c282080c9b":             p.Sign(secret.ForAttempts, "network", "", "10.0.0.0/24"),
		"2da22747249fd5bb850a962f2f0c1a2b8be13c1130d5e461fb0ab60941c6aafe4aa18f7441f8": p.SignRow("account", []byte{1, 2, 3}),
	} {
		if hex.EncodeToString(got) != name {
			t.Errorf("got %x, want %s", got, name)
		}
	}
}

// Each purpose has sums of its own, and no other parts have the sum of these.
func TestSumBelongsToItsPurposeAndParts(t *testing.T) {
	t.Parallel()

	p, seen := peppers(t, secret.Text(strings.Repeat("p", 32))), map[string]string{}
	for purpose := secret.ForCredentials; purpose <= secret.ForPepperMarks; purpose++ {
		for _, parts := range [][]string{{}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"\x02ab"}, {"a\x01b"}} {
			name, sum := fmt.Sprintf("%d %q", purpose, parts), string(p.Sign(purpose, parts...))
			if other, ok := seen[sum]; ok {
				t.Errorf("%s and %s have the same sum", name, other)
			}
			seen[sum] = name
		}
	}
}

// What is sealed opens under any pepper of the list, in its box and with its context only.
func TestSealedOpensOnlyAsItWasSealed(t *testing.T) {
	t.Parallel()

	const older, newer secret.Text = "the older pepper, which is long enough", "the newer pepper, which is long enough"
	one, both, other := peppers(t, older), peppers(t, newer, older), peppers(t, newer)
	sealed := one.Seal(secret.WebhookKeys, "a key", "a", "b")
	if bytes.Contains(sealed, []byte("a key")) || bytes.Equal(sealed, one.Seal(secret.WebhookKeys, "a key", "a", "b")) {
		t.Error("the text shows, or the same text looks the same")
	}
	for name, c := range map[string]struct {
		keys     *secret.Peppers
		box      secret.Box
		sealed   []byte
		context  []string
		opens    bool
		outdated bool
	}{
		"as sealed":          {one, secret.WebhookKeys, sealed, []string{"a", "b"}, true, false},
		"after a rotation":   {both, secret.WebhookKeys, sealed, []string{"a", "b"}, true, true},
		"a retired pepper":   {other, secret.WebhookKeys, sealed, []string{"a", "b"}, false, false},
		"another box":        {one, secret.SignIns, sealed, []string{"a", "b"}, false, false},
		"another context":    {one, secret.WebhookKeys, sealed, []string{"ab"}, false, false},
		"no context":         {one, secret.WebhookKeys, sealed, nil, false, false},
		"nothing":            {one, secret.WebhookKeys, nil, []string{"a", "b"}, false, false},
		"only a nonce":       {one, secret.WebhookKeys, sealed[:12], []string{"a", "b"}, false, false},
		"a bit that differs": {one, secret.WebhookKeys, append(bytes.Clone(sealed[:len(sealed)-1]), sealed[len(sealed)-1]^1), []string{"a", "b"}, false, false},
	} {
		text, outdated, err := c.keys.Open(c.box, c.sealed, c.context...)
		if (err == nil) != c.opens || outdated != c.outdated || c.opens && text != "a key" {
			t.Errorf("%s: %q, %t, %v", name, text.Reveal(), outdated, err)
		}
	}
}

// What was stored under any pepper of the list is found, the newest first, and
// nothing is signed under an old one.
func TestPeppersRotate(t *testing.T) {
	t.Parallel()

	older, newer := secret.Text(strings.Repeat("o", 32)), secret.Text(strings.Repeat("n", 32))
	before, err := secret.NewPeppers([]secret.Text{older})
	if err != nil {
		t.Fatal(err)
	}
	after, err := secret.NewPeppers([]secret.Text{newer, older})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]byte{after.Sign(secret.ForLinks, "key"), before.Sign(secret.ForLinks, "key")}
	if diff := cmp.Diff(want, after.Candidates(secret.ForLinks, "key")); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
	if bytes.Equal(want[0], want[1]) {
		t.Error("two peppers gave the same sum")
	}
	if got := fmt.Sprintf("%v %+v %#v", after, after, *after); strings.Contains(got, "nnnn") || strings.Contains(got, "oooo") {
		t.Errorf("printed peppers: %s", got)
	}
}

// A pooled state is used by one caller at a time.
func TestSignFromManyGoroutines(t *testing.T) {
	t.Parallel()

	p, err := secret.NewPeppers([]secret.Text{secret.Text(strings.Repeat("p", 32))})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		s := strings.Repeat("x", g)
		want := p.Sign(secret.ForCredentials, s)
		wg.Go(func() {
			for range 200 {
				if !bytes.Equal(p.Sign(secret.ForCredentials, s), want) {
					t.Error("a sum changed under load")
					return
				}
			}
		})
	}
	wg.Wait()
}

// Every problem of the list is reported at once, and none of them shows a
// pepper.
func TestNewPeppersReportsEveryProblem(t *testing.T) {
	t.Parallel()

	good := secret.Text(strings.Repeat("g", 32))
	for name, tc := range map[string]struct {
		list []secret.Text
		want string
	}{
		"none": {nil, "secret: the list of peppers is empty"},
		"short, empty and repeated": {
			[]secret.Text{"short-canary", good, "", good},
			"secret: pepper 1 is shorter than 32 bytes\n" +
				"secret: pepper 3 is shorter than 32 bytes\n" +
				"secret: pepper 4 is in the list twice",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p, err := secret.NewPeppers(tc.list)
			if p != nil || err == nil || err.Error() != tc.want {
				t.Errorf("NewPeppers = %v, %v, want %q", p, err, tc.want)
			}
		})
	}
}

func BenchmarkSign(b *testing.B) {
	p, err := secret.NewPeppers([]secret.Text{secret.Text(strings.Repeat("p", 32))})
	if err != nil {
		b.Fatal(err)
	}
	s := secret.New(secret.LiveKey).Reveal()
	b.ReportAllocs()
	for b.Loop() {
		p.Sign(secret.ForCredentials, s)
	}
}
