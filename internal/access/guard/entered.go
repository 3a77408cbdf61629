// This part of the package counts the different numbers that organisations, and sponsors, have
// put into watch-lists or sent in files in a year, without keeping them. They are counted in the
// transaction that stores them, and nodes read what they do not know yet. What it means
// for a budget is decided where it is judged.

package guard

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard/sketch"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// enteredBits is the size of the sketches: 2^14 registers, a standard error of 0.8 %.
const enteredBits = 14

// enteredSubject is for whom numbers are counted: an organisation, or a sponsor.
type enteredSubject struct {
	ID        uuid.UUID
	IsSponsor bool
}

// addEntered counts numbers by their hashes and returns the registers of all that the subject
// has entered in the year. The row stays locked until the transaction ends, so that two
// transactions do not spend the same rest of a budget.
func addEntered(ctx context.Context, tx pg.Tx, s enteredSubject, year int, hashes iter.Seq[uint64]) ([]byte, error) {
	var text []byte
	err := tx.QueryRow(ctx, `INSERT INTO guard_entered AS e (subject_id, year, is_sponsor, version, numbers) VALUES ($1, $2, $3, 1, '')
		ON CONFLICT (subject_id, year) DO UPDATE SET version = e.version + 1 RETURNING numbers`, s.ID, year, s.IsSponsor).Scan(&text)
	if err != nil {
		return nil, fmt.Errorf("guard: count numbers: %w", err)
	}
	var all sketch.Counter
	all.Merge(text, enteredBits)
	for hash := range hashes {
		all.Add(hash, enteredBits)
	}
	text = all.Registers()
	if _, err := tx.Exec(ctx, `UPDATE guard_entered SET numbers = $3 WHERE subject_id = $1 AND year = $2`, s.ID, year, text); err != nil {
		return nil, fmt.Errorf("guard: count numbers: %w", err)
	}
	return text, nil
}

// enteredCount has the numbers that a subject has entered in a year.
type enteredCount struct {
	Numbers []byte // the registers of all numbers

	// FileNumbers and FileBlocks are those of files since a release.
	FileNumbers, FileBlocks []byte
	FileSince               time.Time
}

// enteredReader reads what was entered since it last read. The zero Reader has read nothing.
type enteredReader struct {
	year     int
	versions map[uuid.UUID]int64
}

// Read calls fn for every subject that has entered something since the last call.
func (r *enteredReader) Read(ctx context.Context, from pg.DB, year int, fn func(ctx context.Context, s enteredSubject, year int, c enteredCount)) error {
	if r.year != year {
		r.year, r.versions = year, make(map[uuid.UUID]int64)
	}
	ids, versions := make([]uuid.UUID, 0, len(r.versions)), make([]int64, 0, len(r.versions))
	for id, version := range r.versions {
		ids, versions = append(ids, id), append(versions, version)
	}
	var s enteredSubject
	var version int64
	var c enteredCount
	var since sql.NullTime
	err := pg.ForEach(ctx, from, []any{&s.ID, &s.IsSponsor, &version, &c.Numbers, &c.FileNumbers, &c.FileBlocks, &since}, func() error {
		r.versions[s.ID], c.FileSince = version, since.Time
		fn(ctx, s, year, c)
		return nil
	}, `SELECT e.subject_id, e.is_sponsor, e.version, e.numbers, e.file_numbers, e.file_blocks, e.file_since FROM guard_entered e
		LEFT JOIN unnest($2::uuid[], $3::bigint[]) AS k (id, version) ON k.id = e.subject_id WHERE e.year = $1 AND e.version IS DISTINCT FROM k.version`, year, ids, versions)
	return fault.Wrap(err, "guard: read counts")
}

// deleteEnteredBefore deletes the counts of earlier years.
func deleteEnteredBefore(ctx context.Context, from pg.DB, year int) error {
	_, err := from.Exec(ctx, `DELETE FROM guard_entered WHERE year < $1`, year)
	return fault.Wrap(err, "guard: delete earlier years")
}
