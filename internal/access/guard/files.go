package guard

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard/sketch"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// enteredFileBits is the size of the sketches of files: 2^12 registers, a standard error of 1.6 %.
const enteredFileBits = 12

// enteredFiles is what the files of a subject have: on one day, and in a year since a release.
type enteredFiles struct {
	Day            int64 // since 1970, in UTC
	Spent          int64 // numbers of all files of the day
	Judged, Missed int64 // numbers of those that were not held, and how many of them are not allocated
	DayBlocks      sketch.Blocks

	Since   time.Time      // of the last release; zero for none
	Numbers sketch.Counter // of the year, of files that were not held
	Blocks  sketch.Blocks  // where they are
}

// lockFiles reads what the files of a subject have, after [addEntered] in the same transaction, which
// has locked it. What is of another day, or of before a release, is left out.
func lockFiles(ctx context.Context, tx pg.Tx, s enteredSubject, year int, day int64, released time.Time) (f enteredFiles, err error) {
	var since sql.NullTime
	var dayBlocks, numbers, blocks []byte
	err = tx.QueryRow(ctx, `SELECT file_day, file_spent, file_judged, file_missed, file_day_blocks, file_since, file_numbers, file_blocks
		FROM guard_entered WHERE subject_id = $1 AND year = $2`, s.ID, year).Scan(&f.Day, &f.Spent, &f.Judged, &f.Missed, &dayBlocks, &since, &numbers, &blocks)
	if err != nil {
		return enteredFiles{}, fmt.Errorf("guard: read what files have: %w", err)
	}
	if f.Day != day {
		f, dayBlocks = enteredFiles{Day: day}, nil
	}
	if f.Since = since.Time; released.After(f.Since) {
		f.Since, numbers, blocks = released, nil, nil
	}
	f.Numbers.Merge(numbers, enteredFileBits)
	if err := f.DayBlocks.Merge(dayBlocks); err != nil {
		return enteredFiles{}, err
	}
	return f, f.Blocks.Merge(blocks)
}

// Save stores what the files of a subject have.
func (f *enteredFiles) Save(ctx context.Context, tx pg.Tx, s enteredSubject, year int) error {
	var since *time.Time
	if !f.Since.IsZero() {
		since = &f.Since
	}
	_, err := tx.Exec(ctx, `UPDATE guard_entered SET file_day = $3, file_spent = $4, file_judged = $5, file_missed = $6, file_day_blocks = $7, file_since = $8, file_numbers = $9,
		file_blocks = $10 WHERE subject_id = $1 AND year = $2`, s.ID, year, f.Day, f.Spent, f.Judged, f.Missed, f.DayBlocks.Encode(), since, f.Numbers.Registers(), f.Blocks.Encode())
	return fault.Wrap(err, "guard: save what files have")
}

// countLists counts watch-lists that were held or deleted, and returns how many those are in
// the year.
func countLists(ctx context.Context, tx pg.Tx, entity uuid.UUID, year int, held, deleted int64) (allHeld, allDeleted int64, err error) {
	err = tx.QueryRow(ctx, `INSERT INTO guard_entered AS e (subject_id, year, is_sponsor, version, numbers, lists_held, lists_deleted) VALUES ($1, $2, false, 1, '', $3, $4)
		ON CONFLICT (subject_id, year) DO UPDATE SET lists_held = e.lists_held + $3, lists_deleted = e.lists_deleted + $4 RETURNING lists_held, lists_deleted`,
		entity, year, held, deleted).Scan(&allHeld, &allDeleted)
	return allHeld, allDeleted, fault.Wrap(err, "guard: count watch-lists")
}
