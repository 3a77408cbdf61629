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
	r := &receipt.Receipt{Form: receipt.Form, Statement: receipt.Statement, Public: b.EncodePublic(), Proof: proof}
	if b.Erased() {
		r.PersonalHash = b.Inner[:]
	} else {
		r.Personal = append(b.EncodePersonal(), b.Nonce[:]...)
	}
	r.Batch, err = placeIn(b)
	return r, err
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
func placeIn(b *InBatch) (receipt.Batch, error) {
	var stored hashes
	for i, hash := range b.Hashes {
		added, err := tlog.StoredHashes(int64(i), hash, stored)
		if err != nil {
			return receipt.Batch{}, fmt.Errorf("logreceipt: build the tree of a batch: %w", err)
		}
		stored = append(stored, added...)
	}
	count := len(b.Hashes)
	root, err := tlog.TreeHash(int64(count), stored)
	if err != nil {
		return receipt.Batch{}, fmt.Errorf("logreceipt: build the tree of a batch: %w", err)
	}
	path, err := tlog.ProveRecord(int64(count), int64(b.Index), stored)
	if err != nil {
		return receipt.Batch{}, fmt.Errorf("logreceipt: build the tree of a batch: %w", err)
	}
	to := receipt.Batch{Epoch: b.Epoch, N: b.N, At: b.At.UnixMilli(), Count: int32(count), Index: int64(b.Index), Root: root[:], Path: []receipt.Bytes{}} //nolint:gosec // a batch is small
	for i := range path {
		to.Path = append(to.Path, path[i][:])
	}
	return to, nil
}

// hashes are those of a tree as package tlog stores them.
type hashes []tlog.Hash

// ReadHashes implements tlog.HashReader.
func (s hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	all := make([]tlog.Hash, len(indexes))
	for i, n := range indexes {
		all[i] = s[n]
	}
	return all, nil
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
