package tampering_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
)

// logKinds are attacks on the log and its checkpoints: kinds 23 to 32 of the list.
var logKinds = []kind{
	{"23 batch logged twice", func(a *attack) { a.appended(rowOf(a.entry(a.pickBatch()))) }, database},
	{"24 tail cut off, old checkpoint shown", (*attack).cutTail, unnoticed},
	{"25 log frozen, old checkpoint replayed", func(a *attack) {
		a.show(a.seenAt(a.newest(), time.Now().Add(-5*time.Minute-a.upTo(24*time.Hour))))
	}, ownersLog},
	{"26 backup restored quietly, other answers since", (*attack).restoreQuietly, ownersLog},
	{"27 fork shown to one asker", func(a *attack) { a.handFork(a.sign) }, ownersLog},
	{"28 one witness of two bribed", func(a *attack) {
		a.bribe(a.rng.IntN(2))
		a.handFork(a.ask)
	}, ownersLog},
	{"29 bit flipped in a tile or bundle", func(a *attack) { a.flipBit(a.tileFile(chance(a, a.currentTiles()))) }, database},
	{"30 signature of the checkpoint altered", func(a *attack) { a.alterSignature(0, func(size int) int { return size - 64 + a.rng.IntN(64) }) }, database},
	{"31 cosigned time altered", func(a *attack) { a.alterSignature(1, func(size int) int { return size - 64 - 8 + a.rng.IntN(8) }) }, database},
	{"32 size or root of the checkpoint altered", (*attack).alterCheckpoint, database},
}

// cutTail removes the newest entries and their batches, and shows an old checkpoint.
func (a *attack) cutTail() {
	note := a.notes[len(a.notes)/2+a.rng.IntN(len(a.notes)/2-1)]
	_, tree, err := checkpoint.Parse(note)
	ensure(err)
	rows := a.log()
	for _, r := range rows[tree.N:] {
		if r.Epoch != nil && a.flip() {
			a.may(`DELETE FROM journal_entry WHERE epoch = $1 AND n = $2`, *r.Epoch, *r.N)
			a.may(`DELETE FROM journal_batch WHERE epoch = $1 AND n = $2`, *r.Epoch, *r.N)
			a.may(`UPDATE journal_epoch_end SET unused = unused || $2::bigint WHERE epoch = $1`, *r.Epoch, *r.N)
		}
	}
	a.rewrite(rows[:tree.N])
	a.retile(rows[:tree.N])
	a.show(note)
}

// restoreQuietly goes back to an old moment, and from there on with other answers.
func (a *attack) restoreQuietly() {
	_, tree, err := checkpoint.Parse(a.notes[len(a.notes)/2])
	ensure(err)
	rows := a.log()
	for _, r := range rows[tree.N:] {
		if r.Epoch != nil {
			a.may(`DELETE FROM journal_entry WHERE epoch = $1 AND n = $2`, *r.Epoch, *r.N)
			a.may(`DELETE FROM journal_batch WHERE epoch = $1 AND n = $2`, *r.Epoch, *r.N)
			a.may(`DELETE FROM journal_epoch_start WHERE epoch = $1`, *r.Epoch)
			a.may(`DELETE FROM journal_epoch_end WHERE epoch = $1`, *r.Epoch)
		}
	}
	a.may(`DELETE FROM journal_epoch_end e WHERE NOT EXISTS (SELECT FROM journal_epoch_start s WHERE s.epoch = e.epoch)`)
	rows = rows[:tree.N]
	for range 1 + a.rng.IntN(12) {
		rows = append(rows, rowOf(a.entry(a.addBatch(time.Now()))))
	}
	a.rewrite(rows)
	a.retile(rows)
	a.show(a.ask(rows))
}

// handFork gives an asker a receipt of a log that only this asker sees.
func (a *attack) handFork(sign func([]logRow) string) {
	p := a.pick()
	before := a.load(p)
	e := before
	e.Status = "another answer"
	a.store(p, &e)
	rows := a.relogged(a.seal(p.batch))
	a.hand(p, rows, sign(rows))
	a.store(p, &before) // nobody else sees it
	a.seal(p.batch)
}

// alterSignature alters a byte of a signature of the published checkpoint, of the first or
// of a later one.
func (a *attack) alterSignature(first int, where func(size int) int) {
	body, signatures := text(a.newest())
	i := first + a.rng.IntN(len(signatures)-first)
	name, encoded, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(signatures[i]), "\u2014 "), " ")
	raw := got(base64.StdEncoding.DecodeString(encoded))
	raw[where(len(raw))] ^= 1 << a.rng.IntN(8)
	signatures[i] = "\u2014 " + name + " " + base64.StdEncoding.EncodeToString(raw) + "\n"
	lines := []string{body}
	for _, s := range signatures {
		lines = append(lines, strings.TrimSuffix(s, "\n"))
	}
	a.exec(`UPDATE log_published SET note = $1`, strings.Join(lines, "\n")+"\n")
}

// alterCheckpoint alters what the signatures are about.
func (a *attack) alterCheckpoint() {
	note := a.newest()
	_, tree, err := checkpoint.Parse(note)
	ensure(err)
	if a.flip() {
		note = strings.Replace(note, "\n"+strconv.FormatInt(tree.N, 10)+"\n", "\n"+strconv.FormatInt(max(1, tree.N-3+a.rng.Int64N(3)), 10)+"\n", 1)
	} else {
		root := tree.Hash
		root[a.rng.IntN(len(root))] ^= 1 << a.rng.IntN(8)
		note = strings.Replace(note, tree.Hash.String(), root.String(), 1)
	}
	a.exec(`UPDATE log_published SET note = $1`, note)
}

// flipBit flips a bit of a file.
func (a *attack) flipBit(file string) {
	content := got(os.ReadFile(file))
	content[a.rng.IntN(len(content))] ^= 1 << a.rng.IntN(8)
	ensure(os.Remove(file))
	ensure(os.WriteFile(file, content, 0o600))
}

// files returns the files below a directory.
func (a *attack) files(dir string) (list []string) {
	ensure(filepath.WalkDir(filepath.Join(a.dir, dir), func(path string, f fs.DirEntry, err error) error {
		if err == nil && f.Type().IsRegular() {
			list = append(list, path)
		}
		return err
	}))
	return list
}
