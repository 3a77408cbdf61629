package journal

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// entryColumns are read in this order by scanEntry and by package archivefile.
const entryColumns = `epoch, n, idx, ` + entryFields

// wholeDay is the period of a day.
func wholeDay(day time.Time) Span { return Span{From: day, To: day.AddDate(0, 0, 1)} }

// whereDay limits a query to one day.
func whereDay(day time.Time) string { return whereSpan(wholeDay(day)) }

// keyedEntry is an entry and the key of its batch.
type keyedEntry struct {
	archivefile.BatchKey
	archivefile.Entry
}

func scanEntry(rows pgx.Rows) (e keyedEntry, err error) {
	var coverage, nonce []byte
	err = rows.Scan(&e.Epoch, &e.N, &e.Idx, &e.RequestID, &e.At, &e.Type, &e.Entity, &e.Key, &e.Mode, &e.Purpose, &e.PurposeText, &e.Status, &e.Reason,
		&e.MobileNetwork, &e.LineVersion, &e.PolicyVersion, &e.PlanVersion, &e.Rules, &coverage, &e.Number, &e.PhoneNumber, &e.Correlator, &e.ExternalID,
		&e.OnBehalfOf, &e.Options, &e.Extra, &nonce, &e.StoredHash)
	e.At = e.At.UTC()
	copy(e.Coverage[:], coverage)
	e.SetStoredNonce(nonce)
	return e, err
}

func hashOf(e *record.Entry) []byte {
	hash := e.Hash()
	return hash[:]
}

// IsErased reports whether an erasure covers a record, which may be lost.
func IsErased(ctx context.Context, from pg.DB, e *record.Entry) (erased bool, err error) {
	covered, err := erasedOf(ctx, from, dayOf(e.At), Span{From: e.At, To: e.At.Add(time.Millisecond)})
	return covered.Covers(&archivefile.Entry{Entry: *e, StoredHash: hashOf(e)}), err
}
