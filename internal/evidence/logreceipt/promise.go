// This part of the package signs promises: receipts that callers get together with their answers,
// before the public log has these. Each says that the log will have the batch of the answer
// within a minute. There is one signature for each batch in which somebody wants a receipt.
//
// The key of the log signs once a second, perhaps slowly and on another machine. So each
// node makes a key of its own for promises, which is never stored, and has it certified by
// the key of the log for two days.

package logreceipt

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/receipt"
)

const (
	// lifetime is for how long a key is certified.
	lifetime = 48 * time.Hour
	// renewal is how often there is a new key. There is a day left if the key of the log
	// can't sign then.
	renewal = 24 * time.Hour
	// clockSkew is by how much batches may be older than the certificate of the key: clocks
	// are set back.
	clockSkew = time.Minute
)

// Signer signs the promises of a node.
type Signer struct {
	log *logkey.Key
	// announce puts a key into the public log before it signs.
	announce func(ctx context.Context, verifier string) error
	current  atomic.Pointer[certified]
}

// certified is a key with its certificate.
type certified struct {
	key         note.Signer
	certificate []byte // as a JSON string
	until       time.Time
}

// NewSigner returns a signer with its first key. Each key is announced before it signs.
func NewSigner(ctx context.Context, log *logkey.Key, now time.Time, announce func(ctx context.Context, verifier string) error) (*Signer, error) {
	s := &Signer{log: log, announce: announce}
	return s, s.renew(ctx, now)
}

// renew makes a new key.
func (s *Signer) renew(ctx context.Context, now time.Time) error {
	secret, verifier, err := note.GenerateKey(rand.Reader, receipt.PromiseKeyName(s.log.Name()))
	if err != nil {
		return fmt.Errorf("logreceipt: make a key: %w", err)
	}
	key, err := note.NewSigner(secret)
	if err != nil {
		return fmt.Errorf("logreceipt: make a key: %w", err)
	}
	until := now.Add(lifetime)
	certificate, err := s.log.SignNote(receipt.KeyText(s.log.Name(), verifier, now.Add(-clockSkew), until))
	if err != nil {
		return fmt.Errorf("logreceipt: certify a key: %w", err)
	}
	if err := s.announce(ctx, verifier); err != nil {
		return err
	}
	s.current.Store(&certified{key, quoted([]byte(certificate)), until})
	return nil
}

// Run makes new keys until ctx ends.
func (s *Signer) Run(ctx context.Context, log *slog.Logger) {
	clock := time.NewTicker(renewal)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-clock.C:
			if err := s.renew(ctx, now); err != nil {
				log.LogAttrs(ctx, slog.LevelError, "the key that signs promises of receipts could not be renewed, will retry", slog.Any("error", err))
				clock.Reset(time.Minute)
				continue
			}
			clock.Reset(renewal)
		}
	}
}

// PromisedBatch is the promise about a batch.
type PromisedBatch struct {
	batch  *journal.Prepared
	signed chan struct{} // closed when the promise is signed
	middle []byte        // of the JSON of its receipts, from the batch to the index
	hashes []byte        // of the tree, each as a JSON string after a comma
	end    []byte        // after the path; empty if the promise can't be signed
}

// Sign starts to sign the promise about a batch, and does not wait. Receipts of it may be
// given away only when the batch is committed.
func (s *Signer) Sign(b *journal.Prepared) *PromisedBatch {
	to := &PromisedBatch{batch: b, signed: make(chan struct{})}
	go func() {
		defer close(to.signed)
		to.sign(s.log.Name(), s.current.Load())
	}()
	return to
}

func (b *PromisedBatch) sign(origin string, by *certified) {
	if b.batch.At.After(by.until) {
		return // the key of the log has not signed for a day
	}
	s := b.batch
	entry := logentry.Batch{At: s.At, Epoch: s.Epoch, N: s.N, Count: int32(len(s.Entries)), Root: *s.Tree.Root()} //nolint:gosec // a batch is small
	promise, err := note.Sign(&note.Note{Text: receipt.PromiseText(origin, entry.Encode())}, by.key)
	if err != nil {
		return // the text is one that can be signed
	}
	b.middle = fmt.Appendf(nil, `,"batch":{"epoch":%d,"n":%d,"at":%d,"count":%d,"index":`, s.Epoch, s.N, s.At.UnixMilli(), len(s.Entries))
	b.hashes = make([]byte, 0, hashSize*len(s.Tree.Hashes))
	for i := range s.Tree.Hashes {
		b.hashes = appendBytes(append(b.hashes, ','), s.Tree.Hashes[i][:])
	}
	end := appendBytes([]byte(`],"root":`), s.Tree.Root()[:])
	end = append(append(end, `},"promise":`...), quoted(promise)...)
	b.end = append(append(append(end, `,"key":`...), by.certificate...), '}')
}

// hashSize is the length of a hash as a JSON string, with a comma before it.
const hashSize = len(`,"4yx0Sm1PZJu3gPN5jdMS0vV5hTB6xMaOb9LPQ0Uzwb8="`)

// Promise is the promised receipt of one answer. The zero value is none.
type Promise struct {
	Batch *PromisedBatch
	Index int // of the answer's record in its batch
}

// beginning is that of every receipt.
var beginning = fmt.Appendf(nil, `{"form":%s,"statement":%s,"public":`, quoted([]byte(receipt.Form)), quoted([]byte(receipt.Statement)))

// Append appends the receipt as JSON, or nothing if there is none. It does not use package
// json, because every answer may have one.
func (r Promise) Append(name string, to []byte) []byte {
	if r.Batch == nil {
		return to
	}
	<-r.Batch.signed
	if len(r.Batch.end) == 0 {
		return to
	}
	e := &r.Batch.batch.Entries[r.Index]
	to = append(append(to, name...), beginning...)
	var memory [512]byte // both parts usually fit
	to = appendBytes(to, e.AppendPublic(memory[:0]))
	to = appendBytes(append(to, `,"personal":`...), append(e.AppendPersonal(memory[:0]), e.Nonce[:]...))
	to = strconv.AppendInt(append(to, r.Batch.middle...), int64(r.Index), 10)
	to = append(to, `,"path":[`...)
	comma := 1 // before the first hash there is none
	r.Batch.batch.Tree.Path(r.Index, func(place int) {
		to = append(to, r.Batch.hashes[place*hashSize+comma:(place+1)*hashSize]...)
		comma = 0
	})
	return append(to, r.Batch.end...)
}

func appendBytes(to, bytes []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(to, '"'), bytes), '"')
}

// quoted returns a text as a JSON string.
func quoted(text []byte) []byte {
	b, err := json.Marshal(string(text))
	if err != nil {
		panic(err) // it is a text
	}
	return b
}
