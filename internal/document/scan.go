package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/clamd"
	"github.com/lineproof/lineproof/internal/document/internal/db"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/inspect"
	"github.com/lineproof/lineproof/internal/pg"
)

// Virus is the reason of a document that is infected. Those of one that is
// refused are in package inspect.
const Virus = "virus"

// ErrNotRefused reports a document that cannot be scanned again.
var ErrNotRefused = fault.New(fault.IncompatibleState, "Only a document that waits, is refused or is infected, and was not replaced, can be scanned again.")

var service = audit.Actor{Kind: audit.System}

// Scan takes a document from received to clean, refused or infected, and returns
// the state in which it is then. It may be called again at any time: what is
// settled stays as it is.
//
// It fails closed. Only a whole pass by the scanner over exactly the bytes that
// were uploaded, and a whole opening of them, make a document clean. An error
// leaves it waiting: [clamd.ErrAway] while there is no scanner, [ErrDamaged]
// when the content is not what was uploaded.
func (s *Store) Scan(ctx context.Context, id uuid.UUID) (State, error) {
	d, err := s.Find(ctx, id)
	if err != nil || d.State.Settled() {
		return d.State, err
	}
	if s.Scanner == nil {
		return d.State, fmt.Errorf("document: no scanner is set up: %w", clamd.ErrAway)
	}
	state, err := s.settle(ctx, id, step{to: Scanning, by: service})
	if err != nil || state.Settled() {
		return state, err
	}
	end, err := s.judge(ctx, &d)
	if err != nil {
		return Scanning, err
	}
	return s.settle(ctx, id, end)
}

// settle moves a document on unless another has been there before.
func (s *Store) settle(ctx context.Context, id uuid.UUID, m step) (state State, err error) {
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		d, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if state = State(d.State); state.Settled() || state == m.to {
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

// judge says where the content of a document leads.
func (s *Store) judge(ctx context.Context, d *Document) (step, error) {
	f, err := s.fetch(ctx, d)
	if err != nil {
		return step{}, err
	}
	defer func() { _ = f.Close() }()
	verdict, err := s.Scanner.Scan(ctx, f)
	deep := errors.Is(err, clamd.ErrDeep) // it would be the next time, too
	if err != nil && !deep {
		return step{}, fmt.Errorf("document: scan: %w", err)
	}
	if verdict.Infected {
		return step{to: Infected, by: service, reason: Virus, note: infectedNote(verdict.Signature)}, nil
	}
	if err := rewind(f); err != nil {
		return step{}, err
	}
	err = s.Inspector.Inspect(ctx, f, d.MediaType)
	if refusal, ok := errors.AsType[*inspect.Refusal](err); ok {
		return step{to: Refused, by: service, reason: refusal.Code, note: refusal.Message}, nil
	}
	if err != nil {
		return step{}, fmt.Errorf("document: open it in a process of its own: %w", err)
	}
	if deep {
		return step{to: Refused, by: service, reason: inspect.TooComplex.Code, note: inspect.TooComplex.Message}, nil
	}
	return step{to: Clean, by: service}, nil
}

// infectedNote names what was found. The name is the scanner's and not ours, so
// it is cut to what can be shown.
func infectedNote(signature string) string {
	return "The virus scanner found " + shorten(cleanName(signature), 100) + " in the file. Send the document from a machine that is free of it."
}

// shorten cuts a text to at most n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

func rewind(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("document: read the copy again: %w", err)
	}
	return nil
}

// Waiting returns the documents that have waited for their scan for longer than
// that, and of all that wait how many they are and since when the first of them
// does; zero for none.
func (s *Store) Waiting(ctx context.Context, older time.Duration) (ids []uuid.UUID, oldest time.Time, count int, err error) {
	rows, err := db.New(s.Pool).Waiting(ctx)
	if err != nil {
		return nil, time.Time{}, 0, fmt.Errorf("document: list what waits: %w", err)
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

// Rescan has a document scanned again: one that waits, or one that was refused
// or found infected by mistake.
func (s *Store) Rescan(ctx context.Context, id uuid.UUID, reason string, by audit.Actor) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		d, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		switch state := State(d.State); {
		case !state.Settled():
		case (state == Refused || state == Infected) && !d.Replaced:
			if err := s.move(ctx, tx, d, step{to: Received, by: by, note: reason}); err != nil {
				return err
			}
		default:
			return ErrNotRefused
		}
		return s.queue(ctx, tx, id)
	})
}
