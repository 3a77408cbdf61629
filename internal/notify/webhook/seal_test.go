package webhook_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	firstPepper = "a pepper for tests, thirty-two bytes long" // of newEnv
	newPepper   = "another pepper for tests, also long enough"
)

func (e *env) usePeppers(list ...secret.Text) {
	e.t.Helper()
	peppers, err := secret.NewPeppers(list)
	if err != nil {
		e.t.Fatal(err)
	}
	e.Peppers = peppers
}

// signers sends a test event and returns how many keys signed it; 0 if nothing was sent.
func (e *env) signers(o feed.Owner, id uuid.UUID, r *receiver) (n int) {
	e.t.Helper()
	r.on(func(_ http.ResponseWriter, req *http.Request, _ []byte) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		n = len(strings.Fields(req.Header.Get(webhook.HeaderSignature)))
		return true
	})
	if _, err := e.pool.Exec(e.t.Context(), `UPDATE hook_cursor SET manual_at = NULL WHERE endpoint_id = $1`, id); err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.SendTest(e.t.Context(), o, id); err != nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return n
}

func (e *env) stored(id uuid.UUID) (key, previous []byte, version int64) {
	e.t.Helper()
	if err := e.pool.QueryRow(e.t.Context(), `SELECT key, previous_key, version FROM hook_endpoint WHERE id = $1`, id).Scan(&key, &previous, &version); err != nil {
		e.t.Fatal(err)
	}
	return key, previous, version
}

// The keys of endpoints from before a rotation of the pepper work after the old pepper was
// removed, also the previous key, and those of endpoints that get no events now. Senders are
// not interrupted for it.
func TestKeysOutliveTheRotationOfThePepper(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	rolled, paused, disabled, current := e.endpoint(o, r), e.endpoint(o, r), e.endpoint(o, r), e.endpoint(o, r)
	if _, err := e.Roll(t.Context(), o, rolled.ID, by); err != nil {
		t.Fatal(err)
	}
	for id, state := range map[uuid.UUID]webhook.State{paused.ID: webhook.Paused, disabled.ID: webhook.Disabled} {
		if _, err := e.pool.Exec(t.Context(), `UPDATE hook_endpoint SET state = $2 WHERE id = $1`, id, state); err != nil {
			t.Fatal(err)
		}
	}
	e.usePeppers(newPepper, firstPepper)
	if _, err := e.Roll(t.Context(), o, current.ID, by); err != nil { // only its previous key is sealed under the old pepper
		t.Fatal(err)
	}
	currentKey, _, _ := e.stored(current.ID)
	signers, versions := map[uuid.UUID]int{rolled.ID: 2, paused.ID: 1, disabled.ID: 1, current.ID: 2}, map[uuid.UUID]int64{}
	for id := range signers {
		_, _, versions[id] = e.stored(id)
	}
	e.sender(0)
	after := &env{Service: new(*e.Service), t: t, pool: e.pool}
	after.usePeppers(newPepper)
	for id, n := range signers {
		eventually(t, "all keys to sign without the old pepper", func() bool { return after.signers(o, id, r) == n })
		if _, _, now := e.stored(id); now != versions[id] {
			t.Errorf("the version of an endpoint whose key was sealed again is %d, and was %d", now, versions[id])
		}
	}
	if key, _, _ := e.stored(current.ID); !bytes.Equal(key, currentKey) {
		t.Error("a key that was sealed under the first pepper was sealed again")
	}
}

// A key that is rolled while the one before is sealed again stays, and the one before is
// sealed again where it is now.
func TestKeyRolledMeanwhileIsNotOverwritten(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	old, _, _ := e.stored(c.ID)
	e.usePeppers(newPepper, firstPepper)
	tx, err := e.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	var id string
	if err := tx.QueryRow(t.Context(), `UPDATE hook_endpoint SET previous_key = key, key = 'rolled' WHERE id = $1 RETURNING pg_current_xact_id()::xid::text`, c.ID).Scan(&id); err != nil {
		t.Fatal(err)
	}
	e.sender(0)
	eventually(t, "the sender to wait for the row", func() bool {
		var waits bool
		err := e.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE transactionid = $1::text::xid AND NOT granted)`, id).Scan(&waits)
		return err == nil && waits
	})
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the previous key to be sealed again", func() bool {
		_, previous, _ := e.stored(c.ID)
		return !bytes.Equal(previous, old)
	})
	if key, _, _ := e.stored(c.ID); string(key) != "rolled" {
		t.Error("the new key was overwritten")
	}
}

// A previous key that cannot be opened is left out: the key itself still signs.
func TestUnreadablePreviousKeyDoesNotStopAnEndpoint(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	e.usePeppers(newPepper, firstPepper)
	if _, err := e.Roll(t.Context(), o, c.ID, by); err != nil {
		t.Fatal(err)
	}
	e.usePeppers(newPepper)
	if n := e.signers(o, c.ID, r); n != 1 {
		t.Errorf("%d keys signed, want the new one", n)
	}
}
