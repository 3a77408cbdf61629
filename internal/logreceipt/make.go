// Package logreceipt makes receipts: for a record of the journal, the proof that the public
// log has it. Package receipt, which is for everybody, verifies them.
package logreceipt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/merkle"
	"github.com/lineproof/lineproof/internal/publiclog"
	"github.com/lineproof/lineproof/receipt"
)

// Maker makes receipts.
type Maker struct {
	Pool    *pgxpool.Pool
	Archive blob.Store // of the journal
	Tiles   blob.Store
	Origin  string
}

var (
	// ErrPending reports a record that no published checkpoint covers yet.
	ErrPending = &fault.Error{
		Code: fault.Unavailable, RetryAfter: 2 * time.Second,
		Message: "The public log does not cover this answer yet. That takes about a second; send the request again after the time in the Retry-After header.",
	}
	// ErrBefore reports a record from before the log was turned on.
	ErrBefore = fault.New(fault.NotFound, "This answer was given before the public log was turned on, so there is no receipt of it.")
)

// Make returns the receipt of a record.
func (m *Maker) Make(ctx context.Context, b *InBatch) (*receipt.Receipt, error) {
	index, err := publiclog.IndexOf(ctx, m.Pool, b.Epoch, b.N, b.At)
	if errors.Is(err, publiclog.ErrNotLogged) {
		return nil, m.whyNotLogged(ctx, b.At)
	}
	if err != nil {
		return nil, err
	}
	proof, err := m.prove(ctx, index)
	if err != nil {
		return nil, err
	}
	r := &receipt.Receipt{Form: receipt.Form, Statement: receipt.Statement, Public: b.EncodePublic(), Batch: placeIn(b), Proof: proof}
	if b.Erased() {
		r.PersonalHash = b.Inner[:]
	} else {
		r.Personal = append(b.EncodePersonal(), b.Nonce[:]...)
	}
	return r, nil
}

func (m *Maker) whyNotLogged(ctx context.Context, at time.Time) error {
	h, err := publiclog.ReadHead(ctx, m.Pool)
	switch {
	case err != nil:
		return err
	case at.Before(h.Began):
		return ErrBefore
	}
	return ErrPending
}

// placeIn returns the batch with the path from the record to its root.
func placeIn(b *InBatch) receipt.Batch {
	tree := merkle.NewLevels(len(b.Hashes), func(i int) []byte { return b.Hashes[i] })
	to := receipt.Batch{Epoch: b.Epoch, N: b.N, At: b.At.UnixMilli(), Count: int32(len(b.Hashes)), Index: int64(b.Index), Root: tree.Root()[:], Path: []receipt.Bytes{}} //nolint:gosec // a batch is small
	tree.Path(b.Index, func(place int) { to.Path = append(to.Path, tree.Hashes[place][:]) })
	return to
}

// prove returns the proof that the newest checkpoint covers an entry. It comes from the
// published tiles, so that it proves what others can see.
func (m *Maker) prove(ctx context.Context, index int64) (string, error) {
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
	var text strings.Builder
	fmt.Fprintf(&text, "c2sp.org/tlog-proof@v1\nindex %d\n", index)
	for _, hash := range path {
		fmt.Fprintln(&text, hash.String())
	}
	text.WriteString("\n" + note)
	return text.String(), nil
}
