package secret_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/secret"
)

// The keyed hash is HMAC-SHA-256: cases 6 and 7 of RFC 4231, whose key is long
// enough to be a pepper.
func TestSignKnownVectors(t *testing.T) {
	t.Parallel()

	p, err := secret.NewPeppers([]secret.Text{secret.Text(strings.Repeat("\xaa", 131))})
	if err != nil {
		t.Fatal(err)
	}
	for message, want := range map[string]string{
		"Test Using Larger Than Block-Size Key - Hash Key First": "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
		"This is a test using a larger than block-size key and a larger than block-size data. " +
			"The key needs to be hashed before being used by the HMAC algorithm.": "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
	} {
		if got := hex.EncodeToString(p.Sign(message)); got != want {
			t.Errorf("Sign(%q) = %s, want %s", message, got, want)
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
	want := [][]byte{after.Sign("key"), before.Sign("key")}
	if diff := cmp.Diff(want, after.Candidates("key")); diff != "" {
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
		want := p.Sign(s)
		wg.Go(func() {
			for range 200 {
				if !bytes.Equal(p.Sign(s), want) {
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
		p.Sign(s)
	}
}
