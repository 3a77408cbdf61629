package tampering_test

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// attack is one misdeed. Its methods panic when something of their own goes wrong.
type attack struct {
	*world

	ctx  context.Context //nolint:containedctx // an attack is one call
	rng  *rand.Rand
	pool *pgxpool.Pool
	// handed are receipts that the attacker gives to those who asked.
	handed []handed
}

// handed is a receipt, and the id and the status that its holder was told.
type handed struct {
	text      []byte
	id        uuid.UUID
	status    string
	isPromise bool
}

// ensure ends an attack that did not work.
func ensure(err error) {
	if err != nil {
		panic(err)
	}
}

func got[T any](v T, err error) T {
	ensure(err)
	return v
}

// exec changes the database, and must change something.
func (a *attack) exec(sql string, args ...any) {
	if tag := got(a.pool.Exec(a.ctx, sql, args...)); tag.RowsAffected() == 0 {
		panic("nothing is changed by " + sql)
	}
}

// may changes the database, or finds nothing to change.
func (a *attack) may(sql string, args ...any) { got(a.pool.Exec(a.ctx, sql, args...)) }

func one[T any](a *attack, sql string, args ...any) (v T) {
	ensure(a.pool.QueryRow(a.ctx, sql, args...).Scan(&v))
	return v
}

func all[T any](a *attack, sql string, args ...any) []T {
	return got(pgx.CollectRows(got(a.pool.Query(a.ctx, sql, args...)), pgx.RowToStructByPos[T]))
}

func chance[T any](a *attack, of []T) T { return of[a.rng.IntN(len(of))] }

// flip reports heads or tails.
func (a *attack) flip() bool { return a.rng.IntN(2) == 0 }

// batch is a row of the journal, without its root.
type batch struct {
	Node     string
	Epoch, N int64
	At       time.Time
	Count    int32
}

// place is where a record is.
type place struct {
	batch batch
	idx   int32
}

func (a *attack) batches() []batch {
	return all[batch](a, `SELECT node, epoch, n, at, count FROM journal_batch ORDER BY at, epoch, n`)
}

func (a *attack) pickBatch() batch { return chance(a, a.batches()) }

// pick chooses any record of the database.
func (a *attack) pick() place {
	b := a.pickBatch()
	return place{b, a.rng.Int32N(b.Count)}
}

const thisRecord = ` WHERE at = $1 AND epoch = $2 AND n = $3 AND idx = $4`

func (p *place) args() []any { return []any{p.batch.At, p.batch.Epoch, p.batch.N, p.idx} }

// load reads a record.
func (a *attack) load(p place) (e record.Entry) {
	var epoch, n int64
	var idx int32
	var coverage, nonce, hash []byte
	ensure(a.pool.QueryRow(a.ctx, `SELECT `+journaltest.Fields+` FROM journal_entry`+thisRecord, p.args()...).Scan(&e.RequestID, &e.At, &epoch, &n, &idx, &e.Type, &e.Entity, &e.Key, &e.Mode,
		&e.Purpose, &e.PurposeText, &e.Status, &e.Reason, &e.MobileNetwork, &e.LineVersion, &e.PolicyVersion, &e.PlanVersion, &e.Rules, &coverage, &e.Number,
		&e.PhoneNumber, &e.Correlator, &e.ExternalID, &e.OnBehalfOf, &e.Options, &e.Extra, &nonce, &hash))
	e.At = e.At.UTC()
	copy(e.Coverage[:], coverage)
	e.SetStoredNonce(nonce)
	return e
}

// store replaces a record by another one, with its hash.
func (a *attack) store(p place, e *record.Entry) {
	a.may(`DELETE FROM journal_entry`+thisRecord, p.args()...)
	a.exec(journaltest.Insert(), journaltest.Row(e, p.batch.Epoch, p.batch.N, int(p.idx))...)
}

// change changes one field of a record, any of those that are hashed.
func (a *attack) change(e *record.Entry) {
	texts := []*string{
		&e.Type, &e.Mode, &e.Purpose, &e.PurposeText, &e.Status, &e.Reason, &e.MobileNetwork,
		&e.PhoneNumber, &e.Correlator, &e.ExternalID, &e.OnBehalfOf, &e.Options, &e.Extra,
	}
	switch i := a.rng.IntN(len(texts) + 8); i - len(texts) {
	case 0:
		e.Entity[a.rng.IntN(16)] ^= 1 << a.rng.IntN(8)
	case 1:
		e.Key[a.rng.IntN(16)] ^= 1 << a.rng.IntN(8)
	case 2:
		e.Number += 1 + a.rng.Int64N(1000)
	case 3:
		e.LineVersion++
	case 4:
		e.PolicyVersion = 3 - e.PolicyVersion
	case 5:
		e.PlanVersion++
	case 6:
		e.Coverage[a.rng.IntN(len(e.Coverage))] ^= 1 << a.rng.IntN(8)
	case 7:
		e.RequestID[10+a.rng.IntN(6)] ^= 1 << a.rng.IntN(8)
	default:
		*texts[i] = chance(a, []string{"x" + *texts[i], *texts[i] + " ", "NORMAL.", "another"})
	}
}

// hashes returns the hashes of the records of a batch, as they are stored.
func (a *attack) hashes(b batch) [][]byte {
	return got(pgx.CollectRows(got(a.pool.Query(a.ctx, `SELECT hash FROM journal_entry WHERE at = $1 AND epoch = $2 AND n = $3 ORDER BY idx`, b.At, b.Epoch, b.N)), pgx.RowTo[[]byte]))
}

// seal computes root and count of a batch anew, and returns it.
func (a *attack) seal(b batch) batch {
	hashes := a.hashes(b)
	b.Count = int32(len(hashes))
	a.exec(`UPDATE journal_batch SET count = $4, root = $5 WHERE at = $1 AND epoch = $2 AND n = $3`, b.At, b.Epoch, b.N, b.Count, got(merkle.Root(hashes)))
	return b
}

// entry returns the entry that belongs to a batch as the database has it now.
func (a *attack) entry(b batch) []byte {
	e := logentry.Batch{At: b.At, Epoch: b.Epoch, N: b.N, Count: b.Count}
	copy(e.Root[:], one[[]byte](a, `SELECT root FROM journal_batch WHERE at = $1 AND epoch = $2 AND n = $3`, b.At, b.Epoch, b.N))
	return e.Encode()
}

// addBatch writes a batch with all that belongs to it, in a transaction that the log has
// seen, so that the service does not add it.
func (a *attack) addBatch(at time.Time) batch {
	last := chance(a, a.batches())
	b := batch{last.Node, last.Epoch, one[int64](a, `SELECT max(n) + 1 FROM journal_batch WHERE epoch = $1`, last.Epoch), at.UTC().Truncate(time.Millisecond), 1 + a.rng.Int32N(3)}
	a.exec(`INSERT INTO journal_batch (node, epoch, n, at, count, root, xact) VALUES ($1, $2, $3, $4, $5, sha256(''), '3')`, b.Node, b.Epoch, b.N, b.At, b.Count)
	for i := range b.Count {
		e := newRecord(a.rng, b.At)
		a.store(place{b, i}, &e)
	}
	a.may(`UPDATE journal_epoch_end SET last = $2 WHERE epoch = $1`, b.Epoch, b.N)
	return a.seal(b)
}

// deleteBatch deletes a batch with its records, and hides that its number is missing.
func (a *attack) deleteBatch(b batch) {
	a.exec(`DELETE FROM journal_entry WHERE at = $1 AND epoch = $2 AND n = $3`, b.At, b.Epoch, b.N)
	a.exec(`DELETE FROM journal_batch WHERE at = $1 AND epoch = $2 AND n = $3`, b.At, b.Epoch, b.N)
	if a.flip() {
		a.may(`UPDATE journal_epoch_end SET unused = unused || $2::bigint WHERE epoch = $1`, b.Epoch, b.N)
	}
}
