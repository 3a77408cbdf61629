package audit_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

func write(t *testing.T, pool *pgxpool.Pool, entries ...audit.Entry) {
	t.Helper()
	for _, e := range entries {
		if err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error { return audit.Write(t.Context(), tx, e) }); err != nil {
			t.Fatal(err)
		}
	}
}

// What was written can be read: actor, address, action, subject, and the values
// before and after.
func TestListReturnsWhatWasWritten(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	full := audit.Entry{
		At: time.Now().UTC().Truncate(time.Microsecond), Actor: audit.Actor{Kind: audit.Account, ID: uuid.New(), From: netip.MustParseAddr("2001:db8::7")},
		Action: audit.EntitySuspended, Subject: uuid.New(), Entity: uuid.New(), Request: uuid.New(),
		Before: map[string]any{"status": "Approved"}, After: map[string]any{"status": "Suspended", "reason": "No answer"},
	}
	bare := audit.Entry{At: full.At.Add(-time.Second), Actor: audit.Actor{Kind: audit.System}, Action: audit.GuardReleased, Subject: uuid.New()}
	// An address as a dual-stack socket and a link-local one as the kernel write them.
	mapped, zoned := bare, bare
	mapped.At, mapped.Actor.From = full.At.Add(-2*time.Second), netip.MustParseAddr("::ffff:192.0.2.7")
	zoned.At, zoned.Actor.From = full.At.Add(-3*time.Second), netip.MustParseAddr("fe80::1%eth0")
	write(t, pool, full, bare, mapped, zoned)
	list, err := audit.List(t.Context(), pool, audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	mapped.Actor.From, zoned.Actor.From = netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("fe80::1")
	want := []audit.Record{{Entry: full}, {Entry: bare}, {Entry: mapped}, {Entry: zoned}}
	if diff := cmp.Diff(want, list, cmpopts.IgnoreFields(audit.Record{}, "ID"), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// Each filter selects what it names and nothing else, and several filters apply
// together.
func TestListFilters(t *testing.T) {
	t.Parallel()
	pool, now := pgtest.NewAnyTime(t), time.Now().UTC().Truncate(time.Microsecond)
	entity, client, person, request := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	at := func(hours int) time.Time { return now.Add(time.Duration(hours) * time.Hour) }
	entries := []audit.Entry{
		{At: at(-4), Actor: audit.Actor{Kind: audit.Client, ID: client}, Action: audit.EntityOnboarded, Subject: entity, Entity: entity},
		{At: at(-3), Actor: audit.Actor{Kind: audit.Operator}, Action: audit.KeyCreated, Subject: uuid.New(), Entity: entity},
		{At: at(-2), Actor: audit.Actor{Kind: audit.Account, ID: person}, Action: audit.KeyRevoked, Subject: uuid.New(), Entity: uuid.New(), Request: request},
		{At: at(-1), Actor: audit.Actor{Kind: audit.Account, ID: person}, Action: audit.EntitySuspended, Subject: entity, Entity: entity},
	}
	write(t, pool, entries...)
	for name, c := range map[string]struct {
		filter audit.Filter
		want   []int // newest first
	}{
		"all":                   {audit.Filter{}, []int{3, 2, 1, 0}},
		"an entity":             {audit.Filter{Entity: entity}, []int{3, 1, 0}},
		"an actor":              {audit.Filter{Actor: person}, []int{3, 2}},
		"a kind of actor":       {audit.Filter{Kind: audit.Operator}, []int{1}},
		"a request":             {audit.Filter{Request: request}, []int{2}},
		"a kind and an action":  {audit.Filter{Kind: audit.Account, Action: "key."}, []int{2}},
		"a sort and a time":     {audit.Filter{Kind: audit.Account, Until: at(-1)}, []int{2}},
		"a subject":             {audit.Filter{Subject: entity}, []int{3, 0}},
		"the beginning":         {audit.Filter{Action: "key."}, []int{2, 1}},
		"a whole action":        {audit.Filter{Action: "entity.suspended"}, []int{3}},
		"no pattern":            {audit.Filter{Action: "%"}, nil},
		"since":                 {audit.Filter{Since: at(-2)}, []int{3, 2}},
		"until":                 {audit.Filter{Until: at(-2)}, []int{1, 0}},
		"the newest":            {audit.Filter{Limit: 1}, []int{3}},
		"several hold together": {audit.Filter{Entity: entity, Actor: person, Action: "entity.", Since: at(-4)}, []int{3}},
		"nothing":               {audit.Filter{Entity: entity, Kind: audit.System}, nil},
	} {
		list, err := audit.List(t.Context(), pool, c.filter)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []uuid.UUID
		for _, w := range list {
			got = append(got, w.Subject)
		}
		for _, i := range c.want {
			want = append(want, entries[i].Subject)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The pages list every entry once, also where many have the same time and new
// ones are added between two pages.
func TestPagesHaveEveryEntryOnce(t *testing.T) {
	t.Parallel()
	pool, now := pgtest.NewAnyTime(t), time.Now().UTC().Truncate(time.Microsecond)
	e := audit.Entry{At: now, Actor: audit.Actor{Kind: audit.Operator}, Action: audit.KeyCreated, Subject: uuid.New()}
	const entries = 23
	for range entries {
		write(t, pool, e)
	}
	seen := map[uuid.UUID]bool{}
	f := audit.Filter{Limit: 5}
	for {
		page, err := audit.List(t.Context(), pool, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range page {
			if seen[w.ID] {
				t.Fatalf("%s came twice", w.ID)
			}
			seen[w.ID] = true
		}
		if len(page) < f.Limit {
			break
		}
		f.Before = page[len(page)-1].ID
		late := e
		late.At = now.Add(time.Minute)
		write(t, pool, late)
	}
	if len(seen) != entries {
		t.Errorf("%d entries, want %d", len(seen), entries)
	}
	if _, err := audit.List(t.Context(), pool, audit.Filter{Before: uuid.New()}); !errors.Is(err, audit.ErrNoEntry) {
		t.Errorf("after an entry that is not there: %v", err)
	}
}

// Nothing in the trail can be changed or removed: the serving role has no right
// to, and for the owner and the superuser there is a trigger that they would
// have to drop first.
func TestTrailIsAppendOnly(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	write(t, pgtest.Open(t, url, pg.Serve), audit.Entry{At: time.Now(), Actor: audit.Actor{Kind: audit.Operator}, Action: audit.KeyCreated, Subject: uuid.New()})
	statements := []string{
		`UPDATE audit SET action = 'x'`, `DELETE FROM audit`, `TRUNCATE audit`, `TRUNCATE audit CASCADE`,
		`MERGE INTO audit a USING (SELECT 1) x ON true WHEN MATCHED THEN DELETE`,
		`INSERT INTO audit SELECT * FROM audit ON CONFLICT (id) DO UPDATE SET action = 'x'`,
	}
	for _, role := range []string{pg.Serve, pg.Owner, ""} {
		pool := pgtest.Open(t, url, role)
		for _, sql := range statements {
			_, err := pool.Exec(t.Context(), sql)
			if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "42501" {
				t.Errorf("%q: %s gave %v, want permission denied", role, sql, err)
			}
		}
	}
	// The control: it is the trigger that stops the owner, and only until it is gone.
	owner := pgtest.Open(t, url, pg.Owner)
	for _, sql := range []string{`DROP TRIGGER audit_append_only ON audit`, statements[0], statements[1]} {
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A person is the same actor from any address.
func TestActorIsTheSameFromEverywhere(t *testing.T) {
	t.Parallel()
	a := audit.Actor{Kind: audit.Account, ID: uuid.New(), From: netip.MustParseAddr("192.0.2.1")}
	b := a
	b.From = netip.MustParseAddr("192.0.2.2")
	if !a.Same(b) || a.Same(audit.Actor{Kind: audit.Client, ID: a.ID}) || a.Same(audit.Actor{Kind: audit.Account, ID: uuid.New()}) {
		t.Error("an actor is its kind and its id")
	}
}

// However long the trail is, a query reads little more than its result: with
// any filter, after any cursor, also when it was run often.
func TestQueriesReadFewRows(t *testing.T) {
	t.Parallel()
	ctx, pool, now := t.Context(), pgtest.NewAnyTime(t), time.Now().UTC()
	rare := audit.Entry{
		At: now.Add(-40 * 24 * time.Hour), Actor: audit.Actor{Kind: audit.Operator}, Action: audit.PlanSet, Subject: uuid.New(), Entity: uuid.New(), Request: uuid.New(),
	}
	write(t, pool, rare)
	_, err := pool.Exec(ctx, `INSERT INTO audit (id, at, actor_kind, actor_id, action, subject_id, entity_id, request_id)
		SELECT gen_random_uuid(), $1::timestamptz - make_interval(mins => n), 'account', $2, CASE n % 3 WHEN 0 THEN 'key.created' WHEN 1 THEN 'session.opened' ELSE 'document.opened' END,
			gen_random_uuid(), $3, gen_random_uuid() FROM generate_series(1, 20000) n`, now, uuid.New(), uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, `ANALYZE audit`); err != nil {
		t.Fatal(err)
	}
	deep, err := audit.List(ctx, pool, audit.Filter{Action: "key.", Until: now.Add(-10 * 24 * time.Hour), Limit: 1})
	if err != nil || len(deep) != 1 {
		t.Fatal(err)
	}
	for name, f := range map[string]audit.Filter{
		"an action": {Action: "plan."}, "a kind": {Kind: audit.Operator}, "both": {Kind: audit.Operator, Action: "plan.set"}, "neither here": {Kind: audit.Operator, Action: "key."},
		"an entity": {Entity: rare.Entity}, "a subject": {Subject: rare.Subject}, "a request": {Request: rare.Request},
		"the newest": {Limit: 20}, "far back": {Action: "key.", Before: deep[0].ID, Limit: 20}, "far back of all": {Before: deep[0].ID, Limit: 20},
	} {
		for range 8 { // a plan that is kept for all filters would be made by now
			if n := reads(t, pool, f); n > 400 {
				t.Errorf("%s: %d rows of the trail were read", name, n)
				break
			}
		}
	}
}

// reads returns how many rows a query reads.
func reads(t *testing.T, pool *pgxpool.Pool, f audit.Filter) (n int64) {
	t.Helper()
	touched := func(tx pg.Tx) (n int64, err error) {
		err = tx.QueryRow(t.Context(), `SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = 'audit'`).Scan(&n)
		return n, err
	}
	err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
		before, err := touched(tx) // what the connection has not reported yet counts, too
		if err != nil {
			return err
		}
		if _, err := audit.List(t.Context(), tx, f); err != nil {
			return err
		}
		n, err = touched(tx)
		n -= before
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
