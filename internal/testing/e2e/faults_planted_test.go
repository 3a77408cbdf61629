package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// damage is a way to make the database disagree with what callers were told.
// Its SQL may name the victim: @request, @entity, @email, and @n, which counts
// the times.
type damage struct {
	name  string
	times int
	sql   string
	// whole says that all of a request's effect is gone, which is no fault if its
	// caller never heard how it ended.
	whole bool
	// shared says that it is done to records that share their batch with others.
	shared bool
}

// onboardedFields names the columns of entity that onboarding writes.
const onboardedFields = `id, name, cac, cac_class, cac_digits, status, document_required, supplies, asks, client_id, token_id, created_at`

// damages is what the checker must find. Foreign keys are off while they are
// done: a fault does not ask for permission.
func damages() []damage {
	list := []damage{
		{"a record is gone", 20, `DELETE FROM journal_entry WHERE correlator = @question`, false, false},
		{"a record and its batch are gone", 10, `WITH gone AS (DELETE FROM journal_entry WHERE correlator = @question RETURNING epoch, n)
			DELETE FROM journal_batch b USING gone WHERE b.epoch = gone.epoch AND b.n = gone.n`, true, false},
		{"a record is there twice", 10, `INSERT INTO journal_entry SELECT * FROM journal_entry WHERE correlator = @question`, false, false},
		{"a record is there again under another id", 5, `INSERT INTO journal_entry (` + journaltest.Fields + `)
			SELECT gen_random_uuid(), ` + strings.TrimPrefix(journaltest.Fields, "request_id, ") + ` FROM journal_entry WHERE correlator = @question`, false, false},
		{"a record is there again in a batch of its own", 5, `WITH b AS (INSERT INTO journal_batch (node, epoch, n, at, count, root)
			SELECT b.node, b.epoch, b.n + 1000000, b.at, b.count, b.root FROM journal_batch b JOIN journal_entry e ON e.epoch = b.epoch AND e.n = b.n
			WHERE e.correlator = @question RETURNING epoch, n) INSERT INTO journal_entry (` + journaltest.Fields + `)
			SELECT ` + strings.Replace(journaltest.Fields, " epoch, n,", " b.epoch, b.n,", 1) + ` FROM journal_entry e, b WHERE e.correlator = @question`, false, false},
		{"a batch is gone", 10, `DELETE FROM journal_batch b USING journal_entry e WHERE e.epoch = b.epoch AND e.n = b.n AND e.correlator = @question`, false, false},
		{"a batch is there twice", 10, `INSERT INTO journal_batch (node, epoch, n, at, count, root) SELECT b.node, b.epoch, b.n, b.at + interval '1 ms', b.count, b.root
			FROM journal_batch b JOIN journal_entry e ON e.epoch = b.epoch AND e.n = b.n WHERE e.correlator = @question`, false, false},
		{"a batch is there without records", 3, `INSERT INTO journal_batch (node, epoch, n, at, count, root)
			SELECT node, epoch, n + 1000000, at, count, root FROM journal_batch LIMIT 1`, false, false},
		{"the audit row is gone", 10, `DELETE FROM audit WHERE action = 'entity.onboarded' AND subject_id = @entity`, false, false},
		{"the audit row is there twice", 10, `INSERT INTO audit SELECT gen_random_uuid(), at, actor_kind, actor_id, action, subject_id, entity_id, request_id
			FROM audit WHERE action = 'entity.onboarded' AND subject_id = @entity`, false, false},
		{"the audit row has no actor", 3, `UPDATE audit SET actor_id = NULL WHERE action = 'entity.onboarded' AND subject_id = @entity`, false, false},
		{"the audit row is about nothing", 3, `UPDATE audit SET subject_id = gen_random_uuid() WHERE action = 'entity.onboarded' AND subject_id = @entity`, false, false},
		{"the admin is gone", 10, `DELETE FROM account WHERE entity_id = @entity`, false, false},
		{"the entity has two admins", 5, `INSERT INTO account (id, kind, entity_id, name, email, email_key, phone, password_hash, created_at)
			SELECT gen_random_uuid(), kind, entity_id, name, 'x' || email, 'x' || email_key, phone + 1000000, password_hash, created_at FROM account WHERE entity_id = @entity`, false, false},
		{"the entity is gone, its admin is not", 10, `DELETE FROM entity WHERE id = @entity`, false, false},
		{"entity and admin are gone", 5, `WITH a AS (DELETE FROM account WHERE entity_id = @entity) DELETE FROM entity WHERE id = @entity`, false, false},
		{"everything about an entity is gone", 5, `WITH a AS (DELETE FROM account WHERE entity_id = @entity), t AS (DELETE FROM audit WHERE subject_id = @entity),
			k AS (DELETE FROM idempotency WHERE position(convert_to(@entity::text, 'UTF8') IN answer) > 0) DELETE FROM entity WHERE id = @entity`, true, false},
		{"nothing but the audit row is there", 2, `WITH a AS (DELETE FROM account WHERE entity_id = @entity),
			k AS (DELETE FROM idempotency WHERE position(convert_to(@entity::text, 'UTF8') IN answer) > 0) DELETE FROM entity WHERE id = @entity`, false, false},
		{"nothing but the kept answer is there", 2, `WITH a AS (DELETE FROM account WHERE entity_id = @entity), t AS (DELETE FROM audit WHERE subject_id = @entity)
			DELETE FROM entity WHERE id = @entity`, false, false},
		{"the kept answer is gone", 5, `DELETE FROM idempotency WHERE position(convert_to(@entity::text, 'UTF8') IN answer) > 0`, false, false},
		{"the kept answer is there twice", 5, `INSERT INTO idempotency SELECT caller, operation, key_mac || '\x00', body_mac, answer, created_at, replayed_at
			FROM idempotency WHERE position(convert_to(@entity::text, 'UTF8') IN answer) > 0`, false, false},
		{"an entity without an admin", 5, `INSERT INTO entity (` + onboardedFields + `)
			SELECT gen_random_uuid(), ` + strings.TrimPrefix(onboardedFields, "id, ") + ` FROM entity WHERE id = @entity`, false, false},
		{"an account without an entity", 3, `INSERT INTO account (id, kind, entity_id, name, email, email_key, phone, password_hash, created_at)
			SELECT gen_random_uuid(), kind, gen_random_uuid(), name, 'x' || email, 'x' || email_key, phone + 1000000, password_hash, created_at FROM account WHERE entity_id = @entity`, false, false},
		{"an entity for which nobody applied", 3, `WITH e AS (INSERT INTO entity (` + onboardedFields + `)
			SELECT gen_random_uuid(), ` + strings.TrimPrefix(onboardedFields, "id, ") + ` FROM entity WHERE id = @entity RETURNING id), a AS (INSERT INTO audit
			SELECT gen_random_uuid(), at, actor_kind, actor_id, action, e.id, e.id AS entity_id, request_id FROM audit, e WHERE action = 'entity.onboarded' AND subject_id = @entity)
			INSERT INTO account (id, kind, entity_id, name, email, email_key, phone, password_hash, created_at)
			SELECT gen_random_uuid(), kind, e.id, account.name, 'x' || email, 'x' || email_key, phone + 1000000, password_hash, account.created_at FROM account, e WHERE entity_id = @entity`, false, false},
	}
	change := func(times int, table, where string, changes ...string) {
		for _, change := range changes {
			list = append(list, damage{table + ": " + change, times, "UPDATE " + table + " SET " + change + " WHERE " + where, false, false})
		}
	}
	change(3, "journal_entry", "correlator = @question", "request_id = gen_random_uuid()", "at = at + interval '1 ms'", "epoch = epoch + 1", "n = n + 1000000",
		"idx = idx + 1", "entity_id = gen_random_uuid()", "key_id = gen_random_uuid()", "mode = 'test'", "purpose = purpose || 'x'",
		"correlator = correlator || 'x'", "number = number + 1", "phone_number = phone_number || ' '", "options = 'x'", "status = status || 'X'",
		"mobile_network = mobile_network || 'x'", "extra = '{}'", "type = 'file'", "purpose_text = purpose_text || 'x'", "reason = 'STALE'", "rules = 2",
		"coverage = set_byte(coverage, 0, 255 - get_byte(coverage, 0))", "external_id = 'x'", "on_behalf_of = 'x'", "line_version = line_version + 1", "policy_version = 2", "plan_version = 2",
		"nonce = set_byte(nonce, 7, 255 - get_byte(nonce, 7))", "hash = set_byte(hash, 31, 255 - get_byte(hash, 31))")
	change(3, "journal_batch", "(epoch, n) IN (SELECT epoch, n FROM journal_entry WHERE correlator = @question)", "count = count + 1", "at = at + interval '1 ms'",
		"root = set_byte(root, 0, 255 - get_byte(root, 0))", "node = 'another'", "n = n + 1000000", "epoch = epoch + 1000")
	change(2, "account", "entity_id = @entity", "name = name || 'x'", "email = 'x' || email", "email_key = 'x' || email_key", "phone = phone + 1000000", "kind = 'member'",
		"password_hash = NULL", "id = gen_random_uuid()", "verified_at = now(), verified_by = 'email'")
	change(2, "entity", "id = @entity", "name = name || 'x'", "cac = cac || '1'", "status = 'Suspended'", "document_required = NOT document_required",
		"client_id = NULL", "supplies = false")
	return list
}

// thorough is how many times as often each kind of damage is done as it says.
const thorough = 3

// The checker finds every fault that is planted, one at a time, and nothing in
// a database that is as it should be. Records stand alone in their batch, as
// those of the server's own answers here, or with many others.
func TestCheckerFindsPlantedFaults(t *testing.T) {
	ctx := t.Context()
	w, ledger := newFixture(t, pgtest.URL(t)), newLedger(t)
	p := start(t, w)
	c := newCaller(t, w, p.public, ledger)
	defer c.close()
	for range 100 {
		c.verify()
	}
	for range 30 {
		c.apply(c.newApplication())
	}
	p.terminate(t)
	p.wait(t)
	shared := c.writeBatches(t, 5, 8, 13, 21, 34)
	judge := &checker{world: w, book: ledger.read(t)}
	sane := func(when string) {
		if findings := must(judge.check(ctx, w.pool))(t); len(findings) > 0 {
			t.Fatalf("%s the checker finds: %v", when, findings)
		}
	}
	sane("before any fault")
	questions, applications := victims(judge.book)
	alone := slices.DeleteFunc(slices.Clone(questions), func(e *entry) bool { return shared[e.sent.ID] })
	together := slices.DeleteFunc(slices.Clone(questions), func(e *entry) bool { return !shared[e.sent.ID] })
	planted := 0
	for _, d := range slices.Concat(damages(), sharedDamages()) {
		// It must be found by whoever looks there, and not by chance by the other.
		judge.only = judge.register
		if strings.Contains(d.sql, "journal_") {
			judge.only = judge.journal
		}
		for n := range d.times*thorough + 1 {
			planted++
			from, crowded := alone, d.shared || n%2 == 1
			if crowded {
				from = together
			}
			q, a := from[(planted*7)%len(from)], applications[(planted*7)%len(applications)]
			args := pgx.NamedArgs{"question": q.sent.ID, "entity": a.answered().Made.EntityUID}
			want, unheard := true, n == d.times*thorough
			if unheard { // once more, with callers who do not know how it ended
				want = !d.whole || crowded && strings.Contains(d.sql, "@question") // the others in the batch know
				forget(q)
				forget(a)
			}
			found, err := plant(ctx, w, judge, func(tx pgx.Tx) error { return d.do(ctx, tx, args) })
			if err != nil {
				t.Fatalf("%s: %v", d.name, err)
			}
			if found > 0 != want {
				t.Errorf("%s (callers know the outcome: %v, it shares its batch: %v), and the checker found %d", d.name, !unheard, crowded, found)
			}
			remember(q, a)
		}
	}
	judge.only = nil
	planted += plantForgeries(t, w, judge, alone, applications)
	planted += plantSharedForgeries(t, w, judge, together)
	sane("after the last fault was taken back")
	t.Logf("%d faults were planted in a database of %d requests", planted, len(judge.book))
	if planted < 1000 {
		t.Errorf("only %d faults were planted", planted)
	}
}

// plant does the damage in a transaction, lets the checker look, and takes it
// back.
func plant(ctx context.Context, w *fixture, judge *checker, do func(pgx.Tx) error) (found int, err error) {
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return 0, fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, `SET LOCAL session_replication_role = replica`); err != nil {
		return 0, fmt.Errorf("put foreign keys aside: %w", err)
	}
	if err := do(tx); err != nil {
		return 0, err
	}
	findings, err := judge.check(ctx, tx)
	return len(findings), err
}

// do runs the damage. Damage that changes nothing would prove nothing.
func (d damage) do(ctx context.Context, tx pgx.Tx, victim pgx.NamedArgs) error {
	tag, err := tx.Exec(ctx, d.sql, victim)
	if err == nil && tag.RowsAffected() == 0 {
		err = errors.New("it changed nothing")
	}
	return err
}

// victims returns the requests and the applications that were answered with
// success.
func victims(book map[string]*entry) (questions, applications []*entry) {
	for _, e := range book {
		switch {
		case e.outcome() != okay:
		case e.sent.Asked != nil:
			questions = append(questions, e)
		default:
			applications = append(applications, e)
		}
	}
	return questions, applications
}

// forget makes the ledger say that nobody knows how a request ended; remember
// is its reverse.
func forget(e *entry) { e.hidden, e.ends = e.ends, []mark{{ID: e.sent.ID, Outcome: unknown}} }

func remember(entries ...*entry) {
	for _, e := range entries {
		if e.hidden != nil {
			e.ends, e.hidden = e.hidden, nil
		}
	}
}
