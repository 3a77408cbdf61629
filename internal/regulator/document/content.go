package document

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
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

// Copy is what people get of a document: a PDF with pictures of its pages or, by two people,
// an archive of the original that only the holder of a key can open.
type Copy struct {
	Document

	Sealed bool     // it is that archive
	File   *os.File // positioned at its start
	Size   int64
	SHA256 [32]byte
}

// ContentType returns what the file is.
func (c *Copy) ContentType() string {
	if c.Sealed {
		return "application/octet-stream"
	}
	return "application/pdf"
}

// SaveAs returns the name under which people save the file. It has nothing of the uploader's.
func (c *Copy) SaveAs() string {
	if c.Sealed {
		return "document-" + c.ID.String() + ".tar.age"
	}
	return "document-" + c.ID.String() + ".pdf"
}

// Content makes a PDF of the pictures of a document's pages, if its state allows that,
// and audits the access. None of the document's own bytes are in it.
func (s *Store) Content(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) (c Copy, err error) {
	d, err := s.Find(ctx, id)
	if err != nil {
		return Copy{}, err
	}
	f, err := s.open(ctx, &d, by, request)
	if err != nil {
		return Copy{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out, err := s.spoolFile()
	if err != nil {
		return Copy{}, err
	}
	defer func() {
		if err != nil {
			_ = out.Close()
		}
	}()
	hash := sha256.New()
	book := pageimage.NewBook(io.MultiWriter(out, hash))
	err = inSlot(ctx, func() error {
		_, err := s.Pictures.DrawAll(ctx, f, d.MediaType, book.Add)
		return err
	})
	if err != nil {
		return Copy{}, pictureError(err)
	}
	if err := book.Close(); err != nil {
		return Copy{}, fmt.Errorf("document: write the pictures: %w", err)
	}
	size, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return Copy{}, fmt.Errorf("document: measure the pictures: %w", err)
	}
	return Copy{Document: d, File: out, Size: size, SHA256: [32]byte(hash.Sum(nil))}, rewind(out)
}

// open opens the file of a document that may be shown, for the processes that draw it, and
// audits the access. The file is read completely and compared with what was uploaded before.
func (s *Store) open(ctx context.Context, d *Document, by audit.Actor, request uuid.UUID) (*os.File, error) {
	if !d.State.Open() {
		return nil, fault.New(fault.IncompatibleState, closedMessage(d.State)).Because(ErrNotClean)
	}
	f, err := s.fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		return audit.Write(ctx, tx, audit.Entry{At: s.now(), Actor: by, Action: audit.DocumentOpened, Subject: d.ID, Entity: d.Entity, Request: request})
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// spoolFile returns an unlinked temporary file, which exists until it is closed.
func (s *Store) spoolFile() (*os.File, error) {
	f, err := os.CreateTemp(s.Spool, "document-")
	if err != nil {
		return nil, fmt.Errorf("document: create a temporary file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("document: unlink the temporary file: %w", err), f.Close())
	}
	return f, nil
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
	f, err = s.spoolFile()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
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
