package logreceipt

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/archivefile"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/record"
)

// InBatch is a record with its place in its batch.
type InBatch struct {
	record.Entry
	archivefile.BatchKey

	Index  int
	Hashes [][]byte // of all records of the batch, in order
}

// findInBatch finds a record with its batch.
func findInBatch(ctx context.Context, pool *pgxpool.Pool, files blob.Store, requestID uuid.UUID) (InBatch, error) {
	e, err := journal.Find(ctx, pool, files, requestID)
	if err != nil {
		return InBatch{}, err
	}
	found, err := batchInDatabase(ctx, pool, e)
	if errors.Is(err, journal.ErrNotFound) {
		found, err = batchInArchive(ctx, pool, files, e)
	}
	return found, err
}

func batchInDatabase(ctx context.Context, pool *pgxpool.Pool, e record.Entry) (b InBatch, err error) {
	b.Entry = e
	rows, err := pool.Query(ctx, `SELECT o.epoch, o.n, o.hash, o.request_id = $2 FROM journal_entry e JOIN journal_entry o ON o.at = e.at AND o.epoch = e.epoch AND o.n = e.n
		WHERE e.at = $1 AND e.request_id = $2 AND o.at = $1 ORDER BY o.idx`, e.At, e.RequestID)
	if err != nil {
		return b, fmt.Errorf("logreceipt: read a batch: %w", err)
	}
	var hash []byte
	var it bool
	_, err = pgx.ForEachRow(rows, []any{&b.Epoch, &b.N, &hash, &it}, func() error {
		if it {
			b.Index = len(b.Hashes)
		}
		b.Hashes = append(b.Hashes, hash)
		hash = nil
		return nil
	})
	if err != nil {
		return b, fmt.Errorf("logreceipt: read a batch: %w", err)
	}
	if len(b.Hashes) == 0 {
		return b, journal.ErrNotFound // its day was archived
	}
	return b, nil
}

func batchInArchive(ctx context.Context, pool *pgxpool.Pool, files blob.Store, e record.Entry) (b InBatch, err error) {
	archives, err := journal.Archives(ctx, pool, e.At, e.At)
	if err != nil {
		return b, err
	}
	b.Entry = e
	for i := range archives {
		err := archives[i].BatchesAt(ctx, files, e.At, func(batch *archivefile.Batch) error {
			for i := range batch.Entries {
				if batch.Entries[i].RequestID == e.RequestID {
					b.BatchKey, b.Index = batch.BatchKey, i
					b.Hashes = hashesOf(batch.Entries)
				}
			}
			return nil
		})
		if err != nil || b.Hashes != nil {
			return b, err
		}
	}
	return b, journal.ErrNotFound
}

func hashesOf(entries []archivefile.Entry) [][]byte {
	all := make([][]byte, len(entries))
	for i := range entries {
		all[i] = entries[i].StoredHash
	}
	return all
}
