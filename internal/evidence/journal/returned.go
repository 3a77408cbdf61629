// This part of the package keeps the records that a restore of the database had lost, and that came
// back by their receipts. Each has its path to the root of its batch, which the public log
// has: so it is proven, although the rest of its batch may be lost.

package journal

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/receipt"
)

// Returned is a record that came back, with its place in its batch.
type Returned struct {
	record.Entry

	Batch receipt.Batch
}

// ErrReturnedDamaged reports a record that does not match the root of its batch.
var ErrReturnedDamaged = errors.New("journal: a record that came back by its receipt was changed later")

// ErrCameBack reports a record that came back before.
var ErrCameBack = errors.New("journal: the record came back before")

// AddReturned adds the record of a receipt, which the caller has verified. The transaction must
// have the rights of the owner.
func AddReturned(ctx context.Context, tx pg.Tx, r *receipt.Receipt, reason string, now time.Time) (*Returned, error) {
	added, err := read(r)
	if err != nil {
		return nil, err
	}
	var path []byte
	for _, hash := range r.Batch.Path {
		path = append(path, hash...)
	}
	b := &r.Batch
	tag, err := tx.Exec(ctx, `INSERT INTO journal_returned (request_id, at, epoch, n, idx, count, root, path, public, personal, personal_hash, reason, accepted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING`,
		added.RequestID, added.At, b.Epoch, b.N, b.Index, b.Count, []byte(b.Root), append([]byte{}, path...), []byte(r.Public), orNull(r.Personal), orNull(r.PersonalHash), reason, now)
	if err != nil {
		return nil, fmt.Errorf("journal: add a record: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil, ErrCameBack
	}
	return added, nil
}

func orNull(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// read returns the record of a receipt, after it was compared with the root of its batch.
func read(r *receipt.Receipt) (*Returned, error) {
	read, err := r.ReadRecord()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReturnedDamaged, err)
	}
	e := Returned{Batch: r.Batch, Entry: record.Entry{
		At: read.At, Type: read.Type, Mode: read.Mode, Purpose: read.Purpose, PurposeText: read.PurposeText, Status: read.Status, Reason: read.Reason,
		MobileNetwork: read.MobileNetwork, LineVersion: read.LineVersion, PolicyVersion: int32(read.PolicyVersion), PlanVersion: int32(read.PlanVersion), Rules: int32(read.Rules), //nolint:gosec // their hash is compared below
		Personal: record.Personal{
			Number: read.Number, PhoneNumber: read.PhoneNumber, Correlator: read.Correlator, ExternalID: read.ExternalID, OnBehalfOf: read.OnBehalfOf, Options: read.Options, Extra: read.Extra,
		},
	}}
	for text, id := range map[string]*uuid.UUID{read.RequestID: &e.RequestID, read.Entity: &e.Entity, read.Key: &e.Key} {
		if *id, err = uuid.Parse(text); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrReturnedDamaged, err)
		}
	}
	if copy(e.Coverage[:], read.Coverage) != len(e.Coverage) || len(read.Coverage) != len(e.Coverage) {
		return nil, ErrReturnedDamaged
	}
	if read.Erased {
		e.Inner = [sha256.Size]byte(r.PersonalHash)
	} else {
		copy(e.Nonce[:], r.Personal[len(r.Personal)-len(e.Nonce):])
	}
	if e.Hash() != read.Hash {
		return nil, ErrReturnedDamaged
	}
	return &e, nil
}

// RequestIDOf returns the request id of a receipt.
func RequestIDOf(r *receipt.Receipt) (uuid.UUID, error) {
	e, err := read(r)
	if err != nil {
		return uuid.Nil, err
	}
	return e.RequestID, nil
}

const columns = `SELECT epoch, n, at, idx, count, root, path, public, personal, personal_hash FROM journal_returned`

func scan(row pgx.CollectableRow) (*Returned, error) {
	r := &receipt.Receipt{Form: receipt.Form, Statement: receipt.Statement}
	b := &r.Batch
	var at time.Time
	var root, path, public, personal, hash []byte
	if err := row.Scan(&b.Epoch, &b.N, &at, &b.Index, &b.Count, &root, &path, &public, &personal, &hash); err != nil {
		return nil, fmt.Errorf("journal: read a record: %w", err)
	}
	b.At, b.Root, b.Path = at.UnixMilli(), root, []receipt.Bytes{}
	for ; len(path) >= sha256.Size; path = path[sha256.Size:] {
		b.Path = append(b.Path, path[:sha256.Size])
	}
	r.Public, r.Personal, r.PersonalHash = public, personal, hash
	return read(r)
}

// GetReturned returns the record of a request, or nil if it did not come back.
func GetReturned(ctx context.Context, from pg.DB, id uuid.UUID) (*Returned, error) {
	found, err := pg.Collect(ctx, from, scan, columns+` WHERE request_id = $1`, id)
	if err != nil || len(found) == 0 {
		return nil, fault.Wrap(err, "journal: find a record")
	}
	return found[0], nil
}

// EachReturned calls a function with the records of a period.
func EachReturned(ctx context.Context, from pg.DB, since, until time.Time, do func(*Returned) error) error {
	all, err := pg.Collect(ctx, from, scan, columns+` WHERE at >= $1 AND at < $2 ORDER BY at, request_id`, since, until)
	if err != nil {
		return fmt.Errorf("journal: list records: %w", err)
	}
	for _, r := range all {
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// eraseReturned removes the personal parts of the covered records of a day, also from the file of
// the table, and returns how many. The file is written anew for records that are erased already,
// too: a run before this one may have been kept from that.
func (a *Archiver) eraseReturned(ctx context.Context, conn *pgx.Conn, day time.Time, covered *archivefile.ErasedSet) (erased int64, err error) {
	due := false
	err = EachReturned(ctx, conn, day, day.AddDate(0, 0, 1), func(r *Returned) error {
		if !covered.Covers(&archivefile.Entry{Entry: r.Entry, StoredHash: hashOf(&r.Entry)}) {
			return nil
		}
		if due = true; r.Erased() {
			return nil
		}
		inner := r.InnerHash()
		if _, err := conn.Exec(ctx, `UPDATE journal_returned SET personal = NULL, personal_hash = $2 WHERE request_id = $1`, r.RequestID, inner[:]); err != nil {
			return fmt.Errorf("journal: erase: %w", err)
		}
		erased++
		return nil
	})
	if err != nil || !due {
		return erased, err
	}
	return erased, a.rewriteErased(ctx, conn, "journal_returned")
}
