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
	// ErrNotClean reports a document whose content is not shown. The message to the
	// caller depends on its state.
	ErrNotClean = fault.New(fault.IncompatibleState, "The content of this document cannot be opened.")
	// ErrDamaged reports that the content of a document is missing or differs from
	// what was uploaded. It is not shown. Restore it from a backup; see lineproof
	// documents check.
	ErrDamaged = errors.New("document: the content is missing or differs from what was uploaded")

	errFetch = fault.New(fault.Unavailable, "The service could not read the file. Try again after the time in the Retry-After header.")
)

// closedMessage returns the message why the content of a document in a state is not shown.
func closedMessage(s State) string {
	switch s {
	case Received:
		return "The document is waiting for its virus scan (state received). Try again later."
	case Scanning:
		return "The document is being scanned for viruses (state scanning). Try again later."
	case Refused:
		return "The document was refused, so its content cannot be opened (state refused). Its reason says what to upload instead."
	case Infected:
		return "The virus scanner found a virus in the document, so its content cannot be opened (state infected). Upload it again from a computer without viruses."
	case Deleted:
		return "The content of this document was deleted (state deleted). Only its record remains."
	default:
		return ErrNotClean.Message // in the other states it is shown
	}
}

// Content opens the content of a document, if its state allows that, and audits
// the access. The content is read completely and compared with what was uploaded
// before its first byte is returned.
func (s *Store) Content(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) (Document, io.ReadCloser, error) {
	d, err := s.Find(ctx, id)
	if err != nil {
		return Document{}, nil, err
	}
	if !d.State.Open() {
		return Document{}, nil, fault.New(fault.IncompatibleState, closedMessage(d.State)).Because(ErrNotClean)
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

// fetch copies the content of a document into an unlinked temporary file and
// compares it with what was uploaded. The file is positioned at its start.
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
		return nil, fmt.Errorf("document: create a temporary file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if err := os.Remove(f.Name()); err != nil { // its content exists until it is closed
		return nil, fmt.Errorf("document: unlink the temporary file: %w", err)
	}
	hash := sha256.New()
	// One byte more than expected is enough to detect a difference.
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
