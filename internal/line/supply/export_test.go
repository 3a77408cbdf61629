package supply

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// InChunks returns the source with a number of rows for each transaction.
func (s Source) InChunks(rows int) Source {
	s.chunk = rows
	return s
}

// RunOnce runs the waiting imports once, and then deletes the files of imports that
// finished after a time.
func (s *Service) RunOnce(ctx context.Context, log *slog.Logger, since time.Time) error {
	w := s.newImportWorkers(log)
	err := w.start(ctx)
	w.Wait()
	return errors.Join(err, w.deleteFinishedFiles(ctx, since))
}

// VoidInBatches voids a snapshot, or continues to, with a number of lines for each
// transaction.
func (s *Service) VoidInBatches(ctx context.Context, uid uuid.UUID, by audit.Actor, batch int, onProgress func(Import)) (Import, error) {
	im, err := s.Import(ctx, uid)
	if err == nil && im.State != Voiding {
		err = s.inTx(ctx, func(tx pg.Tx) error {
			return s.StartVoid(ctx, tx, uid, audit.Entry{At: s.now(), Actor: by, After: map[string]any{}})
		})
	}
	if err != nil {
		return im, err
	}
	return s.voidInBatches(ctx, uid, batch, onProgress)
}

// Confirm confirms a held import as two people do.
func (s *Service) Confirm(ctx context.Context, uid uuid.UUID, by audit.Actor) (Import, error) {
	err := s.inTx(ctx, func(tx pg.Tx) error {
		if err := s.CheckHeld(ctx, tx, uid); err != nil {
			return err
		}
		return s.ConfirmHeld(ctx, tx, uid, audit.Entry{At: s.now(), Actor: by})
	})
	if err != nil {
		return Import{}, err
	}
	return s.Import(ctx, uid)
}
