package e2e_test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// mostLasting is how long something may still open after it has ended.
const mostLasting = 5 * time.Second

// revocation is something that ends, and the request that it opened.
type revocation struct {
	what string
	raw  []byte
	end  func() error
}

// Whatever ends on one node opens nothing on any other five seconds later: keys,
// entities, sessions, while both nodes are asked without pause; also where the
// nodes cannot hear of it, and where they do not know that they cannot.
func TestRevocationReachesEveryNode(t *testing.T) {
	w := newFixture(t, pgtest.URL(t))
	nodes := []*instance{
		start(t, w, "LINEPROOF_NODE=one"),
		start(t, w, "LINEPROOF_NODE=two"),
	}
	rounds := size(t, "LINEPROOF_E2E_REVOCATIONS", 6)
	for _, channel := range []struct {
		name string
		hurt func(t *testing.T, w *fixture) (mend func())
	}{{"while they hear", nil}, {"while they cannot hear", cutListeners}, {"while they think that they hear", freezeListeners}} {
		begin := time.Now()
		var all sync.WaitGroup
		var asked, longest atomic.Int64
		mend := func() {}
		if channel.hurt != nil {
			mend = channel.hurt(t, w)
		}
		for i := range rounds {
			r := w.revocation(t, i)
			all.Go(func() { r.watch(t, nodes, &asked, &longest) })
			<-time.After(100 * time.Millisecond)
		}
		all.Wait()
		mend()
		took := time.Since(begin).Seconds()
		t.Logf("%s: %d revocations, %.0f requests a second; the last success began %s after its credential had ended", channel.name, rounds,
			float64(asked.Load())/took, time.Duration(longest.Load()).Round(time.Millisecond))
	}
}

// revocation makes a credential and says how it ends: a key that is revoked, an
// entity that is suspended, or an account that is signed out everywhere.
func (w *fixture) revocation(t *testing.T, i int) revocation {
	t.Helper()
	ctx := t.Context()
	key := func(entity uuid.UUID) access.NewKey {
		return must(w.keeper.CreateKey(ctx, access.KeyForm{Entity: entity, Name: "app", Mode: "live"}, access.Operator, uuid.Nil))(t)
	}
	asks := func(k access.NewKey) []byte {
		return post(verifyPath, "application/json", fmt.Appendf(nil, `{"phoneNumber":"+%d"}`, firstLine+i), "Authorization", "Bearer "+k.Text.Reveal())
	}
	switch i % 3 {
	case 0:
		k := key(w.bank.ID)
		return revocation{"a key that was revoked", asks(k), func() error { return w.keeper.RevokeKey(ctx, uuid.Nil, k.ID, access.Operator, uuid.Nil) }}
	case 1:
		bank := must(w.registry.CreateRelyingParty(ctx, "Bank", "RC 9", access.Operator, uuid.Nil))(t)
		return revocation{"a key of an entity that was suspended", asks(key(bank.ID)), func() error {
			_, err := w.registry.Suspend(ctx, bank.ID, "a test", access.Operator, uuid.Nil)
			return err
		}}
	}
	account := w.newStaff(t)
	var session access.NewSession
	err := pg.InTx(ctx, w.pool, func(tx pg.Tx) (err error) {
		session, err = w.keeper.OpenSession(ctx, tx, access.SessionForm{Account: account, From: netip.MustParseAddr("127.0.0.1")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte("GET /api/v1/lines/supply HTTP/1.1\r\nHost: lineproof.test\r\nAuthorization: Bearer " + session.Text.Reveal() + "\r\n\r\n")
	return revocation{"a session that was signed out everywhere", raw, func() error {
		return pg.InTx(ctx, w.pool, func(tx pg.Tx) error {
			_, err := w.keeper.EndSessions(ctx, tx, account, uuid.Nil, access.Operator, uuid.Nil)
			return err
		})
	}}
}

// newStaff makes an account of the regulator's staff that nobody logs in with.
func (w *fixture) newStaff(t *testing.T) (id uuid.UUID) {
	t.Helper()
	id = uuid.New()
	_, err := w.pool.Exec(t.Context(), `INSERT INTO account (id, kind, role, name, email, email_key, created_at)
		VALUES ($1, 'staff', 'auditor', 'S', $2, $2, now())`, id, id.String()+"@regulator.example")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// watch sees that it opens on every node, ends it, and asks every node for a
// while whether it still opens.
func (r revocation) watch(t *testing.T, nodes []*instance, asked, longest *atomic.Int64) {
	wires := make([]*wire, len(nodes))
	ask := func(i int) int {
		asked.Add(1)
		got, err := wires[i].send(r.raw)
		if err != nil {
			t.Errorf("%s: %v", r.what, err)
			return 0
		}
		return got.status
	}
	for i, node := range nodes {
		wires[i] = &wire{address: node.public}
		defer wires[i].close()
		for range 3 { // it is in memory afterwards
			if status := ask(i); status != 200 {
				t.Errorf("%s: %d before it ended", r.what, status)
				return
			}
		}
	}
	if err := r.end(); err != nil {
		t.Errorf("%s: %v", r.what, err)
		return
	}
	ended := time.Now()
	for since := time.Duration(0); since < mostLasting+time.Second; {
		for i := range nodes {
			since = time.Since(ended)
			switch status := ask(i); {
			case status == 200 && since > mostLasting:
				t.Errorf("%s still opens %s later", r.what, since.Round(time.Millisecond))
				return
			case status == 200:
				for old := longest.Load(); int64(since) > old && !longest.CompareAndSwap(old, int64(since)); old = longest.Load() {
				}
			case status != 401:
				t.Errorf("%s: %d after it ended", r.what, status)
				return
			}
		}
		<-time.After(100 * time.Millisecond)
	}
}

const listenerQuery = `SELECT pid FROM pg_stat_activity WHERE application_name = 'lineproof-listen'`

// cutListeners ends the connections over which the nodes hear, again and again.
func cutListeners(t *testing.T, w *fixture) (mend func()) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	cut := int64(0)
	go func() {
		defer close(done)
		for {
			tag, err := w.pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM (`+listenerQuery+`) ears`)
			if err != nil {
				t.Error(err)
				return
			}
			cut += tag.RowsAffected()
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(stop)
		<-done
		if cut == 0 {
			t.Error("no connection was cut, so this proves nothing")
		}
	}
}

// freezeListeners makes PostgreSQL's end of those connections stand still: they are open,
// and nothing comes over them.
func freezeListeners(t *testing.T, w *fixture) (mend func()) {
	t.Helper()
	var pids []int
	process.Until(t, "both nodes listen", func() bool {
		rows := must(w.pool.Query(t.Context(), listenerQuery))(t)
		pids = nil
		for rows.Next() {
			var pid int
			if err := rows.Scan(&pid); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		return rows.Err() == nil && len(pids) == 2
	})
	each := func(signal func(pid int) error) {
		for _, pid := range pids {
			if err := signal(pid); err != nil {
				t.Error(err)
			}
		}
	}
	process.Until(t, "they stand still, and nobody waits for them", func() bool {
		each(process.Freeze)
		// One that was stopped in the middle of a notice of its own holds up all others.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.pool.Exec(ctx, `SELECT pg_notify('nobody', '')`)
		if err != nil {
			each(process.Thaw)
		}
		return err == nil
	})
	mend = sync.OnceFunc(func() { each(process.Thaw) })
	t.Cleanup(mend)
	return mend
}
