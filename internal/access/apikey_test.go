package access_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// The mode of a key is visible to people in its prefix and stored for the
// service. Neither kind can be mistaken for the other.
func TestLiveAndTestKeysAreDistinguished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, _ := w.key(t)
	for mode, prefix := range map[string]secret.Prefix{access.Live: secret.LiveKey, access.Test: secret.TestKey} {
		key, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: mode, Purpose: "trial"}, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		who, err := w.Authenticate(t.Context(), key.Text.Reveal(), here)
		if err != nil || who.Mode != mode || who.Purpose != "other" || who.PurposeText != "trial" || who.Entity != bank.ID || !strings.HasPrefix(key.Text.Reveal(), string(prefix)) {
			t.Errorf("a %s key begins with %.8s and is admitted with the mode %q, %v", mode, key.Text.Reveal(), who.Mode, err)
		}
	}
}

// A key with networks is accepted from those and from nowhere else, and the
// error does not say why.
func TestKeyIsAcceptedOnlyFromItsNetworks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, _ := w.key(t)
	networks := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	key, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Live, Networks: networks}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]bool{
		"192.0.2.1": true, "192.0.2.255": true, "192.0.3.1": false, "::ffff:192.0.2.9": true, "2001:db8:1::1": true, "2001:db9::1": false, "127.0.0.1": false,
	} {
		who, err := w.Authenticate(t.Context(), key.Text.Reveal(), netip.MustParseAddr(from))
		if (err == nil) != want || err != nil && !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("from %s: %v, want it to open: %v", from, err, want)
		}
		if err == nil && who.From != netip.MustParseAddr(from) {
			t.Errorf("the caller from %s is said to be at %s", from, who.From)
		}
	}
	if _, err := w.Authenticate(t.Context(), key.Text.Reveal(), netip.Addr{}); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("from nowhere: %v, want it refused", err)
	}
	loose := []netip.Prefix{netip.MustParsePrefix("192.0.2.7/24")}
	if _, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Live, Networks: loose}, access.Operator, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a network with bits behind its length: %v, want it refused", err)
	}
}

// A rolled key works during the overlap beside its successor, which has the
// same rights; then only the successor works. A key has one successor.
func TestRolledKeyEndsAfterTheOverlap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, _ := w.key(t)
	form := access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Live, Purpose: "kyc", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Rate: 7, Burst: 9}
	old, err := w.CreateKey(t.Context(), form, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.RollKey(t.Context(), uuid.New(), old.ID, time.Hour, access.Operator, uuid.Nil); !errors.Is(err, access.ErrNoKey) {
		t.Errorf("somebody else rolls it: %v, want ErrNoKey", err)
	}
	if _, err := w.RollKey(t.Context(), bank.ID, old.ID, 8*24*time.Hour, access.Operator, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("an overlap of eight days: %v, want it refused", err)
	}
	next, err := w.RollKey(t.Context(), bank.ID, old.ID, time.Hour, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	before, err1 := w.Authenticate(t.Context(), old.Text.Reveal(), here)
	after, err2 := w.Authenticate(t.Context(), next.Text.Reveal(), here)
	before.ID, after.ID = uuid.Nil, uuid.Nil
	if err1 != nil || err2 != nil || before.Entity != after.Entity || before.Purpose != after.Purpose || before.PurposeText != after.PurposeText || before.Limits != after.Limits || after.Limits.KeyRate != 7 {
		t.Errorf("the key is %+v (%v) and its successor %+v (%v), want the same rights", before, err1, after, err2)
	}
	if _, err := w.RollKey(t.Context(), bank.ID, old.ID, 0, access.Operator, uuid.Nil); !errors.Is(err, access.ErrRolled) {
		t.Errorf("rolled twice: %v, want ErrRolled", err)
	}
	w.clock = w.clock.Add(time.Hour + time.Second)
	if w.admits(t, old.Text) || !w.admits(t, next.Text) {
		t.Error("after the overlap the old key still opens, or its successor does not")
	}
	last, err := w.RollKey(t.Context(), bank.ID, next.ID, 0, access.Operator, uuid.Nil)
	if err != nil || w.admits(t, next.Text) || !w.admits(t, last.Text) {
		t.Errorf("without overlap the old key still opens, or its successor does not (%v)", err)
	}
}

// A live key expires after a year unless its creator chooses otherwise, a test key does
// not; and a successor has the lifetime of its predecessor, from the day on which it
// was rolled.
func TestLiveKeysExpireAfterAYear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, _ := w.key(t)
	for name, tc := range map[string]struct {
		form access.KeyForm
		want time.Duration // 0: never
	}{
		"live":           {access.KeyForm{Mode: access.Live}, access.LiveLifetime},
		"live, 30 days":  {access.KeyForm{Mode: access.Live, Expires: access.Days(30)}, 30 * 24 * time.Hour},
		"live, for ever": {access.KeyForm{Mode: access.Live, Expires: access.Days(0)}, 0},
		"test":           {access.KeyForm{Mode: access.Test}, 0},
		"test, 30 days":  {access.KeyForm{Mode: access.Test, Expires: access.Days(30)}, 30 * 24 * time.Hour},
	} {
		tc.form.Entity, tc.form.Name = bank.ID, "app"
		key, err := w.CreateKey(t.Context(), tc.form, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		made := w.clock
		w.clock = w.clock.Add(20 * 24 * time.Hour)
		next, err := w.RollKey(t.Context(), bank.ID, key.ID, 0, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		chain, err := w.Key(t.Context(), bank.ID, next.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := chain.Key.ExpiresAt; tc.want == 0 != got.IsZero() || tc.want != 0 && got.Sub(w.clock).Round(time.Minute) != tc.want {
			t.Errorf("%s: the successor of %s, of %s, expires at %s", name, made, w.clock, got)
		}
	}
}

// Of many attempts to roll a key at the same moment one succeeds, and the others are
// told that the key has a successor, with an overlap and without.
func TestParallelRollsMakeOneSuccessor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, _ := w.key(t)
	for _, overlap := range []time.Duration{time.Hour, 0} {
		for range 4 {
			old, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Live}, access.Operator, uuid.Nil)
			if err != nil {
				t.Fatal(err)
			}
			errs := make([]error, 32)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() { _, errs[i] = w.RollKey(t.Context(), bank.ID, old.ID, overlap, access.Operator, uuid.Nil) })
			}
			all.Wait()
			rolled := 0
			for _, err := range errs {
				switch {
				case err == nil:
					rolled++
				case !errors.Is(err, access.ErrRolled):
					t.Errorf("with an overlap of %s: %v, want ErrRolled", overlap, err)
				}
			}
			if rolled != 1 {
				t.Errorf("with an overlap of %s, %d of 32 attempts succeeded, want 1", overlap, rolled)
			}
		}
	}
}

// An entity that CheckNewKey refuses gets no live key, neither new nor by
// rolling; its existing keys keep working.
func TestLiveKeyIsRefusedByCheckNewKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, old := w.key(t)
	keys, err := w.Keys(t.Context(), bank.ID)
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	missing := fault.New(fault.IncompatibleState, "Upload the licence.")
	w.CheckNewKey = func(_ context.Context, _ pg.DB, entity uuid.UUID) error {
		if entity != bank.ID {
			t.Errorf("asked for %s", entity)
		}
		return missing
	}
	if _, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Live}, access.Operator, uuid.Nil); !errors.Is(err, missing) {
		t.Errorf("a live key: %v", err)
	}
	if _, err := w.RollKey(t.Context(), bank.ID, keys[0].ID, 0, access.Operator, uuid.Nil); !errors.Is(err, missing) {
		t.Errorf("rolled: %v", err)
	}
	if _, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Test}, access.Operator, uuid.Nil); err != nil {
		t.Errorf("a test key: %v", err)
	}
	if keys, err = w.Keys(t.Context(), bank.ID); err != nil || len(keys) != 2 || !w.admits(t, old.Text) {
		t.Errorf("%d keys, %v; or the old one does not open any more", len(keys), err)
	}
}

// A person gets a live key, or its successor, only if CheckKeyMaker accepts their
// account, and nobody does while there is no such check. Test keys, and keys of the
// operator, do not depend on it.
func TestLiveKeyOfAPersonIsRefusedByCheckKeyMaker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, old := w.key(t)
	person := audit.Actor{Kind: audit.Account, ID: uuid.New()}
	live, test := access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Live}, access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Test}
	if _, err := w.CreateKey(t.Context(), live, person, uuid.Nil); err == nil {
		t.Error("a live key was created without a check")
	}
	incomplete := fault.New(fault.IncompleteAccount, "Confirm your address.")
	w.CheckKeyMaker = func(_ context.Context, _ pg.DB, account uuid.UUID) error {
		if account != person.ID {
			t.Errorf("asked for %s", account)
		}
		return incomplete
	}
	if _, err := w.CreateKey(t.Context(), live, person, uuid.Nil); !errors.Is(err, incomplete) {
		t.Errorf("a live key: %v", err)
	}
	if _, err := w.RollKey(t.Context(), bank.ID, old.ID, 0, person, uuid.Nil); !errors.Is(err, incomplete) {
		t.Errorf("rolled: %v", err)
	}
	if _, err := w.CreateKey(t.Context(), test, person, uuid.Nil); err != nil {
		t.Errorf("a test key: %v", err)
	}
	if _, err := w.CreateKey(t.Context(), live, access.Operator, uuid.Nil); err != nil {
		t.Errorf("a live key of the operator: %v", err)
	}
	w.CheckKeyMaker = func(context.Context, pg.DB, uuid.UUID) error { return nil }
	if _, err := w.CreateKey(t.Context(), live, person, uuid.Nil); err != nil {
		t.Errorf("a live key of somebody with a complete account: %v", err)
	}
}

// The last use of a key is known to the minute, without a write for each use;
// and a used key is stored under the newest pepper, so that older ones can be
// retired.
func TestLastUseOfAKeyIsStoredByTheMinute(t *testing.T) {
	t.Parallel()
	const older, newer secret.Text = "the pepper of last year, long enough.", "the pepper of this year, long enough."
	w := newWorld(t, older)
	bank, key := w.key(t)
	row := func() access.KeyRow {
		t.Helper()
		rows, err := w.Keys(t.Context(), bank.ID)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d keys, %v", len(rows), err)
		}
		return rows[0]
	}
	first := row()
	if first.LastUsedAt.IsZero() || first.LastUsedFrom != "127.0.0.1" {
		t.Errorf("last used at %s from %q", first.LastUsedAt, first.LastUsedFrom)
	}
	for _, tc := range []struct {
		later time.Duration
		noted bool
	}{{30 * time.Second, false}, {31 * time.Second, true}} {
		w.clock = w.clock.Add(tc.later)
		if !w.admits(t, key.Text) || row().LastUsedAt.After(first.LastUsedAt) != tc.noted {
			t.Errorf("%s later: noted again %v, want %v", tc.later, !tc.noted, tc.noted)
		}
	}
	for _, list := range [][]secret.Text{{newer, older}, {newer}} {
		peppers, err := secret.NewPeppers(list)
		if err != nil {
			t.Fatal(err)
		}
		w.Peppers = peppers
		if !w.admits(t, key.Text) {
			t.Errorf("with %d peppers the key is refused", len(list))
		}
	}
}

// A client has at most two secrets; both work, and a revoked one does not.
func TestSecretsOfAClientAreRotated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, err := w.CreateClient(t.Context(), access.ClientForm{Name: "c", Scopes: []string{"entity:onboard"}}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := w.AddSecret(t.Context(), c.ID, "", access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddSecret(t.Context(), c.ID, "", access.Operator, uuid.Nil); !errors.Is(err, access.ErrSecrets) {
		t.Errorf("a third secret: %v, want ErrSecrets", err)
	}
	buys := func(text secret.Text) bool {
		_, err := w.IssueToken(t.Context(), c.ID.String(), text, nil)
		return err == nil
	}
	if !buys(c.Secret) || !buys(second.Text) {
		t.Error("one of two secrets buys nothing")
	}
	secrets, err := w.Secrets(t.Context(), c.ID)
	if err != nil || len(secrets) != 2 || secrets[1].ID != second.ID || secrets[1].LastUsedAt.IsZero() {
		t.Fatalf("the secrets are %+v, %v", secrets, err)
	}
	if err := w.RevokeSecret(t.Context(), c.ID, secrets[0].ID, access.Operator, uuid.Nil); err != nil || buys(c.Secret) || !buys(second.Text) {
		t.Errorf("after the first was revoked (%v), it buys: %v, and the second: %v", err, buys(c.Secret), buys(second.Text))
	}
	if err := w.RevokeSecret(t.Context(), uuid.New(), second.ID, access.Operator, uuid.Nil); !errors.Is(err, access.ErrNoSecret) {
		t.Errorf("another client's secret: %v, want ErrNoSecret", err)
	}
}

// A token can be revoked by its client and by no other.
func TestTokenIsRevokedByItsClientOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var c [2]access.NewClient
	for i := range c {
		var err error
		if c[i], err = w.CreateClient(t.Context(), access.ClientForm{Name: "c", Scopes: []string{"entity:onboard"}}, access.Operator, uuid.Nil); err != nil {
			t.Fatal(err)
		}
	}
	token, err := w.IssueToken(t.Context(), c[0].ID.String(), c[0].Secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	revoke := func(i int, text secret.Text) error {
		return w.RevokeToken(t.Context(), c[i].ID.String(), c[i].Secret, text, here, uuid.Nil)
	}
	if err := revoke(1, token.Text); err != nil || !w.admits(t, token.Text) {
		t.Errorf("another client gives it back: %v, and it opens no more", err)
	}
	if err := errors.Join(revoke(0, token.Text), revoke(0, token.Text), revoke(0, "nonsense")); err != nil || w.admits(t, token.Text) {
		t.Errorf("its client gives it back: %v, and it still opens", err)
	}
	if err := w.RevokeToken(context.Background(), c[0].ID.String(), c[1].Secret, token.Text, here, uuid.Nil); !errors.Is(err, access.ErrBadClient) {
		t.Errorf("with the wrong secret: %v, want ErrBadClient", err)
	}
}
