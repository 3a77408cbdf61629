package supply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/blob"
)

// pause is how long Work rests when there is nothing to do.
const pause = 500 * time.Millisecond

// Work deals with the imports that came over the API, one after the other,
// until ctx ends. Every node may run it: an import is worked on by the node
// that has its file, and by one process at a time. What a killed process left
// half done goes on here by itself.
func (d *Desk) Work(ctx context.Context, log *slog.Logger) {
	since := time.Time{} // the first time all that are over are looked at
	gone := map[uuid.UUID]bool{}
	for ctx.Err() == nil {
		if err := errors.Join(d.workOnce(ctx, log), d.tidy(ctx, since, gone)); err == nil {
			since = d.now().Add(-time.Hour)
		} else if ctx.Err() == nil {
			log.LogAttrs(ctx, slog.LevelWarn, "imports could not be worked on", slog.Any("error", err))
			rest(ctx, 5*time.Second)
		}
		rest(ctx, pause)
	}
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// workOnce works off what waits. An import that fails keeps no other waiting.
func (d *Desk) workOnce(ctx context.Context, log *slog.Logger) error {
	waiting, err := d.received(ctx, `state IN ('checking', 'applying')`)
	if err != nil {
		return err
	}
	var failed error
	for _, uid := range waiting {
		im, err := d.Run(ctx, uid, Source{Open: func() (io.ReadCloser, error) { return d.Files.Open(ctx, uid.String()) }}, nil)
		switch {
		case errors.Is(err, errBusy), errors.Is(err, blob.ErrNotFound):
			continue // another process, or the node that has the file
		case err != nil:
			failed = errors.Join(failed, err)
			continue
		}
		log.LogAttrs(ctx, slog.LevelInfo, "import", slog.String("import", uid.String()), slog.String("state", im.State), slog.Int64("rows", im.Rows),
			slog.Int64("refused", im.Counts.Refused))
	}
	return failed
}

// tidy removes the files of imports that are over since a time, whoever ended
// them: a worker here, staff, or a process that was killed then. It remembers
// which are gone, for a bucket would be asked about each of them twice a second.
func (d *Desk) tidy(ctx context.Context, since time.Time, gone map[uuid.UUID]bool) error {
	over, err := d.received(ctx, `state NOT IN ('checking', 'held', 'applying') AND finished_at >= $1`, since)
	if err != nil {
		return err
	}
	var failed error
	for _, uid := range over {
		if gone[uid] {
			continue
		}
		if err := d.Files.Delete(ctx, uid.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
			failed = errors.Join(failed, fmt.Errorf("supply: remove a file that is done with: %w", err))
			continue
		}
		gone[uid] = true
	}
	return failed
}

// received lists the imports that came over the API, as far as a condition holds.
func (d *Desk) received(ctx context.Context, where string, args ...any) ([]uuid.UUID, error) {
	rows, err := d.Pool.Query(ctx, `SELECT uid FROM supply_import WHERE source = 'api' AND `+where+` ORDER BY id`, args...)
	if err != nil {
		return nil, fmt.Errorf("supply: look for imports: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("supply: look for imports: %w", err)
	}
	return list, nil
}
