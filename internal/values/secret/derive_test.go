package secret_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// A failure to hash is never the answer that a password is wrong, and says when to
// try again.
func TestFailureToDeriveIsNoWrongPassword(t *testing.T) {
	t.Parallel()

	p := secret.NewPasswords(peppers(t, "the only pepper of this test, 32 bytes"), low, 1, 1)
	hash := mustHash(t, p, "password")
	gone := errors.New("the process has ended")
	p.Derive = func(secret.Derivation) ([]byte, error) { return nil, secret.NoHashing(gone) }
	_, checked := p.Check(t.Context(), hash, "password")
	_, hashed := p.Hash(t.Context(), secret.TestAccount, "password")
	for _, err := range []error{checked, hashed} {
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.Unavailable || f.RetryAfter < time.Second || !errors.Is(err, gone) {
			t.Errorf("without a process: %v", err)
		}
	}
	if n := p.InFlight(); n != 0 {
		t.Errorf("%d slots are still taken", n)
	}
}

// A derivation that no stored hash can need is refused before any work.
func TestDeriveKeyRefusesWhatIsOutOfBounds(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*secret.Derivation){
		"no thread":     func(d *secret.Derivation) { d.Cost.Threads = 0 },
		"many threads":  func(d *secret.Derivation) { d.Cost.Threads = 17 },
		"no pass":       func(d *secret.Derivation) { d.Cost.Time = 0 },
		"many passes":   func(d *secret.Derivation) { d.Cost.Time = 17 },
		"little memory": func(d *secret.Derivation) { d.Cost.MemoryKiB = 7 },
		"huge memory":   func(d *secret.Derivation) { d.Cost.MemoryKiB = 256<<10 + 1 },
		"short salt":    func(d *secret.Derivation) { d.Salt = d.Salt[:7] },
		"long salt":     func(d *secret.Derivation) { d.Salt = make([]byte, 65) },
		"short key":     func(d *secret.Derivation) { d.KeyLen = 15 },
		"long key":      func(d *secret.Derivation) { d.KeyLen = 65 },
	} {
		d := secret.Derivation{Password: []byte("password"), Salt: []byte(strings.Repeat("s", 16)), Cost: low, KeyLen: 32}
		if _, err := secret.DeriveKey(d); err != nil {
			t.Fatal(err)
		}
		change(&d)
		if key, err := secret.DeriveKey(d); err == nil || key != nil {
			t.Errorf("%s: DeriveKey = %x, %v", name, key, err)
		}
	}
}
