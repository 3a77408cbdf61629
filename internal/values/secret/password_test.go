package secret_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// low keeps the tests fast; the form is the same at any cost.
var low = secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}

// A hash matches its own password and no other, contains its cost, and two
// hashes of one password differ.
func TestHashFitsItsPassword(t *testing.T) {
	t.Parallel()

	p := secret.NewPasswords(peppers(t, "the only pepper of this test, 32 bytes"), low, 0, 0)
	for _, password := range []secret.Text{"", "correct horse", "ọ̀rọ̀ aṣínà", secret.Text(strings.Repeat("x", 4096))} {
		hash := mustHash(t, p, password)
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=1,p=1,keyid=") {
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

	hash := mustHash(t, secret.NewPasswords(peppers(t, "the only pepper of this test, 32 bytes"), secret.Cost{}, 1, 1), "password")
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1,keyid=") {
		t.Errorf("hash = %q", hash)
	}
}

// The key is that of the argon2 reference implementation (its own test vectors).
func TestDeriveKeyKnownVectors(t *testing.T) {
	t.Parallel()

	for want, threads := range map[string]uint8{"nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4": 1, "bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc": 2} {
		key, err := secret.DeriveKey(secret.Derivation{
			Password: []byte("password"), Salt: []byte("somesalt"), Cost: secret.Cost{MemoryKiB: 256, Time: 2, Threads: threads}, KeyLen: 32,
		})
		if got := base64.RawStdEncoding.EncodeToString(key); got != want || err != nil {
			t.Errorf("with %d threads: %s, %v", threads, got, err)
		}
	}
}

// A hash verifies for its own account and under its own pepper only: copied to the row
// of another account, or computed without the pepper, it does not.
func TestHashBelongsToItsAccountAndPepper(t *testing.T) {
	t.Parallel()

	const older, newer = "an older pepper of this test, 32 bytes", "the newest pepper of this test, 32 bytes"
	before := secret.NewPasswords(peppers(t, older), low, 1, 1)
	after := secret.NewPasswords(peppers(t, newer, older), low, 1, 1)
	other := secret.NewPasswords(peppers(t, newer), low, 1, 1)
	hash := mustHash(t, before, "password")
	renewed := mustHash(t, after, "password")
	withoutPepper := func(input string) string { // what somebody can compute who reads only the database
		salt := []byte("0123456789abcdef")
		key, err := secret.DeriveKey(secret.Derivation{Password: []byte(input), Salt: salt, Cost: low, KeyLen: 32})
		if err != nil {
			t.Fatal(err)
		}
		b64 := base64.RawStdEncoding.EncodeToString
		return strings.Join(append(strings.Split(hash, "$")[:4], b64(salt), b64(key)), "$")
	}
	for _, tc := range []struct {
		name     string
		p        *secret.Passwords
		hash     string
		account  uuid.UUID
		want     bool
		outdated bool
	}{
		{"its own", before, hash, secret.TestAccount, true, false},
		{"after a rotation", after, hash, secret.TestAccount, true, true},
		{"renewed", after, renewed, secret.TestAccount, true, false},
		{"renewed, with the newest pepper alone", other, renewed, secret.TestAccount, true, false},
		{"copied to another account", before, hash, uuid.Max, false, false},
		{"of a pepper that was removed", other, hash, secret.TestAccount, false, false},
		{"of a pepper that is not there yet", before, renewed, secret.TestAccount, false, false},
		{"of the bare password", before, withoutPepper("password"), secret.TestAccount, false, false},
		{"of the password and the account", before, withoutPepper(string(secret.TestAccount[:]) + "password"), secret.TestAccount, false, false},
		{"of no pepper at all", before, strings.Replace(withoutPepper("password"), hash[strings.Index(hash, ",keyid="):strings.LastIndex(hash[:strings.LastIndex(hash, "$")], "$")], "", 1), secret.TestAccount, false, false},
	} {
		leave, err := tc.p.Enter(t.Context(), secret.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := tc.p.Matches(tc.hash, tc.account, "password")
		leave()
		if got != tc.want || err != nil || tc.p.Outdated(tc.hash) != tc.outdated {
			t.Errorf("%s: Matches = %v, %v; Outdated = %v", tc.name, got, err, tc.p.Outdated(tc.hash))
		}
	}
}

// A damaged or absurd hash matches nothing, and costs no more than any other.
func TestAbsurdHashesMatchNothing(t *testing.T) {
	t.Parallel()

	const key = "nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
	p := secret.NewPasswords(peppers(t, "the only pepper of this test, 32 bytes"), low, 1, 100)
	version := strings.Split(strings.Split(mustHash(t, p, "password"), "$")[3], "keyid=")[1]
	salt := ",keyid=" + version + "$c29tZXNhbHQ"
	for name, hash := range map[string]string{
		"plain text":     "password",
		"other function": "$argon2i$v=19$m=256,t=2,p=1" + salt + "$" + key,
		"other version":  "$argon2id$v=16$m=256,t=2,p=1" + salt + "$" + key,
		"huge memory":    "$argon2id$v=19$m=4294967295,t=2,p=1" + salt + "$" + key,
		"overflow":       "$argon2id$v=19$m=4294967552,t=2,p=1" + salt + "$" + key,
		"little memory":  "$argon2id$v=19$m=8,t=2,p=2" + salt + "$" + key,
		"endless":        "$argon2id$v=19$m=256,t=4294967295,p=1" + salt + "$" + key,
		"no pass":        "$argon2id$v=19$m=256,t=0,p=1" + salt + "$" + key,
		"no thread":      "$argon2id$v=19$m=256,t=2,p=0" + salt + "$" + key,
		"many threads":   "$argon2id$v=19$m=4096,t=2,p=255" + salt + "$" + key,
		"thread wraps":   "$argon2id$v=19$m=4096,t=2,p=257" + salt + "$" + key,
		"other order":    "$argon2id$v=19$t=2,m=256,p=1" + salt + "$" + key,
		"missing cost":   "$argon2id$v=19$m=256,t=2" + salt + "$" + key,
		"no salt":        "$argon2id$v=19$m=256,t=2,p=1,keyid=" + version + "$$" + key,
		"no key":         "$argon2id$v=19$m=256,t=2,p=1" + salt + "$",
		"long key":       "$argon2id$v=19$m=256,t=2,p=1" + salt + "$" + strings.Repeat("A", 88),
		"not base64":     "$argon2id$v=19$m=256,t=2,p=1" + salt + "$" + "!" + key[1:],
		"trailing":       "$argon2id$v=19$m=256,t=2,p=1" + salt + "$" + key + "$",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ok, err := p.Check(t.Context(), hash, "password")
			if ok || err != nil {
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
		p := secret.NewPasswords(peppers(t, "the only pepper of this test, 32 bytes"), cost, 1, 1)
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
	p := secret.NewPasswords(peppers(t, "the only pepper of this test, 32 bytes"), low, 1, 1)
	if _, err := p.Hash(ctx, secret.TestAccount, "password"); fault.CodeOf(err) != fault.Unavailable || !errors.Is(err, gone) {
		t.Errorf("Hash: %v", err)
	}
	if _, err := p.Check(ctx, "", "password"); fault.CodeOf(err) != fault.Unavailable || !errors.Is(err, gone) {
		t.Errorf("Check: %v", err)
	}
}

func mustHash(t *testing.T, p *secret.Passwords, password secret.Text) string {
	t.Helper()
	hash, err := p.Hash(t.Context(), secret.TestAccount, password)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func peppers(t *testing.T, list ...secret.Text) *secret.Peppers {
	t.Helper()
	p, err := secret.NewPeppers(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
