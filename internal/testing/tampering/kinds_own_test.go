package tampering_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// ownKinds are attacks that are not on the list.
var ownKinds = []kind{
	{"49 beginning of the log moved ahead, batch inserted before it", func(a *attack) {
		a.addBatch(time.Now().Add(-2*time.Minute - a.upTo(time.Hour)))
		a.exec(`UPDATE log_head SET began = now()`)
	}, unnoticed},
	{"50 head of the log altered", func(a *attack) {
		a.exec(chance(a, []string{
			`UPDATE log_head SET root = sha256('x')`, `UPDATE log_head SET edge = sha256('x') || substr(edge, 33)`, `UPDATE log_head SET size = size - 1`, `UPDATE log_head SET size = size + 1`,
		}))
	}, database},
	{"51 checkpoint altered or invented in the database", func(a *attack) {
		a.exec(chance(a, []string{
			`UPDATE log_checkpoint SET root = sha256('x') WHERE size = (SELECT size FROM log_checkpoint ORDER BY random() LIMIT 1)`,
			`INSERT INTO log_checkpoint SELECT s, sha256('x'), now() FROM log_head, generate_series(1, size) s WHERE s NOT IN (SELECT size FROM log_checkpoint) ORDER BY random() LIMIT 1`,
			`INSERT INTO log_checkpoint SELECT size + 1, sha256('x'), now() FROM log_head`,
		}))
	}, database},
	{"52 two entries of one index", func(a *attack) {
		a.exec(`INSERT INTO log_entry (idx, at, kind, epoch, n, entry) SELECT idx, at - interval '1 second', kind, epoch, n, substr(entry, 1, 23) || int8send(0) || substr(entry, 32) FROM log_entry ORDER BY random() LIMIT 1`)
	}, database},
	{"53 columns of an entry altered, its bytes not", func(a *attack) {
		a.exec(`UPDATE log_entry SET ` + chance(a, []string{`n = n + 1000`, `epoch = epoch + 1000`, `at = at + interval '1 millisecond'`, `at = at - interval '1 day'`}) +
			` WHERE idx = (SELECT idx FROM log_entry WHERE kind = 1 ORDER BY random() LIMIT 1)`)
	}, database},
	{"54 entry of a form that does not exist, logged properly", func(a *attack) {
		e := logentry.Entry{Kind: logentry.Kind(2 + a.rng.IntN(200)), At: time.Now().UTC().Truncate(time.Millisecond), Body: []byte("anything")}
		a.appended(logRow{At: e.At, Kind: int16(e.Kind), Entry: e.Encode()})
	}, database},
	{"55 batch that never was, logged properly", func(a *attack) {
		b := logentry.Batch{At: time.Now().UTC().Truncate(time.Millisecond), Epoch: a.pickBatch().Epoch, N: 1000 + a.rng.Int64N(1000), Count: 1 + a.rng.Int32N(1000)}
		b.Root[a.rng.IntN(32)] = 7
		a.appended(rowOf(b.Encode()))
	}, database},
	{"56 answers counted wrongly from the start", func(a *attack) {
		b := a.addBatch(time.Now())
		b.Count += 1 + a.rng.Int32N(1000)
		a.appended(rowOf(a.entry(b)))
	}, database},
	{"57 audit row altered or invented, chain computed anew", func(a *attack) {
		a.exec(chance(a, []string{
			`UPDATE audit SET actor_kind = 'system' WHERE id = (SELECT id FROM audit WHERE action = 'policy.set' ORDER BY random() LIMIT 1)`,
			`UPDATE audit SET after = '{"i": 99}' WHERE id = (SELECT id FROM audit WHERE action = 'policy.set' ORDER BY random() LIMIT 1)`,
			`UPDATE audit SET at = at + interval '1 second' WHERE id = (SELECT id FROM audit WHERE action = 'policy.set' ORDER BY random() LIMIT 1)`,
			`INSERT INTO audit SELECT gen_random_uuid(), at, actor_kind, actor_id, action, subject_id, entity_id, request_id, from_addr, before, after FROM audit WHERE action = 'policy.set' ORDER BY random() LIMIT 1`,
		}))
		a.rechain()
	}, database},
	{"58 newest hours of the audit trail removed", func(a *attack) {
		a.exec(`DELETE FROM audit WHERE at >= (SELECT max(hour) FROM audit_hour)`)
		a.exec(`DELETE FROM audit_hour WHERE hour = (SELECT max(hour) FROM audit_hour)`)
	}, unnoticed},
	{"59 version of the policy that the log does not get", func(a *attack) {
		a.exec(`INSERT INTO policy SELECT (jsonb_populate_record(p, jsonb_build_object('version', 3, 'id', gen_random_uuid(), 'effective_at', now() - interval '1 day'))).* FROM policy p WHERE version = 2`)
	}, database},
	{"60 import that the log does not get", func(a *attack) {
		a.exec(`INSERT INTO supply_import (uid, network, supplier, supplier_name, kind, dry_run, source, state, rows, created_at, updated_at) VALUES (gen_random_uuid(), 7, 3, 'Seven', 'events', false, 'cli', 'applied', 9, now(), now())`)
	}, database},
	{"61 list of keys altered", func(a *attack) {
		a.exec(chance(a, []string{
			`DELETE FROM log_key WHERE id = (SELECT id FROM log_key ORDER BY random() LIMIT 1)`, `UPDATE log_key SET value = value || 'x' WHERE id = (SELECT id FROM log_key ORDER BY random() LIMIT 1)`,
			`INSERT INTO log_key (role, value) VALUES ('promise', 'lineproof.example/log+00000000+AAAA')`,
		}))
	}, database},
	{"62 answer added to an archived day", func(a *attack) {
		day := one[time.Time](a, `SELECT day FROM journal_archive`)
		ensure(journaltest.MakeDay(a.ctx, a.pool, day))
		a.addBatch(day.Add(a.upTo(24 * time.Hour)))
	}, unnoticed},
	{"63 archived day removed", func(a *attack) {
		a.exec(`DELETE FROM journal_archive`)
		if a.may(`DELETE FROM journal_archive_run`); a.flip() {
			a.may(`DELETE FROM journal_epoch_start WHERE node = 'old'`)
			a.may(`DELETE FROM journal_epoch_end e WHERE NOT EXISTS (SELECT FROM journal_epoch_start s WHERE s.epoch = e.epoch)`)
		}
		ensure(os.RemoveAll(filepath.Join(a.dir, "journal")))
	}, unnoticed},
	{"65 signature of one witness shown as that of both", func(a *attack) {
		rows := a.relogged(a.alter(2))
		rows = append(rows, rowOf(a.entry(a.addBatch(time.Now()))))
		i := a.rng.IntN(2)
		a.bribe(i)
		a.rewrite(rows)
		a.retile(rows)
		note := a.ask(rows)
		_, signatures := text(note)
		from, to := fmt.Sprintf("w%d.example", i), fmt.Sprintf("w%d.example", 1-i)
		note += strings.Replace(strings.TrimSuffix(signatures[len(signatures)-1], "\n"), from, to, 1) + "\n"
		a.show(note)
	}, ownersLog},
	{"66 both witnesses bribed", func(a *attack) {
		rows := a.relogged(a.alter(2))
		a.bribe(0)
		a.bribe(1)
		a.askedInVain(rows)
	}, witnessed},
	{"68 tile removed, cut or lengthened", func(a *attack) {
		file := a.tileFile(chance(a, a.currentTiles()))
		content := got(os.ReadFile(file))
		ensure(os.Remove(file))
		switch a.rng.IntN(3) {
		case 0:
			ensure(os.WriteFile(file, content[:len(content)-1-a.rng.IntN(len(content)-1)], 0o600))
		case 1:
			ensure(os.WriteFile(file, append(content, content[:1+a.rng.IntN(len(content))]...), 0o600))
		}
	}, database},
	{"69 checkpoint of another log of the same key", func(a *attack) {
		tree, _ := treeOf(a.log())
		signed := got(note.Sign(&note.Note{Text: checkpoint.Format(origin+"8", tree.N, tree.Hash[:])}, a.key))
		a.exec(`UPDATE log_published SET note = $1`, string(signed))
	}, database},
	{"70 node of a batch altered", func(a *attack) {
		b := a.pickBatch()
		a.exec(`UPDATE journal_batch SET node = 'another' WHERE at = $1 AND epoch = $2 AND n = $3`, b.At, b.Epoch, b.N)
	}, unnoticed},
	{"71 end of an epoch cut off, and its last number lowered", func(a *attack) {
		b := chance(a, all[batch](a, `SELECT DISTINCT ON (epoch) node, epoch, n, at, count FROM journal_batch ORDER BY epoch, n DESC`))
		a.exec(`DELETE FROM journal_entry WHERE at = $1 AND epoch = $2 AND n = $3`, b.At, b.Epoch, b.N)
		a.exec(`DELETE FROM journal_batch WHERE at = $1 AND epoch = $2 AND n = $3`, b.At, b.Epoch, b.N)
		a.exec(`UPDATE journal_epoch_end SET last = last - 1 WHERE epoch = $1`, b.Epoch)
	}, database},
	{"72 deletion marked as lost in a restore", func(a *attack) {
		b := a.pickBatch()
		a.deleteBatch(b)
		a.exec(`UPDATE log_entry SET lost = true WHERE epoch = $1 AND n = $2`, b.Epoch, b.N)
	}, unnoticed},
	{"73 deletion announced as a restore that was none", (*attack).inventRestore, unnoticed},
	{"77 version of the policy dated back, logged properly", func(a *attack) {
		at := time.Now().Add(-5*time.Minute - a.upTo(24*time.Hour)).UTC().Truncate(time.Millisecond)
		a.exec(`INSERT INTO policy SELECT (jsonb_populate_record(p, jsonb_build_object('version', 3, 'id', gen_random_uuid()))).* FROM policy p WHERE version = 2`)
		e := logentry.Entry{Kind: logentry.Rules, At: at, Body: one[[]byte](a, `SELECT body FROM log_source WHERE key = 'policy 3'`)}
		a.appended(logRow{At: at, Kind: int16(e.Kind), Entry: e.Encode()})
	}, database},
	{"79 something else erased than was listed", func(a *attack) {
		p := a.pick()
		e := a.load(p)
		hash := e.Hash()
		inner := e.InnerHash()
		inner[a.rng.IntN(32)] ^= 1
		a.exec(`UPDATE journal_entry SET number = 0, phone_number = '', correlator = '', external_id = '', on_behalf_of = '', options = '', extra = '', nonce = $5`+thisRecord, append(p.args(), inner[:])...)
		a.exec(`INSERT INTO erasure (id, ground, state, asked_at, marked_at) VALUES ('7d444840-9dc0-41d1-b245-5ffdce74fad5', 'request', 'finished', now(), now())`)
		a.exec(`INSERT INTO journal_erased VALUES ($1, $2, $3, '7d444840-9dc0-41d1-b245-5ffdce74fad5')`, e.RequestID, e.At, hash[:])
	}, unnoticed},
}

// inventRestore deletes a batch and says in public that a restore has lost it. If there are
// batches of much later, it can be one in the middle; otherwise it claims that more is lost,
// and says fewer answers.
func (a *attack) inventRestore() {
	all := a.batches()
	newest := all[len(all)-1].At
	all = slices.DeleteFunc(all, func(b batch) bool { return newest.Sub(b.At) <= 2*time.Minute })
	middle := len(all) > 0
	if !middle {
		all = a.batches()[:3]
	}
	b := chance(a, all)
	rows := a.log()
	i := int64(indexOf(rows, b))
	a.deleteBatch(b)
	body := &logentry.Restore{First: i, After: i + 1, Answers: int64(b.Count), Reason: logentry.Restored}
	if !middle {
		body.After = int64(len(rows))
	}
	kind, bytes := logentry.EncodeBody(body)
	e := logentry.Entry{Kind: kind, At: time.Now().UTC().Truncate(time.Millisecond), Body: bytes}
	a.appended(logRow{At: e.At, Kind: int16(kind), Entry: e.Encode()})
	a.exec(`UPDATE log_entry SET lost = true WHERE idx >= $1 AND idx < $2`, body.First, body.After)
}

// currentTiles returns the tiles that the newest checkpoint needs. Narrower ones were
// published before them; nobody reads those any more, and they may be deleted.
func (a *attack) currentTiles() (list []merkle.Tile) {
	w := got(merkle.ResumeTiles(0, nil))
	add := func(t merkle.Tile, _ []byte) error {
		list = append(list, t)
		return nil
	}
	for _, r := range a.log() {
		ensure(w.Add(r.Entry, add))
	}
	ensure(w.Flush(add))
	return list
}
