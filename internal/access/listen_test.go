package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// within waits until a condition becomes true, or fails.
func within(t *testing.T, limit time.Duration, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("not true within %s: %s", limit, what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// node returns another service on the same database, which listens.
func (w *world) node(t *testing.T) *access.Service {
	t.Helper()
	return w.nodeOn(t, w.Pool, nil)
}

func (w *world) nodeOn(t *testing.T, pool *pgxpool.Pool, b *pg.Breaker) *access.Service {
	t.Helper()
	k := &access.Service{
		Pool: pool, Breaker: b, Peppers: w.Peppers, TokenLifetime: w.TokenLifetime, SessionLifetime: w.SessionLifetime, SessionIdle: w.SessionIdle,
		Grace: w.Grace, Now: w.Now,
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		(&pg.Listener{Pool: pool, Breaker: b, Channels: []pg.Channel{k.Channel()}}).Run(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	within(t, 10*time.Second, "it listens", k.Listening)
	return k
}

func accepts(t *testing.T, k *access.Service, text secret.Text) bool {
	t.Helper()
	_, err := k.Authenticate(t.Context(), text.Reveal(), here)
	if err != nil && !errors.Is(err, access.ErrUnauthenticated) {
		t.Fatal(err)
	}
	return err == nil
}

// issued is a token and the secret that it was issued for.
type issued struct {
	secret uuid.UUID
	text   secret.Text
}

// tokenOfOwnSecret gives a client a secret, and returns a token that was issued for it.
func (w *world) tokenOfOwnSecret(t *testing.T, client uuid.UUID) issued {
	t.Helper()
	added, err := w.AddSecret(t.Context(), client, "", access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := w.IssueToken(t.Context(), client.String(), added.Text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return issued{added.ID, token.Text}
}

// Whatever ends a credential, another node is notified, although it answers
// from its cache.
func TestRevocationReachesOtherNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	node := w.node(t)
	bank, key := w.key(t)
	account := w.staff(t)
	client, err := w.CreateClient(t.Context(), access.ClientForm{Name: "c", Scopes: []string{"entity:onboard"}}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	token := func() secret.Text {
		t.Helper()
		issued, err := w.IssueToken(t.Context(), client.ID.String(), client.Secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		return issued.Text
	}
	change := func(sql string, id uuid.UUID) func() error {
		return func() error {
			_, err := w.Pool.Exec(t.Context(), sql, id)
			return err
		}
	}
	session, last := w.open(t, account), w.open(t, account)
	old := w.tokenOfOwnSecret(t, client.ID)
	for _, tc := range []struct {
		what string
		text secret.Text
		end  func() error
		back func() error // how it is undone, if it can be
	}{
		{"the client is suspended", token(), func() error { return w.SuspendClient(t.Context(), client.ID, access.Operator, uuid.Nil) }, func() error { return w.ResumeClient(t.Context(), client.ID, access.Operator, uuid.Nil) }},
		{"the secret is revoked that the token was issued for", old.text, func() error { return w.RevokeSecret(t.Context(), client.ID, old.secret, access.Operator, uuid.Nil) }, nil},
		{"the client is revoked", token(), func() error { return w.RevokeClient(t.Context(), client.ID, access.Operator, uuid.Nil) }, nil},
		{"the entity is suspended", key.Text, change(`UPDATE entity SET status = 'Suspended' WHERE id = $1`, bank.ID), change(`UPDATE entity SET status = 'Approved' WHERE id = $1`, bank.ID)},
		{"the key is revoked", key.Text, func() error { return w.RevokeKey(t.Context(), bank.ID, key.ID, access.Operator, uuid.Nil) }, nil},
		{"the session is ended", session.Text, func() error { return w.EndSession(t.Context(), account, session.ID, access.Operator, uuid.Nil) }, nil},
		{"the account is disabled", last.Text, change(`UPDATE account SET disabled_at = now() WHERE id = $1`, account), change(`UPDATE account SET disabled_at = NULL WHERE id = $1`, account)},
		{"it is signed out everywhere", last.Text, func() error {
			return pg.InTx(t.Context(), w.Pool, func(tx pg.Tx) error {
				_, err := w.EndSessions(t.Context(), tx, account, uuid.Nil, access.Operator, uuid.Nil)
				return err
			})
		}, nil},
	} {
		within(t, 5*time.Second, "it works before "+tc.what, func() bool { return accepts(t, node, tc.text) })
		if err := tc.end(); err != nil {
			t.Fatalf("%s: %v", tc.what, err)
		}
		within(t, 5*time.Second, "it no longer works once "+tc.what, func() bool { return !accepts(t, node, tc.text) })
		if tc.back == nil {
			continue
		}
		if err := tc.back(); err != nil {
			t.Fatalf("undo that %s: %v", tc.what, err)
		}
		within(t, 5*time.Second, "it works again after "+tc.what, func() bool { return accepts(t, node, tc.text) })
	}
}

// A listening node uses its cache and does not query the database for every
// call. One that does not listen queries it.
func TestCacheIsUsedOnlyWhileListening(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	node := w.node(t)
	_, key := w.key(t)
	// The row is changed without the triggers, so that only a query shows it.
	super := pgtest.Open(t, w.Pool.Config().ConnString(), "")
	hidden := func(sql string) {
		t.Helper()
		err := pg.InTx(t.Context(), super, func(tx pg.Tx) error {
			if _, err := tx.Exec(t.Context(), `SET LOCAL session_replication_role = replica`); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), sql, key.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	within(t, 5*time.Second, "it works", func() bool { return accepts(t, node, key.Text) })
	hidden(`UPDATE api_key SET revoked_at = now() WHERE id = $1`)
	if !accepts(t, node, key.Text) {
		t.Error("a listening node queries the database for every call")
	}
	if accepts(t, w.Service, key.Text) {
		t.Error("a node that does not listen uses its cache")
	}
	if _, err := super.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lineproof-listen' AND datname = current_database()`); err != nil {
		t.Fatal(err)
	}
	within(t, 5*time.Second, "a node that lost its connection rejects the key", func() bool { return !accepts(t, node, key.Text) })
	within(t, 10*time.Second, "it listens again", node.Listening)
}

// While the database is unavailable, cached credentials are accepted for the
// grace period, marked and counted; others are not, and none for longer.
func TestGraceAcceptsOnlyCachedCredentialsForALimitedTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	graced := 0
	w.Grace, w.OnGrace = time.Minute, func() { graced++ }
	_, known := w.key(t)
	bank, _ := w.key(t)
	fresh, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "new", Mode: access.Live}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Pool.Close()
	for _, tc := range []struct {
		what  string
		later time.Duration
		text  secret.Text
		grace bool
	}{
		{"a cached key", 0, known.Text, true},
		{"a new key", 0, fresh.Text, false},
		{"a cached key, just before the grace period ends", 59 * time.Second, known.Text, true},
		{"a cached key, after it", time.Second, known.Text, false},
	} {
		w.clock = w.clock.Add(tc.later)
		who, err := w.Authenticate(t.Context(), tc.text.Reveal(), here)
		if (err == nil) != tc.grace || err == nil && !who.Grace {
			t.Errorf("%s: %+v, %v; want it accepted: %v", tc.what, who, err, tc.grace)
		}
	}
	if graced != 2 {
		t.Errorf("%d calls were counted, want 2", graced)
	}
}
