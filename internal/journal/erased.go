package journal

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/archivefile"
	"github.com/lineproof/lineproof/internal/journalslice"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/record"
	"github.com/lineproof/lineproof/internal/returned"
)

func hashOf(e *record.Entry) []byte {
	hash := e.Hash()
	return hash[:]
}

// eraseReturned erases the covered records of a day that were lost and came back.
func eraseReturned(ctx context.Context, conn *pgx.Conn, day time.Time, covered *journalslice.ErasedSet) (int64, error) {
	return returned.Erase(ctx, conn, day, day.AddDate(0, 0, 1), func(e *record.Entry) bool {
		return covered.Covers(&archivefile.Entry{Entry: *e, StoredHash: hashOf(e)})
	})
}

// IsErased reports whether an erasure covers a record, which may be lost.
func IsErased(ctx context.Context, from pg.DB, e *record.Entry) (erased bool, err error) {
	covered, err := erasedOf(ctx, from, dayOf(e.At), Span{From: e.At, To: e.At.Add(time.Millisecond)})
	return covered.Covers(&archivefile.Entry{Entry: *e, StoredHash: hashOf(e)}), err
}
