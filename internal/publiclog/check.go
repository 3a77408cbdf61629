package publiclog

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/logentry"
	"github.com/lineproof/lineproof/internal/merkle"
	"github.com/lineproof/lineproof/internal/pg"
)

// MergeDelay is how long after its commit a batch may be missing in the log.
const MergeDelay = time.Minute

// maxFindings bounds the list of findings. One more says that there are more.
const maxFindings = 100

// Report is the result of a check.
type Report struct {
	Head

	Checkpoints int64
	Found       []string
}

func (r *Report) find(format string, args ...any) {
	if len(r.Found) < maxFindings {
		r.Found = append(r.Found, fmt.Sprintf(format, args...))
	}
}

// Check reads the log from its beginning: its entries are well formed and without a gap,
// their tree has the roots of the checkpoints, and every batch of the journal that the
// database still has, and whatever else the log must have, is in it, and nothing else. The
// service may be running.
func Check(ctx context.Context, from pg.DB) (r Report, err error) {
	if r.Head, err = ReadHead(ctx, from); err != nil {
		return r, err
	}
	roots, err := checkpoints(ctx, from, r.Size)
	if err != nil {
		return r, err
	}
	r.Checkpoints = int64(len(roots))
	if err := r.checkEntries(ctx, from, roots); err != nil {
		return r, err
	}
	if err := r.checkBatches(ctx, from); err != nil {
		return r, err
	}
	return r, r.checkSources(ctx, from)
}

// checkpoints returns the roots by size.
func checkpoints(ctx context.Context, from pg.DB, size int64) (map[int64]merkle.Hash, error) {
	rows, err := from.Query(ctx, `SELECT size, root FROM log_checkpoint WHERE size <= $1`, size)
	if err != nil {
		return nil, fmt.Errorf("publiclog: read the checkpoints: %w", err)
	}
	all := map[int64]merkle.Hash{}
	var at int64
	var root []byte
	_, err = pgx.ForEachRow(rows, []any{&at, &root}, func() error {
		all[at] = merkle.Hash(root)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("publiclog: read the checkpoints: %w", err)
	}
	return all, nil
}

// checkEntries computes the tree again.
func (r *Report) checkEntries(ctx context.Context, from pg.DB, roots map[int64]merkle.Hash) error {
	rows, err := from.Query(ctx, `SELECT idx, at, kind, epoch, n, entry FROM log_entry WHERE idx < $1 ORDER BY idx`, r.Size)
	if err != nil {
		return fmt.Errorf("publiclog: read the entries: %w", err)
	}
	var idx int64
	var epoch, n *int64
	var at time.Time
	var kind int16
	var entry []byte
	var tree merkle.Tree
	next := int64(0)
	_, err = pgx.ForEachRow(rows, []any{&idx, &at, &kind, &epoch, &n, &entry}, func() error {
		if idx != next {
			r.find("entry %d follows entry %d", idx, next-1)
		}
		next = idx + 1
		if !matches(entry, at, kind, epoch, n) {
			r.find("entry %d is not what its columns say", idx)
		}
		tree.Add(entry)
		if root, ok := roots[next]; ok && root != tree.Root() {
			r.find("the checkpoint of size %d has another root than its entries", next)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("publiclog: read the entries: %w", err)
	}
	if next != r.Size {
		r.find("the log has %d entries, and the head says %d", next, r.Size)
	}
	if tree.Root() != r.Root {
		r.find("the head has another root than the entries")
	}
	if _, ok := roots[r.Size]; !ok && r.Size > 0 {
		r.find("there is no checkpoint of size %d, which is that of the head", r.Size)
	}
	return nil
}

// matches reports whether an entry is well formed and what its columns say.
func matches(entry []byte, at time.Time, kind int16, epoch, n *int64) bool {
	e, err := logentry.Decode(entry)
	if err != nil || !e.At.Equal(at) || int16(e.Kind) != kind {
		return false
	}
	if e.Kind != logentry.Answers {
		_, err = e.DecodeBody()
		return err == nil && epoch == nil && n == nil
	}
	b, err := logentry.DecodeBatch(entry)
	return err == nil && epoch != nil && n != nil && b.Epoch == *epoch && b.N == *n
}

// entryOf is the entry about a batch, in SQL: the same bytes as logentry.Batch.Encode.
const entryOf = `'lineproof log entry 1'::bytea || '\x0a01'::bytea || int8send((extract(epoch FROM b.at) * 1000)::bigint)
	|| int8send(b.epoch) || int8send(b.n) || int4send(b.count) || b.root`

// checkBatches compares the log with the batches of the journal. Those of an archived day
// are not in the database any more.
func (r *Report) checkBatches(ctx context.Context, from pg.DB) error {
	err := r.findBatches(ctx, from, "batch %d of epoch %d is in the log, but the journal does not have it, or has another one",
		`SELECT l.n, l.epoch FROM log_entry l LEFT JOIN journal_batch b ON b.epoch = l.epoch AND b.n = l.n AND b.at = l.at
		WHERE l.kind = 1 AND l.idx < $1 AND NOT l.lost AND (l.at AT TIME ZONE 'UTC')::date NOT IN (SELECT day FROM journal_archive)
			AND (b.n IS NULL OR l.entry <> `+entryOf+`) ORDER BY l.idx LIMIT $2`, r.Size, maxFindings)
	if err != nil {
		return err
	}
	return r.findBatches(ctx, from, "batch %d of epoch %d is in the journal, but not in the log",
		`SELECT b.n, b.epoch FROM journal_batch b WHERE b.at >= $1 AND b.at < now() - $2::interval
			AND NOT EXISTS (SELECT FROM log_entry l WHERE l.epoch = b.epoch AND l.n = b.n AND l.at = b.at) ORDER BY b.at, b.epoch, b.n LIMIT $3`,
		r.Began.Add(MergeDelay), MergeDelay, maxFindings)
}

// findBatches reports every batch that the query returns.
func (r *Report) findBatches(ctx context.Context, from pg.DB, what, query string, args ...any) error {
	rows, err := from.Query(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("publiclog: compare with the journal: %w", err)
	}
	var n, epoch int64
	_, err = pgx.ForEachRow(rows, []any{&n, &epoch}, func() error {
		r.find(what, n, epoch)
		return nil
	})
	if err != nil {
		return fmt.Errorf("publiclog: compare with the journal: %w", err)
	}
	return nil
}
