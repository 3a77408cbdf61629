package filejob

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/blob"
)

// waitFor is how long a job waits for its file.
const waitFor = 24 * time.Hour

// cleanUp ends jobs whose file was not sent and those that nobody has released, lets go of the files of jobs that have ended
// and of results whose time is over or in which a record was erased, and deletes them.
// All records of a chunk have its time: so the chunks say which results an erasure meets.
func (s *Service) cleanUp(ctx context.Context) error {
	now, batch := s.now(), &pgx.Batch{}
	batch.Queue(`UPDATE file_job SET state = 'cancelled', finished_at = $1 WHERE state = 'waiting' AND created_at < $2`, now, now.Add(-waitFor))
	batch.Queue(`UPDATE file_job SET state = 'failed', reason = 'Nobody has released this file.', finished_at = $1 WHERE state = 'held' AND received_at < $2`, now, now.Add(-heldFor))
	batch.Queue(`UPDATE file_job SET file = NULL WHERE file IS NOT NULL AND state IN ('done', 'cancelled', 'failed')`)
	batch.Queue(`UPDATE file_job j SET result = NULL WHERE result IS NOT NULL AND (kept_until <= $1
		OR EXISTS (SELECT FROM file_job_chunk c JOIN journal_erased e ON e.at = c.at WHERE c.job = j.id)
		OR EXISTS (SELECT FROM file_job_chunk c JOIN journal_erased_day d ON d.day = (c.at AT TIME ZONE 'UTC')::date WHERE c.job = j.id))`, now)
	batch.Queue(`DELETE FROM file_job_chunk c USING file_job j WHERE j.id = c.job AND j.result IS NULL AND j.state IN ('done', 'cancelled', 'failed')`)
	if err := s.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("filejob: let go of files: %w", err)
	}
	return s.sweep(ctx)
}

// sweep deletes every file of the store that no job needs any more. Without a bucket each
// node has a store of its own, and so deletes its own files. A job knows the name of a file
// before that is in the store: so the store is read first.
func (s *Service) sweep(ctx context.Context) error {
	var found []string
	err := s.Files.List(ctx, func(item blob.Item) error {
		found = append(found, item.Key)
		return nil
	})
	if err != nil || len(found) == 0 {
		return err
	}
	jobs, err := query(ctx, s.Pool, `WHERE file IS NOT NULL OR result IS NOT NULL`)
	if err != nil {
		return err
	}
	needed := make(map[string]bool, 2*len(jobs))
	for i := range jobs {
		j := &jobs[i]
		if needed[j.fileName().String()] = true; j.HasResult() || j.State == Writing {
			needed[j.resultName().String()] = true
		}
	}
	var failed error
	for _, key := range found {
		if needed[key] {
			continue
		}
		if err := s.Files.Delete(ctx, key); err != nil && !errors.Is(err, blob.ErrNotFound) {
			failed = errors.Join(failed, fmt.Errorf("filejob: delete a file: %w", err))
		}
	}
	return failed
}
