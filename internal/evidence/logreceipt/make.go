// Package logreceipt makes receipts: for a record of the journal, or a file of a supplier, the
// proof that the public log has it. Package receipt, which is for everybody, verifies them.
package logreceipt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
	"github.com/lineproof/lineproof/receipt"
)

// Maker makes receipts.
type Maker struct {
	Pool    *pgxpool.Pool
	Archive blob.Store // of the journal
	Tiles   blob.Store
	Origin  string

	manifests manifests
}

var (
	// ErrPending reports a record that no published checkpoint covers yet.
	ErrPending = &fault.Error{
		Code: fault.Unavailable, RetryAfter: 2 * time.Second,
		Message: "The public log does not cover this answer yet. That takes about a second; send the request again after the time in the Retry-After header.",
	}
	// ErrLost reports a record that came back by a promise: the log never had its batch.
	ErrLost = fault.New(fault.NotFound, "The database was restored before the public log had this answer, so there is no proof of it. The promise that came with the answer is the evidence.")
	// ErrBefore reports a record from before the log was turned on.
	ErrBefore = fault.New(fault.NotFound, "This answer was given before the public log was turned on, so there is no receipt of it.")
)

// promised is within which time an answer is in the public log: until then no receipt is expected.
const promised = time.Minute

// Make returns the receipt of a record, with the signatures that withstand quantum computers
// if they are wanted: each takes 3,300 bytes.
func (m *Maker) Make(ctx context.Context, b *InBatch, postQuantum bool) (r *receipt.Receipt, err error) {
	defer func() {
		if errors.Is(err, ErrPending) && time.Since(b.At) < promised {
			err = ErrPending.Because(fault.ErrExpected)
		}
	}()
	index, err := m.indexOf(ctx, b)
	if err != nil {
		return nil, err
	}
	place := placeIn(b)
	entry := logentry.Batch{At: b.At, Epoch: b.Epoch, N: b.N, Count: place.Count, Root: merkle.Hash(place.Root)}
	proof, err := m.prove(ctx, index, entry.Encode(), postQuantum)
	if err != nil {
		return nil, err
	}
	r = &receipt.Receipt{Form: receipt.Form, Statement: receipt.Statement, Public: b.EncodePublic(), Batch: place, Proof: proof}
	if b.Erased() {
		r.PersonalHash = b.Inner[:]
	} else {
		r.Personal = append(b.EncodePersonal(), b.Nonce[:]...)
	}
	return r, nil
}

// indexOf returns the index of a batch in the log.
func (m *Maker) indexOf(ctx context.Context, b *InBatch) (int64, error) {
	if b.Log != archivefile.NotLogged {
		return b.Log, nil
	}
	index, err := publiclog.IndexOf(ctx, m.Pool, b.Epoch, b.N, b.At)
	if errors.Is(err, publiclog.ErrNotLogged) {
		return 0, m.whyNotLogged(ctx, b)
	}
	return index, err
}

func (m *Maker) whyNotLogged(ctx context.Context, b *InBatch) error {
	h, err := publiclog.ReadHead(ctx, m.Pool)
	switch {
	case err != nil:
		return err
	case b.At.Before(h.Began):
		return ErrBefore
	case b.Place != nil:
		return ErrLost
	}
	return ErrPending
}

// placeIn returns the batch with the path from the record to its root.
func placeIn(b *InBatch) receipt.Batch {
	if b.Place != nil {
		return *b.Place
	}
	tree := merkle.NewLevels(len(b.Hashes), func(i int) []byte { return b.Hashes[i] })
	to := receipt.Batch{Epoch: b.Epoch, N: b.N, At: b.At.UnixMilli(), Count: int32(len(b.Hashes)), Index: int64(b.Index), Root: tree.Root()[:], Path: []receipt.Bytes{}} //nolint:gosec // a batch is small
	tree.Path(b.Index, func(place int) { to.Path = append(to.Path, tree.Hashes[place][:]) })
	return to
}

// prove returns the proof that the newest checkpoint covers an entry. It comes from the
// published tiles, so that it proves what others can see, and is checked before it is given
// away.
func (m *Maker) prove(ctx context.Context, index int64, entry []byte, postQuantum bool) (string, error) {
	note, tree, err := publiclog.NewestTree(ctx, m.Pool)
	if err != nil {
		return "", err
	}
	if tree.N <= index {
		return "", ErrPending
	}
	path, err := tlog.ProveRecord(tree.N, index, publiclog.TileHashes(ctx, m.Tiles, m.Origin, tree))
	if err != nil {
		return "", fault.New(fault.Unavailable, "The public log can't be read right now. Send the request again shortly.").Because(fmt.Errorf("logreceipt: prove: %w", err))
	}
	if err := tlog.CheckRecord(path, tree.N, tree.Hash, index, tlog.RecordHash(entry)); err != nil {
		return "", fmt.Errorf("logreceipt: the public log has another entry at %d than the database: %w", index, err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "c2sp.org/tlog-proof@v1\nindex %d\n", index)
	for _, hash := range path {
		fmt.Fprintln(&text, hash.String())
	}
	if !postQuantum {
		note = checkpoint.WithoutPostQuantum(note)
	}
	text.WriteString("\n" + note)
	return text.String(), nil
}
