// Package returned keeps the records that a restore of the database had lost, and that came
// back by their receipts. Each has its path to the root of its batch, which the public log
// has: so it is proven, although the rest of its batch may be lost.
package returned

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/record"
	"github.com/lineproof/lineproof/receipt"
)

// Record is a record that came back, with its place in its batch.
type Record struct {
	record.Entry

	Batch receipt.Batch
}

// ErrDamaged reports a record that does not match the root of its batch.
var ErrDamaged = errors.New("returned: a record that came back by its receipt was changed later")

// ErrThere reports a record that came back before.
var ErrThere = errors.New("returned: the record came back before")

// Add adds the record of a receipt, which the caller has verified. The transaction must
// have the rights of the owner.
func Add(ctx context.Context, tx pg.Tx, r *receipt.Receipt, reason string, now time.Time) (*Record, error) {
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
		return nil, fmt.Errorf("returned: add a record: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil, ErrThere
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
func read(r *receipt.Receipt) (*Record, error) {
	read, err := r.ReadRecord()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	e := Record{Batch: r.Batch, Entry: record.Entry{
		At: read.At, Type: read.Type, Mode: read.Mode, Purpose: read.Purpose, PurposeText: read.PurposeText, Status: read.Status, Reason: read.Reason,
		MobileNetwork: read.MobileNetwork, LineVersion: read.LineVersion, PolicyVersion: int32(read.PolicyVersion), PlanVersion: int32(read.PlanVersion), Rules: int32(read.Rules), //nolint:gosec // their hash is compared below
		Personal: record.Personal{
			Number: read.Number, PhoneNumber: read.PhoneNumber, Correlator: read.Correlator, ExternalID: read.ExternalID, OnBehalfOf: read.OnBehalfOf, Options: read.Options, Extra: read.Extra,
		},
	}}
	for text, id := range map[string]*uuid.UUID{read.RequestID: &e.RequestID, read.Entity: &e.Entity, read.Key: &e.Key} {
		if *id, err = uuid.Parse(text); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	if copy(e.Coverage[:], read.Coverage) != len(e.Coverage) || len(read.Coverage) != len(e.Coverage) {
		return nil, ErrDamaged
	}
	if read.Erased {
		e.Inner = [sha256.Size]byte(r.PersonalHash)
	} else {
		copy(e.Nonce[:], r.Personal[len(r.Personal)-len(e.Nonce):])
	}
	if e.Hash() != read.Hash {
		return nil, ErrDamaged
	}
	return &e, nil
}

// RequestID returns the request id of a receipt.
func RequestID(r *receipt.Receipt) (uuid.UUID, error) {
	e, err := read(r)
	if err != nil {
		return uuid.Nil, err
	}
	return e.RequestID, nil
}

const columns = `SELECT epoch, n, at, idx, count, root, path, public, personal, personal_hash FROM journal_returned`

func scan(row pgx.CollectableRow) (*Record, error) {
	r := &receipt.Receipt{Form: receipt.Form, Statement: receipt.Statement}
	b := &r.Batch
	var at time.Time
	var root, path, public, personal, hash []byte
	if err := row.Scan(&b.Epoch, &b.N, &at, &b.Index, &b.Count, &root, &path, &public, &personal, &hash); err != nil {
		return nil, fmt.Errorf("returned: read a record: %w", err)
	}
	b.At, b.Root, b.Path = at.UnixMilli(), root, []receipt.Bytes{}
	for ; len(path) >= sha256.Size; path = path[sha256.Size:] {
		b.Path = append(b.Path, path[:sha256.Size])
	}
	r.Public, r.Personal, r.PersonalHash = public, personal, hash
	return read(r)
}

// Get returns the record of a request, or nil if it did not come back.
func Get(ctx context.Context, from pg.DB, id uuid.UUID) (*Record, error) {
	rows, err := from.Query(ctx, columns+` WHERE request_id = $1`, id)
	if err != nil {
		return nil, fmt.Errorf("returned: find a record: %w", err)
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// Each calls a function with the records of a period.
func Each(ctx context.Context, from pg.DB, since, until time.Time, do func(*Record) error) error {
	rows, err := from.Query(ctx, columns+` WHERE at >= $1 AND at < $2 ORDER BY at, request_id`, since, until)
	if err != nil {
		return fmt.Errorf("returned: list records: %w", err)
	}
	all, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// Erase removes the personal parts of those records of a period that are covered, also from
// the file of the table, and returns how many. The connection must have the rights of the
// owner.
func Erase(ctx context.Context, conn *pgx.Conn, since, until time.Time, covered func(*record.Entry) bool) (erased int64, err error) {
	err = Each(ctx, conn, since, until, func(r *Record) error {
		if r.Erased() || !covered(&r.Entry) {
			return nil
		}
		inner := r.InnerHash()
		if _, err := conn.Exec(ctx, `UPDATE journal_returned SET personal = NULL, personal_hash = $2 WHERE request_id = $1`, r.RequestID, inner[:]); err != nil {
			return fmt.Errorf("returned: erase: %w", err)
		}
		erased++
		return nil
	})
	if err != nil || erased == 0 {
		return erased, err
	}
	if _, err := pg.RewriteTable(ctx, conn, "journal_returned"); err != nil {
		return erased, fmt.Errorf("returned: write the table anew: %w", err)
	}
	return erased, nil
}
