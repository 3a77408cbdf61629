package secret_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/secret"
)

// low keeps the tests fast; the form is the same at any cost.
var low = secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}

// A hash matches its own password and no other, contains its cost, and two
// hashes of one password differ.
func TestHashFitsItsPassword(t *testing.T) {
	t.Parallel()

	p := secret.NewPasswords(low, 0, 0)
	for _, password := range []secret.Text{"", "correct horse", "ọ̀rọ̀ aṣínà", secret.Text(strings.Repeat("x", 4096))} {
		hash := mustHash(t, p, password)
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=1,p=1$") {
			t.Errorf("hash = %q", hash)
		}
		if again := mustHash(t, p, password); again == hash {
			t.Errorf("two hashes are alike: %q", hash)
		}
		for other, want := range map[secret.Text]bool{password: true, password + "x": false, "wrong": false} {
			if got, err := p.Check(t.Context(), hash, other); got != want || err != nil {
				t.Errorf("Check = %v, %v, want %v", got, err, want)
			}
		}
		if got, err := p.Check(t.Context(), "", password); got || err != nil {
			t.Errorf("Check of no account = %v, %v", got, err)
		}
	}
}

// The zero Cost is what production uses.
func TestZeroCostIsTheAdvisedOne(t *testing.T) {
	t.Parallel()

	hash := mustHash(t, secret.NewPasswords(secret.Cost{}, 1, 1), "password")
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("hash = %q", hash)
	}
}

// Hashes of the argon2 reference implementation (its own test vectors) are read
// with the cost that they name, not with ours.
func TestCheckKnownVectors(t *testing.T) {
	t.Parallel()

	p := secret.NewPasswords(low, 1, 1)
	for _, hash := range []string{
		"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
	} {
		if ok, err := p.Check(t.Context(), hash, "password"); !ok || err != nil {
			t.Errorf("Check(%q) = %v, %v", hash, ok, err)
		}
		if ok, err := p.Check(t.Context(), hash, "passwore"); ok || err != nil {
			t.Errorf("Check(%q) of another password = %v, %v", hash, ok, err)
		}
	}
}

// A damaged or absurd hash is rejected before any work, with an error that
// shows nothing of it.
func TestCheckRefusesAbsurdHashes(t *testing.T) {
	t.Parallel()

	const salt, key = "c29tZXNhbHQ", "nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
	p := secret.NewPasswords(low, 1, 1)
	for name, hash := range map[string]string{
		"plain text":     "password",
		"other function": "$argon2i$v=19$m=256,t=2,p=1$" + salt + "$" + key,
		"other version":  "$argon2id$v=16$m=256,t=2,p=1$" + salt + "$" + key,
		"huge memory":    "$argon2id$v=19$m=4294967295,t=2,p=1$" + salt + "$" + key,
		"overflow":       "$argon2id$v=19$m=4294967552,t=2,p=1$" + salt + "$" + key,
		"little memory":  "$argon2id$v=19$m=8,t=2,p=2$" + salt + "$" + key,
		"endless":        "$argon2id$v=19$m=256,t=4294967295,p=1$" + salt + "$" + key,
		"no pass":        "$argon2id$v=19$m=256,t=0,p=1$" + salt + "$" + key,
		"no thread":      "$argon2id$v=19$m=256,t=2,p=0$" + salt + "$" + key,
		"many threads":   "$argon2id$v=19$m=4096,t=2,p=255$" + salt + "$" + key,
		"thread wraps":   "$argon2id$v=19$m=4096,t=2,p=257$" + salt + "$" + key,
		"other order":    "$argon2id$v=19$t=2,m=256,p=1$" + salt + "$" + key,
		"missing cost":   "$argon2id$v=19$m=256,t=2$" + salt + "$" + key,
		"no salt":        "$argon2id$v=19$m=256,t=2,p=1$$" + key,
		"no key":         "$argon2id$v=19$m=256,t=2,p=1$" + salt + "$",
		"long key":       "$argon2id$v=19$m=256,t=2,p=1$" + salt + "$" + strings.Repeat("A", 88),
		"not base64":     "$argon2id$v=19$m=256,t=2,p=1$" + salt + "$" + "!" + key[1:],
		"trailing":       "$argon2id$v=19$m=256,t=2,p=1$" + salt + "$" + key + "$",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ok, err := p.Check(t.Context(), hash, "password")
			if ok || err == nil || fault.CodeOf(err) != fault.Internal || strings.Contains(err.Error(), "$") {
				t.Errorf("Check = %v, %v", ok, err)
			}
		})
	}
}

// Whatever cost is configured, a created hash can be verified.
func TestHashedAtAnyCostCanBeChecked(t *testing.T) {
	t.Parallel()

	for _, cost := range []secret.Cost{
		{MemoryKiB: 1, Time: 1, Threads: 4},
		{MemoryKiB: 64, Time: 1 << 20, Threads: 1},
		{MemoryKiB: 512, Time: 1, Threads: 255},
	} {
		p := secret.NewPasswords(cost, 1, 1)
		if ok, err := p.Check(t.Context(), mustHash(t, p, "password"), "password"); !ok || err != nil {
			t.Errorf("at %+v: Check = %v, %v", cost, ok, err)
		}
	}
}

// A caller whose context has ended costs nothing and gets a fault, not a
// result.
func TestEndedContextIsUnavailable(t *testing.T) {
	t.Parallel()

	gone := errors.New("the caller hung up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	p := secret.NewPasswords(low, 1, 1)
	if _, err := p.Hash(ctx, "password"); fault.CodeOf(err) != fault.Unavailable || !errors.Is(err, gone) {
		t.Errorf("Hash: %v", err)
	}
	if _, err := p.Check(ctx, "", "password"); fault.CodeOf(err) != fault.Unavailable || !errors.Is(err, gone) {
		t.Errorf("Check: %v", err)
	}
}

func mustHash(t *testing.T, p *secret.Passwords, password secret.Text) string {
	t.Helper()
	hash, err := p.Hash(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}
