package tampering_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/receipt"
)

// template is the world before any attack. Worlds are copies of it. It goes on every few
// seconds, as a log does that is in use: monitors complain about one that has stopped.
type template struct {
	*world

	rng     *rand.Rand
	grown   time.Time
	promise *logreceipt.Signer
	log     *publiclog.Log
}

// newTemplate makes a world that has everything that an attacker could want to change.
func newTemplate(t *testing.T, s *site) *template {
	t.Helper()
	ctx := t.Context()
	name, err := s.cluster.Clone(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{site: s, database: name, dir: t.TempDir()}
	for _, dir := range []string{"log", "journal", "receipts", "monitor", "witness0", "witness1"} {
		if err := os.Mkdir(filepath.Join(w.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	to := &template{world: w, rng: rand.New(rand.NewPCG(1, 2))}
	if to.promise, err = logreceipt.NewSigner(ctx, s.key, time.Now(), func(context.Context, string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := to.begin(ctx); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if err := to.grow(ctx, 3); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// sources are what decides answers besides the records themselves.
const sources = `
INSERT INTO policy SELECT (jsonb_populate_record(p, jsonb_build_object('version', 2, 'id', gen_random_uuid(), 'note', 'a longer window', 'recycled_days', 120))).* FROM policy p WHERE version = 1;
INSERT INTO numbering_plan VALUES (1, gen_random_uuid(), '2026-01-01Z', 13, 'a source', '2026-01-01Z');
INSERT INTO numbering_network VALUES (1, 7, 'Seven'), (1, 8, 'Eight');
INSERT INTO numbering_range VALUES (1, '234803', 7, '2020-01-01', NULL), (1, '234805', 8, '2020-01-01', '2025-01-01');
INSERT INTO supply_import (uid, network, supplier, kind, dry_run, source, state, rows, created_at, updated_at)
	SELECT gen_random_uuid(), 7, i, 'events', false, 'api', 'applying', 9 * i, now(), now() FROM generate_series(1, 3) i;
UPDATE supply_import SET state = 'applied', file_digest = sha256(uuid_send(uid)), supplier_name = 'Seven';
INSERT INTO audit (id, at, actor_kind, action, subject_id, after)
	SELECT gen_random_uuid(), date_trunc('hour', now()) - interval '3 hours' + i * interval '19 minutes', 'operator', 'policy.set', gen_random_uuid(), jsonb_build_object('i', i) FROM generate_series(0, 8) i;
UPDATE log_head SET began = date_trunc('month', now() - interval '1 month 2 days');
INSERT INTO erasure (id, ground, state, asked_at, marked_at) SELECT '7d444840-9dc0-41d1-b245-5ffdce74fad4', 'request', 'finished', began, began FROM log_head;`

// begin makes what was there before the first answer of today: an archived day, and a log
// with everything that decides answers.
func (w *template) begin(ctx context.Context) error {
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -70) // before the log began
	if err := w.oldDay(ctx, day); err != nil {
		return err
	}
	if err := w.prepareExchange(ctx, day); err != nil {
		return err
	}
	owner, super, done, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	w.log = &publiclog.Log{Pool: owner, Origin: origin}
	if err := w.log.Open(ctx); err != nil {
		return err
	}
	if _, err := super.Exec(ctx, sources); err != nil {
		return fmt.Errorf("sources: %w", err)
	}
	if _, err := audit.ExtendChain(ctx, owner); err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(w.policyText))
	if err := w.log.UseKey(ctx, logentry.RoleLog, w.key.Verifier()); err != nil {
		return err
	}
	if err := w.log.UseKey(ctx, logentry.RoleWitnesses, hex.EncodeToString(hash[:])); err != nil {
		return err
	}
	return w.archive(ctx, owner, day, "journal")
}

// oldDay writes the answers of a day in the past.
func (w *template) oldDay(ctx context.Context, day time.Time) error {
	owner, super, done, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := journaltest.MakeDay(ctx, super, day); err != nil {
		return err
	}
	old, err := journal.Open(ctx, owner, "old", 1)
	if err != nil {
		return err
	}
	for i := range 5 {
		if _, err := w.record(ctx, old, day.Add(time.Duration(i+1)*3*time.Hour), nil); err != nil {
			return err
		}
	}
	if err := old.Close(ctx); err != nil {
		return err
	}
	_, err = super.Exec(ctx, `UPDATE journal_epoch_start SET started_at = $1`, day)
	return err
}

// prepareExchange archives another version of a day, in which one answer is another one, and
// keeps that for whoever wants to exchange the archive.
func (w *template) prepareExchange(ctx context.Context, day time.Time) error {
	other, err := w.copy(ctx)
	if err != nil {
		return err
	}
	defer other.drop()
	a, err := other.attack(ctx, w.rng)
	if err != nil {
		return err
	}
	defer a.pool.Close()
	p := a.pick()
	e := a.load(p)
	e.Status = "NORMAL, said the attacker"
	a.store(p, &e)
	a.seal(p.batch)
	owner, _, done, err := other.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := other.archive(ctx, owner, day, "exchange"); err != nil {
		return err
	}
	w.exchange = one[string](a, `SELECT row_to_json(a)::text FROM journal_archive a`)
	return os.CopyFS(filepath.Join(w.dir, "exchange"), os.DirFS(filepath.Join(other.dir, "exchange")))
}

// archive archives a day into a directory.
func (w *world) archive(ctx context.Context, owner *pgxpool.Pool, day time.Time, dir string) error {
	files, err := blob.OpenDir(filepath.Join(w.dir, dir))
	if err != nil {
		return err
	}
	defer files.Close()
	_, err = (&journal.Archiver{Pool: owner, Files: files, Now: time.Now}).Archive(ctx, day)
	return err
}

// grow lets the service go on: answers, promises, checkpoints that witnesses sign, receipts,
// and a monitor that reads it all.
func (w *template) grow(ctx context.Context, batches int) error {
	owner, _, done, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	w.log.Pool = owner
	j, err := journal.Open(ctx, owner, "node", 1)
	if err != nil {
		return err
	}
	var asked []uuid.UUID
	for range batches {
		id, err := w.record(ctx, j, time.Now(), w.promise)
		if err != nil {
			return err
		}
		asked = append(asked, id)
	}
	if err := j.Close(ctx); err != nil {
		return err
	}
	if err := w.publish(ctx, owner, w.log); err != nil {
		return err
	}
	if err := w.keepReceipts(ctx, owner, asked[:1]); err != nil {
		return err
	}
	_, err = w.monitor(full).Check(ctx)
	w.grown = time.Now()
	return err
}

// fresh lets the template go on if that is due, and returns a copy of it.
func (w *template) fresh(ctx context.Context) (*world, error) {
	if time.Since(w.grown) > 20*time.Second {
		if err := w.grow(ctx, 1); err != nil {
			return nil, fmt.Errorf("the untouched world: %w", err)
		}
	}
	return w.copy(ctx)
}

// record writes a batch of answers and returns the id of one. With a signer, the caller
// gets a promise of it.
func (w *template) record(ctx context.Context, j *journal.Journal, at time.Time, by *logreceipt.Signer) (uuid.UUID, error) {
	batch := make([]record.Entry, 2+w.rng.IntN(4))
	for i := range batch {
		batch[i] = newRecord(w.rng, at.UTC().Truncate(time.Millisecond))
	}
	var promised *logreceipt.PromisedBatch
	err := j.RecordPrepared(ctx, func(pg.DB) ([]record.Entry, error) { return batch, nil }, func(s *journal.Prepared) {
		if by != nil {
			promised = by.Sign(s)
		}
	})
	i := w.rng.IntN(len(batch))
	if err == nil && by != nil {
		text := logreceipt.Promise{Batch: promised, Index: i}.Append("", nil)
		err = w.keep("promise-"+batch[i].RequestID.String(), text)
	}
	return batch[i].RequestID, err
}

// keepReceipts gets receipts of answers.
func (w *template) keepReceipts(ctx context.Context, pool *pgxpool.Pool, ids []uuid.UUID) error {
	for _, id := range ids {
		r, err := w.receipt(ctx, pool, id)
		if err != nil {
			return err
		}
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if err := w.keep("receipt-"+id.String(), text); err != nil {
			return err
		}
	}
	return nil
}

// receipt makes a receipt as the service does.
func (w *world) receipt(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID) (*receipt.Receipt, error) {
	tiles, err := blob.OpenDir(filepath.Join(w.dir, "log"))
	if err != nil {
		return nil, err
	}
	defer tiles.Close()
	maker := &logreceipt.Maker{Pool: pool, Tiles: tiles, Origin: origin}
	b, err := maker.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	return maker.Make(ctx, b, false)
}

// keep stores a receipt where its owner keeps those.
func (w *world) keep(name string, text []byte) error {
	return os.WriteFile(filepath.Join(w.dir, "receipts", name+".json"), text, 0o600)
}

func newRecord(rng *rand.Rand, at time.Time) record.Entry {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	e := record.Entry{
		RequestID: record.NewRequestID(at), At: at, Type: "number", Entity: uuid.New(), Key: uuid.New(), Mode: pick("live", "test"), Purpose: pick("kyc", "payment"),
		PurposeText: pick("", "a loan"), Status: pick("NORMAL", "SWAPPED", "BARRED", "PORTED"), MobileNetwork: pick("Seven", "Eight"),
		LineVersion: rng.Int64N(90), PolicyVersion: 1 + rng.Int32N(2), PlanVersion: 1, Rules: 1, Nonce: record.NewNonce(),
	}
	e.Number = 2348030000000 + rng.Int64N(10_000_000)
	e.PhoneNumber, e.Correlator, e.ExternalID = fmt.Sprintf("+%d", e.Number), pick("", "bank-7:4711"), pick("", "customer 4711")
	return e
}
