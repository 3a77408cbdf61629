package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/platform/inspect"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Virus is the reason of an infected document. The reasons of refused documents
// are in package inspect.
const Virus = "virus"

// ErrNotRefused reports a document that cannot be rescanned.
var ErrNotRefused = fault.New(fault.IncompatibleState, "Only a document that is waiting, refused or infected, and has not been replaced, can be scanned again.")

var service = audit.Actor{Kind: audit.System}

// Scan takes a document from received to clean, refused or infected, and returns
// its new state. It may be called at any time: a finished scan is not repeated.
//
// It fails closed. A document becomes clean only if the scanner passed exactly the
// bytes that were uploaded, all of them, and every page of it could be drawn. After an error it keeps waiting: [clamd.ErrUnavailable] without a
// scanner, [ErrDamaged] if the content differs from what was uploaded.
func (s *Store) Scan(ctx context.Context, id uuid.UUID) (State, error) {
	d, err := s.Find(ctx, id)
	if err != nil || d.State.Settled() {
		return d.State, err
	}
	if s.Scanner == nil {
		return d.State, fmt.Errorf("document: no scanner is configured: %w", clamd.ErrUnavailable)
	}
	state, err := s.advance(ctx, id, transition{to: Scanning, by: service})
	if err != nil || state.Settled() {
		return state, err
	}
	result, err := s.examine(ctx, &d)
	if err != nil {
		return Scanning, err
	}
	return s.advance(ctx, id, result)
}

// advance changes the state of a document, unless another node has done so before.
func (s *Store) advance(ctx context.Context, id uuid.UUID, m transition) (state State, err error) {
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		d, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if state = d.State; state.Settled() || state == m.to {
			return nil
		}
		if err := s.move(ctx, tx, d, m); err != nil {
			return err
		}
		state = m.to
		return nil
	})
	return state, err
}

// examine scans and draws the content of a document and returns the resulting
// transition.
func (s *Store) examine(ctx context.Context, d *Document) (transition, error) {
	f, err := s.fetch(ctx, d)
	if err != nil {
		return transition{}, err
	}
	defer func() { _ = f.Close() }()
	verdict, err := s.Scanner.Scan(ctx, f)
	deep := errors.Is(err, clamd.ErrDeep) // a retry would end the same way
	if err != nil && !deep {
		return transition{}, fmt.Errorf("document: scan: %w", err)
	}
	if verdict.Infected {
		return transition{to: Infected, by: service, reason: Virus, note: infectedNote(verdict.Signature)}, nil
	}
	if err := rewind(f); err != nil {
		return transition{}, err
	}
	err = inSlot(ctx, func() error { return inspect.File(ctx, &s.Pictures, f, d.MediaType) })
	if refusal, ok := errors.AsType[*inspect.Refusal](err); ok {
		return transition{to: Refused, by: service, reason: refusal.Code, note: refusal.Message}, nil
	}
	if err != nil {
		return transition{}, fmt.Errorf("document: inspect: %w", err)
	}
	if deep {
		return transition{to: Refused, by: service, reason: inspect.TooComplex.Code, note: inspect.TooComplex.Message}, nil
	}
	return transition{to: Clean, by: service}, nil
}

// infectedNote names the virus. The name comes from the scanner, so it is limited
// to printable characters and a length.
func infectedNote(signature string) string {
	return "The virus scanner found " + shorten(cleanName(signature), 100) + " in the file. Upload the document again from a computer without viruses."
}

// shorten cuts a text to at most n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

func rewind(f *os.File) error {
	_, err := f.Seek(0, io.SeekStart)
	return fault.Wrap(err, "document: rewind the copy")
}

// Waiting returns the documents that have waited for their scan for longer than
// older, the number of all waiting documents, and since when the oldest of them
// waits; zero if there is none.
func (s *Store) Waiting(ctx context.Context, older time.Duration) (ids []uuid.UUID, oldest time.Time, count int, err error) {
	type waiting struct {
		ID    uuid.UUID
		Since time.Time // the upload, or the last rescan
	}
	rows, err := pg.Collect(ctx, s.Pool, pgx.RowToStructByPos[waiting], `SELECT d.id,
		coalesce((SELECT max(m.at) FROM document_move m WHERE m.document_id = d.id AND m.to_state = 'received'), d.created_at)
		FROM document d WHERE d.state IN ('received', 'scanning') ORDER BY d.id`)
	if err != nil {
		return nil, time.Time{}, 0, fmt.Errorf("document: list waiting documents: %w", err)
	}
	limit := s.now().Add(-older)
	for _, r := range rows {
		if r.Since.Before(limit) {
			ids = append(ids, r.ID)
		}
		if oldest.IsZero() || r.Since.Before(oldest) {
			oldest = r.Since.UTC()
		}
	}
	return ids, oldest, len(rows), nil
}

// Rescan queues another scan of a document: one that waits, or one that was
// refused or found infected by mistake.
func (s *Store) Rescan(ctx context.Context, id uuid.UUID, reason string, by audit.Actor) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		d, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		switch state := d.State; {
		case !state.Settled():
		case (state == Refused || state == Infected) && !d.Replaced:
			if err := s.move(ctx, tx, d, transition{to: Received, by: by, note: reason}); err != nil {
				return err
			}
		default:
			return ErrNotRefused
		}
		return s.queue(ctx, tx, id)
	})
}
