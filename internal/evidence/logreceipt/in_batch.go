package logreceipt

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/receipt"
)

// InBatch is a record with its place in its batch.
type InBatch struct {
	record.Entry
	archivefile.BatchKey

	Log    int64 // its index in the public log, if an archive says it, or archivefile.NotLogged
	Index  int
	Hashes [][]byte // of all records of the batch, in order
	// Place is that of a record that was lost and came back by its receipt: the rest of its
	// batch is not known.
	Place *receipt.Batch
}

// Find finds a record with its batch, in the database or, if its day was archived, in the
// archive. What does not match its hash is an error.
func (m *Maker) Find(ctx context.Context, requestID uuid.UUID) (*InBatch, error) {
	e, err := journal.Get(ctx, m.Pool, requestID)
	var found *InBatch
	if err == nil {
		found, err = m.findInDatabase(ctx, &e)
	}
	if errors.Is(err, journal.ErrNotFound) {
		found, err = m.findInArchive(ctx, requestID)
	}
	if errors.Is(err, journal.ErrNotFound) {
		found, err = m.findReturned(ctx, requestID)
	}
	return found, err
}

func (m *Maker) findReturned(ctx context.Context, requestID uuid.UUID) (*InBatch, error) {
	r, err := journal.GetReturned(ctx, m.Pool, requestID)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, journal.ErrNotFound
	}
	return &InBatch{Entry: r.Entry, BatchKey: archivefile.BatchKey{Epoch: r.Batch.Epoch, N: r.Batch.N}, Log: archivefile.NotLogged, Place: &r.Batch}, nil
}

func (m *Maker) findInDatabase(ctx context.Context, e *record.Entry) (*InBatch, error) {
	b := InBatch{Entry: *e, Log: archivefile.NotLogged}
	var hash []byte
	var it bool
	err := pg.ForEach(ctx, m.Pool, []any{&b.Epoch, &b.N, &hash, &it}, func() error {
		if it {
			b.Index = len(b.Hashes)
		}
		b.Hashes = append(b.Hashes, hash)
		hash = nil
		return nil
	}, `SELECT o.epoch, o.n, o.hash, o.request_id = $2 FROM journal_entry e JOIN journal_entry o ON o.at = e.at AND o.epoch = e.epoch AND o.n = e.n
		WHERE e.at = $1 AND e.request_id = $2 AND o.at = $1 ORDER BY o.idx`, e.At, e.RequestID)
	if err != nil {
		return nil, fmt.Errorf("logreceipt: read a batch: %w", err)
	}
	if len(b.Hashes) == 0 {
		return nil, journal.ErrNotFound // its day was archived meanwhile
	}
	return &b, nil
}

func (m *Maker) findInArchive(ctx context.Context, requestID uuid.UUID) (*InBatch, error) {
	at, ok := record.TimeOf(requestID)
	if !ok {
		return nil, journal.ErrNotFound
	}
	archives, err := journal.Archives(ctx, m.Pool, at, at)
	if err != nil {
		return nil, err
	}
	for i := range archives {
		manifest, err := m.manifests.open(ctx, m.Archive, &archives[i])
		if err != nil {
			return nil, err
		}
		batch, index, err := manifest.FindInBatch(ctx, m.Archive, requestID, at)
		if err != nil {
			return nil, err
		}
		if batch == nil {
			continue
		}
		b := InBatch{Entry: batch.Entries[index].Entry, BatchKey: batch.BatchKey, Log: batch.Log, Index: index}
		for i := range batch.Entries {
			b.Hashes = append(b.Hashes, batch.Entries[i].StoredHash)
		}
		return &b, nil
	}
	return nil, journal.ErrNotFound
}
