package filejob

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	// ErrHasFile reports a job whose file was already sent.
	ErrHasFile = fault.New(fault.IncompatibleState, "This job has its file. Create another job for another file.")
	errSecond  = fault.New(fault.Aborted, "Another file was sent for this job at the same time. Look at the job, and send the file again if it still waits.")
)

// Receive stores the file of a job that waits for it, and lets the job begin. A file that
// is cut off is deleted, and can be sent again.
func (s *Service) Receive(ctx context.Context, o Owner, id uuid.UUID, body io.Reader, by By) (Job, error) {
	j, err := s.CheckWaiting(ctx, o, id)
	if err != nil {
		return Job{}, err
	}
	leave, err := s.Uploads.Enter(ctx, j.Owner.Entity)
	if err != nil {
		return Job{}, err
	}
	defer leave()
	// The name is stored before the file, so that no file is left without a job, whatever
	// is killed.
	key := uuid.Must(uuid.NewRandom())
	if err := s.name(ctx, &j, key); err != nil {
		return Job{}, err
	}
	info, err := s.Files.Put(ctx, j.fileName().String(), body)
	if err == nil {
		err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
			if err := lockJobs(ctx, tx, j.Owner.Entity); err != nil { // of two files at once the second counts the first
				return err
			}
			if err := s.checkBytes(ctx, tx, j.Owner.Entity, info.Size); err != nil {
				return err
			}
			now := s.now()
			done, err := tx.Exec(ctx, `UPDATE file_job SET state = $3, bytes = $4, received_at = $5 WHERE id = $1 AND file = $2 AND state = 'waiting'`, id, key, Checking, info.Size, now)
			if err != nil {
				return fmt.Errorf("filejob: receive a file: %w", err)
			}
			if done.RowsAffected() == 0 {
				return errSecond
			}
			return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by.Actor, Action: audit.JobReceived, Subject: id, Request: by.Request, After: map[string]any{"bytes": info.Size}})
		})
	}
	if err != nil && !errors.Is(err, pg.ErrUnknown) { // after an unknown commit the job may run
		err = errors.Join(err, s.remove(context.WithoutCancel(ctx), j.fileName())) // the sender may have closed the connection
	}
	if err != nil {
		return Job{}, err
	}
	return s.Job(ctx, o, id)
}

// CheckWaiting returns a job that waits for its file, or why it does not, before the file
// is sent.
func (s *Service) CheckWaiting(ctx context.Context, o Owner, id uuid.UUID) (Job, error) {
	j, err := s.Job(ctx, o, id)
	switch {
	case err != nil:
		return Job{}, err
	case !j.State.Open():
		return Job{}, ErrEnded
	case j.State != Waiting:
		return Job{}, ErrHasFile
	}
	return j, s.checkBytes(ctx, s.Pool, j.Owner.Entity, 1)
}

// fileName returns the name of the sent file in the store.
func (j *Job) fileName() uuid.UUID { return j.storeName("file " + j.file.UUID.String()) }

// name stores what the name of the file of a job is made of, and deletes what an earlier call
// that was interrupted has left.
func (s *Service) name(ctx context.Context, j *Job, key uuid.UUID) error {
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE file_job SET file = $2 WHERE id = $1 AND state = 'waiting' AND file IS NOT DISTINCT FROM $3`, j.ID, key, j.file)
		if err != nil {
			return fmt.Errorf("filejob: receive a file: %w", err)
		}
		if done.RowsAffected() == 0 {
			return errSecond
		}
		return nil
	})
	before := *j
	j.file = uuid.NullUUID{UUID: key, Valid: true}
	if err != nil || !before.file.Valid {
		return err
	}
	return s.remove(ctx, before.fileName())
}

// remove deletes a file of the store, if it is there.
func (s *Service) remove(ctx context.Context, key uuid.UUID) error {
	if err := s.Files.Delete(ctx, key.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("filejob: delete a file: %w", err)
	}
	return nil
}
