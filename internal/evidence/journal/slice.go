package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// A day is read in slices of time. All records of a batch have the time of the batch, so
// a slice has whole batches, and each slice is read from a snapshot of its own: a batch
// and its records were committed together, and the snapshot has both or neither. So
// nodes may write meanwhile, and no snapshot is old enough to hold vacuum back.

const (
	// maxSliceEntries is how many records a slice may have before it is read in two halves.
	maxSliceEntries = 10 * archivefile.PartEntries
	// maxConflicts is how often a slice is read again because a standby cancelled it in
	// favour of what it had to replay.
	maxConflicts = 10
)

// errLargeSlice reports a slice with more records than should be in memory at once.
var errLargeSlice = errors.New("journal: a slice of the day has too many records")

// sliceReader reads slices of a day.
type sliceReader struct {
	pool *pgxpool.Pool // has the records; may be a standby
	// primary, if set, has the rows of the batches, when pool is a standby that might lack
	// some of them: the count and the root of a batch then prove that none of its records
	// is missing.
	primary    *pgxpool.Pool
	day        time.Time
	maxEntries int // 0 means maxSliceEntries
}

// daySlice is the batches of a slice in the order of an archive: by time, epoch, number
// and node. It is valid until its memory is used for another one.
type daySlice struct {
	batches    []archivefile.Batch
	erased     archivefile.ErasedSet // the records of the slice that may be erased
	duplicates []duplicate
}

// duplicate is a request id that occurs more than once.
type duplicate struct {
	id uuid.UUID
	n  int64
}

// check checks everything in a slice.
func (s *daySlice) check(t *archivefile.SliceCheck) {
	t.MayBeErased = s.erased
	for _, d := range s.duplicates {
		t.AddFinding(archivefile.NameOf(d.id), "occurs %d times", d.n)
	}
	for i := range s.batches {
		t.Batch(&s.batches[i])
	}
}

// read calls each for a slice or, if it has very many records, for parts of it in order.
func (r *sliceReader) read(ctx context.Context, span Span, memory *archivefile.Memory, each func(*daySlice) error) error {
	limit := cmp.Or(r.maxEntries, maxSliceEntries)
	middle := span.From.Add(span.To.Sub(span.From) / 2).Truncate(time.Millisecond)
	if !middle.After(span.From) {
		limit = 0 // it cannot be divided: the records of a batch have one time, in milliseconds
	}
	s, err := r.load(ctx, span, memory, limit)
	for conflicts := 0; isConflict(err) && conflicts < maxConflicts; conflicts++ {
		s, err = r.load(ctx, span, memory, limit)
	}
	if !errors.Is(err, errLargeSlice) {
		if err != nil {
			return err
		}
		return each(s)
	}
	if err := r.read(ctx, Span{From: span.From, To: middle}, memory, each); err != nil {
		return err
	}
	return r.read(ctx, Span{From: middle, To: span.To}, memory, each)
}

// isConflict reports whether a standby cancelled a statement: it would have kept the
// standby from replaying the log of the primary.
func isConflict(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "40001"
}

// load reads a slice from one snapshot, which has ended when load returns.
func (r *sliceReader) load(ctx context.Context, span Span, memory *archivefile.Memory, limit int) (*daySlice, error) {
	s := &daySlice{}
	var rows []archivefile.Batch
	var err error
	if r.primary != nil {
		err = inDaySnapshot(ctx, r.primary, r.day, func(tx pg.Tx) (err error) {
			rows, err = readBatches(ctx, tx, span)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err = inDaySnapshot(ctx, r.pool, r.day, func(tx pg.Tx) (err error) {
		if s.erased, err = erasedOf(ctx, tx, r.day, span); err != nil {
			return err
		}
		if r.primary == nil {
			if rows, err = readBatches(ctx, tx, span); err != nil {
				return err
			}
		}
		sql := `SELECT ` + entryColumns + ` FROM journal_entry` + whereSpan(span)
		if limit > 0 {
			sql += " LIMIT " + strconv.Itoa(limit+1)
		}
		n, err := memory.ReadEntries(ctx, tx.Conn().PgConn(), sql)
		if err == nil && limit > 0 && n > limit {
			err = errLargeSlice
		}
		if err != nil {
			return err
		}
		if memory.MayHaveDuplicates() {
			s.duplicates, err = findDuplicates(ctx, tx, span)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.batches, err = memory.Join(rows); err != nil {
		return nil, err
	}
	return s, nil
}

// inDaySnapshot runs a function in a snapshot that has a day, or returns ErrNoDay.
func inDaySnapshot(ctx context.Context, pool *pgxpool.Pool, day time.Time, fn func(pg.Tx) error) error {
	return pg.InSnapshot(ctx, pool, func(tx pg.Tx) error {
		// The lock comes before the snapshot: a day that is attached in the snapshot then
		// stays until the transaction ends.
		err := tx.Conn().PgConn().Exec(ctx, `LOCK TABLE ONLY journal_entry, ONLY journal_batch IN ACCESS SHARE MODE; `+readSettings).Close()
		if err != nil {
			return fmt.Errorf("journal: prepare to read: %w", err)
		}
		var attached int
		err = tx.QueryRow(ctx, `SELECT count(*) FROM pg_inherits WHERE inhrelid = ANY (ARRAY[to_regclass($1), to_regclass($2)]::oid[]) AND NOT inhdetachpending`,
			"public."+partitionOf(entryTable, day), "public."+partitionOf(batchTable, day)).Scan(&attached)
		if err != nil {
			return fmt.Errorf("journal: find the partitions of a day: %w", err)
		}
		if attached != 2 {
			return ErrNoDay
		}
		return fn(tx)
	})
}

// readSettings set a transaction up for reading a slice through the indexes on the time:
// the planner scans tables that are empty according to the statistics, and the statistics
// of a new day say that it is empty.
const readSettings = `SET TRANSACTION READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0;
	SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_seqscan = off`

// whereSpan limits a query to a period.
func whereSpan(s Span) string {
	const format = "2006-01-02 15:04:05.000000+00"
	return fmt.Sprintf(" WHERE at >= '%s' AND at < '%s'", s.From.UTC().Format(format), s.To.UTC().Format(format))
}

// findDuplicates returns the request ids of a slice that occur more than once. An id that
// occurs in two slices does not have the time of one of them, which is a finding, too.
func findDuplicates(ctx context.Context, tx pg.Tx, span Span) ([]duplicate, error) {
	found, err := pg.Collect(ctx, tx, func(row pgx.CollectableRow) (d duplicate, err error) {
		err = row.Scan(&d.id, &d.n)
		return d, err
	}, `SELECT request_id, count(*) FROM journal_entry`+whereSpan(span)+` GROUP BY request_id HAVING count(*) > 1 ORDER BY request_id`)
	return found, fault.Wrap(err, "journal: find duplicates")
}

func readBatches(ctx context.Context, tx pg.Tx, span Span) ([]archivefile.Batch, error) {
	return archivefile.ReadBatches(ctx, tx.Conn().PgConn(), `SELECT epoch, n, node, at, count, root, xact FROM journal_batch`+whereSpan(span))
}

// planDay divides a day into slices of about that many records. It reads only the rows of
// batches. The same batches always give the same slices, which cover the whole day.
func planDay(ctx context.Context, pool *pgxpool.Pool, day time.Time, entries int) ([]Span, error) {
	var bytes int64
	if err := pool.QueryRow(ctx, `SELECT coalesce(pg_relation_size(to_regclass($1)), 0)`, "public."+partitionOf(batchTable, day)).Scan(&bytes); err != nil {
		return nil, fmt.Errorf("journal: plan a day: %w", err)
	}
	const bytesPerQuery, hours = 128 << 20, 24
	queries := min(1+bytes/bytesPerQuery, hours) // of a large day each query counts a part, so that its snapshot is short
	slice := Span{From: day}
	var all []Span
	taken := 0
	for i := range queries {
		part := Span{From: day.Add(hours * time.Hour * time.Duration(i) / time.Duration(queries)), To: day.Add(hours * time.Hour * time.Duration(i+1) / time.Duration(queries))}
		var second time.Time
		var n int
		err := pg.ForEach(ctx, pool, []any{&second, &n}, func() error {
			if taken >= entries {
				all = append(all, Span{From: slice.From, To: second.UTC()})
				slice.From, taken = second.UTC(), 0
			}
			taken += n
			return nil
		}, `SELECT date_trunc('second', at), sum(count) FROM journal_batch`+whereSpan(part)+` GROUP BY 1 ORDER BY 1`)
		if err != nil {
			return nil, fmt.Errorf("journal: plan a day: %w", err)
		}
	}
	return append(all, Span{From: slice.From, To: day.AddDate(0, 0, 1)}), nil
}
