package document

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

var (
	// ErrNotClean reports a document whose content is shown to nobody. What the
	// caller is told depends on its state.
	ErrNotClean = fault.New(fault.IncompatibleState, "The content of this document is not shown.")
	// ErrDamaged says that the content of a document is missing or is not what
	// was uploaded. Nobody is shown it. Restore it from a backup; see lineproof
	// documents check.
	ErrDamaged = errors.New("document: the content is missing or is not what was uploaded")

	errFetch = fault.New(fault.Unavailable, "The service could not read the file. Ask again after the time in the Retry-After header.")
)

// closed says why the content of a document in a state is not shown.
func closed(s State) string {
	switch s {
	case Received:
		return "The document waits for the virus scanner (state received). Ask again later."
	case Scanning:
		return "The document is being scanned (state scanning). Ask again later."
	case Refused:
		return "The document was refused, so nobody is shown its content (state refused). Its reason says what to send instead."
	case Infected:
		return "The virus scanner found something in the document, so nobody is shown its content (state infected). Send it from a machine that is free of it."
	case Deleted:
		return "The content of this document was deleted (state deleted). The record of it is kept."
	default:
		return ErrNotClean.Message // the others are shown
	}
}

// Content opens the content of a document, if it is in a state to be shown, and
// writes into the audit trail who did. The content was read to its end and
// compared with what was uploaded before the first byte of it is returned.
func (s *Store) Content(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) (Document, io.ReadCloser, error) {
	d, err := s.Find(ctx, id)
	if err != nil {
		return Document{}, nil, err
	}
	if !d.State.Open() {
		return Document{}, nil, fault.New(fault.IncompatibleState, closed(d.State)).Because(ErrNotClean)
	}
	f, err := s.fetch(ctx, &d)
	if err != nil {
		return Document{}, nil, err
	}
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		return audit.Write(ctx, tx, audit.Entry{At: s.now(), Actor: by, Action: audit.DocumentOpened, Subject: d.ID, Entity: d.Entity, Request: request})
	})
	if err != nil {
		return Document{}, nil, errors.Join(err, f.Close())
	}
	return d, f, nil
}

// fetch copies the content of a document into a file without a name and compares
// it with what was uploaded. The file stands at its beginning.
func (s *Store) fetch(ctx context.Context, d *Document) (f *os.File, err error) {
	content, err := s.Files.Open(ctx, d.ID.String())
	if errors.Is(err, blob.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, d.ID, err)
	}
	if err != nil {
		return nil, errFetch.Because(err)
	}
	defer func() { _ = content.Close() }()
	f, err = os.CreateTemp(s.Spool, "document-")
	if err != nil {
		return nil, fmt.Errorf("document: make a temporary file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if err := os.Remove(f.Name()); err != nil { // it lives as long as it is open
		return nil, fmt.Errorf("document: take the temporary file's name away: %w", err)
	}
	hash := sha256.New()
	// One byte more than there should be is enough to know.
	n, err := io.Copy(io.MultiWriter(f, hash), io.LimitReader(content, d.Size+1))
	if errors.Is(err, blob.ErrDamaged) {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, d.ID, err)
	}
	if err != nil {
		return nil, errFetch.Because(err)
	}
	if n != d.Size || [sha256.Size]byte(hash.Sum(nil)) != d.SHA256 {
		return nil, fmt.Errorf("%w: %s", ErrDamaged, d.ID)
	}
	return f, rewind(f)
}
