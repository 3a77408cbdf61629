package tampering_test

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
	"github.com/lineproof/lineproof/receipt"
)

// receiptKinds are attacks on those who hold receipts: kinds 33, 34 and 41 of the list, and
// more.
var receiptKinds = []kind{
	{"33 promise never kept", func(a *attack) {
		e, text := a.promised(time.Now().Add(-2*time.Minute-a.upTo(time.Hour)), a.key)
		ensure(a.keep("promise-"+e.RequestID.String(), text))
	}, witnessed},
	{"34 promise for another answer", func(a *attack) {
		e, text := a.promised(time.Now(), a.key)
		told := handed{text, e.RequestID, e.Status, true}
		if a.flip() {
			told.status = "what was answered"
		} else {
			told.id = record.NewRequestID(e.At)
		}
		a.handed = append(a.handed, told)
	}, database},
	{"41 key swapped where the service publishes it", func(a *attack) {
		// Everything is consistent for whoever takes the key from the service.
		rows, other := a.log(), a.otherKey()
		tree, _ := treeOf(rows)
		a.show(got(other.SignCheckpoint(tree.N, tree.Hash[:])))
		a.may(`UPDATE log_key SET value = $1 WHERE role = 'log'`, other.Verifier())
		a.hand(a.pick(), rows, a.newest())
	}, database},
	{"44 receipt altered in one byte", func(a *attack) {
		h := a.honest()
		statement := strings.Index(string(h.text), receipt.Statement) // it proves nothing
		for before := string(h.text); string(h.text) == before; {
			i := a.rng.IntN(len(h.text))
			if i < statement || i >= statement+len(receipt.Statement) {
				h.text[i] = "ABCDEFabcdef0123456789"[a.rng.IntN(22)]
			}
		}
		a.handed = append(a.handed, h)
	}, unnoticed},
	{"45 record of a receipt exchanged, of the same batch", func(a *attack) {
		p := a.pick()
		q := place{p.batch, (p.idx + 1) % p.batch.Count}
		h, other := a.receiptOf(p), a.receiptOf(q)
		r, o := got(receipt.Parse(h.text)), got(receipt.Parse(other.text))
		if o.Public, o.Personal = r.Public, r.Personal; a.flip() {
			o.Batch.Index = r.Batch.Index
		}
		h.text = got(json.Marshal(o))
		a.handed = append(a.handed, h)
	}, database},
	{"46 proof of another entry", func(a *attack) {
		p, q := a.pick(), a.pick()
		for q.batch == p.batch {
			q = a.pick()
		}
		h := a.receiptOf(p)
		r := got(receipt.Parse(h.text))
		r.Proof = got(receipt.Parse(a.receiptOf(q).text)).Proof
		h.text = got(json.Marshal(r))
		a.handed = append(a.handed, h)
	}, database},
	{"47 erased receipt of a record that never was", func(a *attack) {
		h := a.honest()
		r := got(receipt.Parse(h.text))
		r.Personal = nil
		r.PersonalHash = make([]byte, 32)
		_, _ = rand.Read(r.PersonalHash)
		h.text = got(json.Marshal(r))
		a.handed = append(a.handed, h)
	}, database},
	{"48 promise signed by a key that nobody certified", func(a *attack) {
		e, text := a.promised(time.Now(), a.otherKey())
		a.handed = append(a.handed, handed{text, e.RequestID, e.Status, true})
	}, database},
}

// promised makes an answer that is never recorded, and a promise of it.
func (a *attack) promised(at time.Time, by *logkey.Key) (record.Entry, []byte) {
	e := newRecord(a.rng, at.UTC().Truncate(time.Millisecond))
	hash := e.Hash()
	b := logentry.Batch{At: e.At, Epoch: 1 + a.rng.Int64N(9), N: 1000 + a.rng.Int64N(1000), Count: 1, Root: [32]byte(got(merkle.Root([][]byte{hash[:]})))}
	secret, verifier, err := note.GenerateKey(rand.Reader, receipt.PromiseKeyName(origin))
	ensure(err)
	key := got(note.Sign(&note.Note{Text: receipt.KeyText(origin, verifier, at.Add(-time.Hour), at.Add(time.Hour))}, by))
	promise := got(note.Sign(&note.Note{Text: receipt.PromiseText(origin, b.Encode())}, got(note.NewSigner(secret))))
	r := receipt.Receipt{
		Form: receipt.Form, Statement: receipt.Statement, Public: e.EncodePublic(), Personal: append(e.EncodePersonal(), e.Nonce[:]...),
		Batch:   receipt.Batch{Epoch: b.Epoch, N: b.N, At: e.At.UnixMilli(), Count: 1, Path: []receipt.Bytes{}, Root: b.Root[:]},
		Promise: string(promise), Key: string(key),
	}
	return e, got(json.Marshal(r))
}

// receiptOf makes the true receipt of a record.
func (a *attack) receiptOf(p place) handed {
	e := a.load(p)
	return handed{text: got(json.Marshal(got(a.receipt(a.ctx, a.pool, e.RequestID)))), id: e.RequestID, status: e.Status}
}

// honest returns the true receipt of any record.
func (a *attack) honest() handed { return a.receiptOf(a.pick()) }

// hand gives somebody a receipt of a record as it is in the database, with a proof from
// another log.
func (a *attack) hand(p place, rows []logRow, note string) {
	e := a.load(p)
	hashes := a.hashes(p.batch)
	tree := merkle.NewLevels(len(hashes), func(i int) []byte { return hashes[i] })
	r := receipt.Receipt{
		Form: receipt.Form, Statement: receipt.Statement, Public: e.EncodePublic(), Personal: append(e.EncodePersonal(), e.Nonce[:]...),
		Batch: receipt.Batch{Epoch: p.batch.Epoch, N: p.batch.N, At: p.batch.At.UnixMilli(), Count: int32(len(hashes)), Index: int64(p.idx), Path: []receipt.Bytes{}, Root: tree.Root()[:]},
		Proof: forgedProof(rows, indexOf(rows, p.batch), note),
	}
	tree.Path(int(p.idx), func(at int) { r.Batch.Path = append(r.Batch.Path, slices.Clone(tree.Hashes[at][:])) })
	a.handed = append(a.handed, handed{text: got(json.Marshal(r)), id: e.RequestID, status: e.Status})
}
