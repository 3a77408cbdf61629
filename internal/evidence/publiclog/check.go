package publiclog

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
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
// service may be running. Entries about archived batches are read from the archives.
func Check(ctx context.Context, from pg.DB, archive blob.Store) (r Report, err error) {
	if r.Head, err = ReadHead(ctx, from); err != nil {
		return r, err
	}
	roots, err := checkpoints(ctx, from, r.Size)
	if err != nil {
		return r, err
	}
	r.Checkpoints = int64(len(roots))
	if err := r.checkEntries(ctx, newEntryReader(from, archive), roots); err != nil {
		return r, err
	}
	for _, check := range []func(context.Context, pg.DB) error{r.checkHead, r.checkBatches, r.checkSources, r.checkArchives, r.checkRestores} {
		if err := check(ctx, from); err != nil {
			return r, err
		}
	}
	return r, nil
}

// checkHead looks for checkpoints beyond the head, which would be signed, and for a
// beginning that was moved: batches from before it need not be in the log.
func (r *Report) checkHead(ctx context.Context, from pg.DB) error {
	var beyond []int64
	var first *time.Time
	err := from.QueryRow(ctx, `SELECT (SELECT array_agg(c.size ORDER BY c.size) FROM log_checkpoint c WHERE c.size > h.size),
			least((SELECT min(at) FROM log_entry), (SELECT (min(day) + 1)::timestamp AT TIME ZONE 'UTC' FROM journal_archive WHERE logged > 0)) FROM log_head h`).Scan(&beyond, &first)
	if err != nil {
		return fmt.Errorf("publiclog: read the head: %w", err)
	}
	for _, size := range beyond {
		r.find("there is a checkpoint of size %d, and the log is smaller", size)
	}
	if first != nil && first.Before(r.Began.Add(-MergeDelay)) {
		r.find("the log began at %s, as the head says, but has an entry of %s", r.Began.UTC().Format(time.RFC3339), first.UTC().Format(time.RFC3339))
	}
	return nil
}

// checkpoints returns the roots by size.
func checkpoints(ctx context.Context, from pg.DB, size int64) (map[int64]merkle.Hash, error) {
	all := map[int64]merkle.Hash{}
	var at int64
	var root []byte
	err := pg.ForEach(ctx, from, []any{&at, &root}, func() error {
		all[at] = merkle.Hash(root)
		return nil
	}, `SELECT size, root FROM log_checkpoint WHERE size <= $1`, size)
	return all, fault.Wrap(err, "publiclog: read the checkpoints")
}

// checkEntries computes the tree again.
func (r *Report) checkEntries(ctx context.Context, from *entryReader, roots map[int64]merkle.Hash) error {
	var tree merkle.Tree
	next := int64(0)
	err := from.each(ctx, 0, r.Size, func(e *storedEntry) error {
		if e.Idx != next {
			r.find("entry %d follows entry %d", e.Idx, next-1)
		}
		next = e.Idx + 1
		if e.Kind != 0 && !matches(e) {
			r.find("entry %d is not what its columns say", e.Idx)
		}
		tree.Add(e.Entry)
		if root, ok := roots[next]; ok && root != tree.Root() {
			r.find("the checkpoint of size %d has another root than its entries", next)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if next != r.Size {
		r.find("the log has %d entries, and the head says %d", next, r.Size)
	}
	if tree.Root() != r.Root {
		r.find("the head has another root than the entries")
	}
	if !bytes.Equal(tree.Edge(), r.edge) {
		r.find("the head can't be continued: it has other subtrees than the entries")
	}
	if _, ok := roots[r.Size]; !ok && r.Size > 0 {
		r.find("there is no checkpoint of size %d, which is that of the head", r.Size)
	}
	return nil
}

// matches reports whether an entry is well formed and what its columns say.
func matches(s *storedEntry) bool {
	e, err := logentry.Decode(s.Entry)
	if err != nil || !e.At.Equal(s.At) || int16(e.Kind) != s.Kind {
		return false
	}
	if e.Kind != logentry.Answers {
		_, err = e.DecodeBody()
		return err == nil && s.Epoch == nil && s.N == nil
	}
	b, err := logentry.DecodeBatch(s.Entry)
	return err == nil && s.Epoch != nil && s.N != nil && b.Epoch == *s.Epoch && b.N == *s.N
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
	err = r.findBatches(ctx, from, "batch %d of epoch %d is in the log twice",
		`SELECT n, epoch FROM log_entry WHERE kind = 1 AND idx < $1 GROUP BY epoch, n HAVING count(*) > 1 ORDER BY epoch, n LIMIT $2`, r.Size, maxFindings)
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
	var n, epoch int64
	err := pg.ForEach(ctx, from, []any{&n, &epoch}, func() error {
		r.find(what, n, epoch)
		return nil
	}, query, args...)
	return fault.Wrap(err, "publiclog: compare with the journal")
}
