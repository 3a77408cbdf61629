package tampering_test

import (
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
)

// kind is a kind of tampering.
type kind struct {
	name string
	do   func(a *attack)
	// missed is the highest control that must not find it, or unnoticed. With less than what
	// comes after it, such an attack succeeds.
	missed level
}

// recordKinds are attacks on records and batches: kinds 1 to 22 of the list.
var recordKinds = []kind{
	{"1 field altered", func(a *attack) { a.alter(0) }, unnoticed},
	{"2 nonce swapped", (*attack).swapNonces, unnoticed},
	{"3 field and hash altered", func(a *attack) { a.alter(1) }, unnoticed},
	{"4 field, hash and root altered", func(a *attack) { a.alter(2) }, database},
	{"5 and the log and its tiles", func(a *attack) {
		rows := a.relogged(a.alter(2))
		a.rewrite(rows)
		a.retile(rows)
	}, database},
	{"6 and signed anew, witnesses skipped", func(a *attack) { a.unwitnessed(a.relogged(a.alter(2))) }, ownersLog},
	{"7 and signed anew, witnesses asked", func(a *attack) { a.askedInVain(a.relogged(a.alter(2))) }, ownersLog},
	{"8 record deleted", func(a *attack) {
		p := a.pick()
		a.exec(`DELETE FROM journal_entry`+thisRecord, p.args()...)
	}, unnoticed},
	{"9 record deleted, batch sealed anew", func(a *attack) { a.shrink() }, database},
	{"10 batch deleted with its records", func(a *attack) { a.deleteBatch(a.pickBatch()) }, unnoticed},
	{"11 and the log written anew", func(a *attack) {
		b := a.pickBatch()
		a.deleteBatch(b)
		rows := a.log()
		i := indexOf(rows, b)
		a.unwitnessed(append(rows[:i], rows[i+1:]...))
	}, unnoticed},
	{"12 record inserted", func(a *attack) { a.insert() }, unnoticed},
	{"13 record inserted, batch sealed anew", func(a *attack) { a.seal(a.insert()) }, database},
	{"14 batch inserted, dated back", func(a *attack) { a.addBatch(time.Now().Add(-2*time.Minute - a.upTo(3*time.Hour))) }, unnoticed},
	{"15 dated back, then logged properly", func(a *attack) {
		a.appended(rowOf(a.entry(a.addBatch(time.Now().Add(-2*time.Minute - a.upTo(3*time.Hour))))))
	}, unnoticed},
	{"16 dated ahead, then logged properly", func(a *attack) {
		a.appended(rowOf(a.entry(a.addBatch(time.Now().Add(2*time.Second + a.upTo(3*time.Hour))))))
	}, unnoticed},
	{"17 records reordered", func(a *attack) {
		p := a.pick()
		q := place{p.batch, (p.idx + 1) % p.batch.Count}
		a.exec(`UPDATE journal_entry SET idx = $4 + $5 - idx WHERE at = $1 AND epoch = $2 AND n = $3 AND idx IN ($4, $5)`, p.batch.At, p.batch.Epoch, p.batch.N, p.idx, q.idx)
	}, unnoticed},
	{"18 entries reordered", func(a *attack) {
		rows := a.reordered()
		a.rewrite(rows)
		if a.flip() {
			a.retile(rows)
		}
	}, database},
	{"19 entries reordered and signed anew", func(a *attack) {
		if rows := a.reordered(); a.flip() {
			a.unwitnessed(rows)
		} else {
			a.askedInVain(rows)
		}
	}, ownersLog},
	{"20 record moved to another batch", func(a *attack) { a.moveRecord(true) }, unnoticed},
	{"21 record copied to another batch", func(a *attack) { a.moveRecord(false) }, unnoticed},
	{"22 batch copied under a new number", (*attack).copyBatch, unnoticed},
	{"35 epoch or number altered", (*attack).renumber, unnoticed},
	{"36 count lowered with the entry", func(a *attack) {
		rows := a.relogged(a.shrink())
		a.rewrite(rows)
		a.retile(rows)
	}, database},
}

func (a *attack) upTo(d time.Duration) time.Duration { return time.Duration(a.rng.Int64N(int64(d))) }

// alter changes a field; with depth 1 the hash, too, and with depth 2 the root.
func (a *attack) alter(depth int) batch {
	p := a.pick()
	before := a.load(p)
	e := before
	for e.Hash() == before.Hash() { // some changes of a text are none
		a.change(&e)
	}
	a.store(p, &e)
	if depth == 0 {
		hash := before.Hash()
		a.exec(`UPDATE journal_entry SET hash = $5`+thisRecord, append(p.args(), hash[:])...)
	}
	if depth == 2 {
		return a.seal(p.batch)
	}
	return p.batch
}

// relogged returns the log with the entry about a batch as the batch is now.
func (a *attack) relogged(b batch) []logRow {
	rows := a.log()
	rows[indexOf(rows, b)] = rowOf(a.entry(b))
	return rows
}

// unwitnessed publishes another log without asking witnesses, with or without their old
// signatures.
func (a *attack) unwitnessed(rows []logRow) {
	_, signatures := text(a.newest())
	a.fork(rows)
	if a.flip() {
		note := []string{strings.TrimSuffix(a.newest(), "\n")}
		for _, s := range signatures[1:] {
			note = append(note, strings.TrimSuffix(s, "\n"))
		}
		a.show(strings.Join(note, "\n") + "\n")
	}
}

// askedInVain publishes another log, which goes on, with the signatures of the witnesses
// that accept it.
func (a *attack) askedInVain(rows []logRow) {
	b := a.addBatch(time.Now())
	rows = append(rows, rowOf(a.entry(b)))
	a.rewrite(rows)
	a.retile(rows)
	a.show(a.ask(rows))
}

func (a *attack) swapNonces() {
	p, q := a.pick(), a.pick()
	for a.load(p).Nonce == a.load(q).Nonce {
		q = a.pick()
	}
	x, y := a.load(p).Nonce, a.load(q).Nonce
	a.exec(`UPDATE journal_entry SET nonce = $5`+thisRecord, append(p.args(), y[:])...)
	a.exec(`UPDATE journal_entry SET nonce = $5`+thisRecord, append(q.args(), x[:])...)
}

// shrink deletes a record and seals its batch anew.
func (a *attack) shrink() batch {
	p := a.pick()
	for p.batch.Count < 2 {
		p = a.pick()
	}
	a.exec(`DELETE FROM journal_entry`+thisRecord, p.args()...)
	a.may(`UPDATE journal_entry SET idx = idx - 1 WHERE at = $1 AND epoch = $2 AND n = $3 AND idx > $4`, p.args()...)
	return a.seal(p.batch)
}

// insert adds a record to a batch, at any place.
func (a *attack) insert() batch {
	p := a.pick()
	e := newRecord(a.rng, p.batch.At)
	a.exec(`UPDATE journal_entry SET idx = idx + 1 WHERE at = $1 AND epoch = $2 AND n = $3 AND idx >= $4`, p.args()...)
	a.exec(journaltest.Insert(), journaltest.Row(&e, p.batch.Epoch, p.batch.N, int(p.idx))...)
	return p.batch
}

// reordered returns the log with two entries about batches in each other's places.
func (a *attack) reordered() []logRow {
	rows := a.log()
	i := indexOf(rows, a.pickBatch())
	j := i
	for j == i {
		j = indexOf(rows, a.pickBatch())
	}
	rows[i], rows[j] = rows[j], rows[i]
	return rows
}

// moveRecord moves or copies a record to the end of another batch.
func (a *attack) moveRecord(move bool) {
	p, q := a.pick(), a.pick()
	for q.batch == p.batch {
		q = a.pick()
	}
	e := a.load(p)
	if move {
		a.exec(`DELETE FROM journal_entry`+thisRecord, p.args()...)
		a.may(`UPDATE journal_entry SET idx = idx - 1 WHERE at = $1 AND epoch = $2 AND n = $3 AND idx > $4`, p.args()...)
	}
	a.exec(journaltest.Insert(), journaltest.Row(&e, q.batch.Epoch, q.batch.N, int(q.batch.Count))...)
	if a.flip() { // with roots that fit
		a.seal(q.batch)
		if left := a.hashes(p.batch); move && len(left) > 0 {
			a.seal(p.batch)
		}
	}
}

// copyBatch copies a batch under another number, with its records or with records that
// have ids of their own.
func (a *attack) copyBatch() {
	b := a.pickBatch()
	var copies []record.Entry
	for i := range b.Count {
		copies = append(copies, a.load(place{b, i}))
	}
	to := b
	to.N = one[int64](a, `SELECT max(n) + 1 FROM journal_batch WHERE epoch = $1`, b.Epoch)
	a.exec(`INSERT INTO journal_batch (node, epoch, n, at, count, root, xact) VALUES ($1, $2, $3, $4, $5, sha256(''), '3')`, to.Node, to.Epoch, to.N, to.At, to.Count)
	for i := range copies {
		a.store(place{to, int32(i)}, &copies[i])
	}
	a.may(`UPDATE journal_epoch_end SET last = $2 WHERE epoch = $1`, to.Epoch, to.N)
	a.seal(to)
	if a.flip() {
		a.appended(rowOf(a.entry(to)))
	}
}

// renumber gives a batch another number or epoch, with its records.
func (a *attack) renumber() {
	b := a.pickBatch()
	epoch, n := b.Epoch, b.N+100+a.rng.Int64N(100)
	if a.flip() {
		epoch, n = one[int64](a, `SELECT max(epoch) + 1 FROM journal_epoch_start`), 1
		a.exec(`INSERT INTO journal_epoch_start (epoch, node, flushes, started_at) VALUES ($1, $2, 1, $3)`, epoch, b.Node, b.At)
	}
	for _, table := range []string{"journal_entry", "journal_batch"} {
		a.exec(`UPDATE `+table+` SET epoch = $4, n = $5 WHERE at = $1 AND epoch = $2 AND n = $3`, b.At, b.Epoch, b.N, epoch, n)
	}
}
