package document

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The errors of pictures.
var (
	errNoPicture = fault.New(fault.NotFound, "No pictures can be made of this type of file here: for PDF the service needs poppler's pdftoppm and pdfinfo.")
	errTooLarge  = fault.New(fault.NotApplicable, "The image is too large to be shown.")
	errPicture   = fault.New(fault.NotApplicable, "No picture could be made of this page.")
)

// pictureSlots lets two pictures be made at a time: each may take most of a gigabyte.
var pictureSlots = make(chan struct{}, 2)

// Drawn reports whether pictures can be made of a type of file.
func (s *Store) Drawn(mediaType string) bool { return s.Pictures.CanDraw(mediaType) }

// pageCounts keeps how many pages documents have, whose content never changes: to count
// them, the file is fetched.
type pageCounts struct {
	mu    sync.Mutex
	pages map[uuid.UUID]int
}

// maxPageCounts is how many counts are kept. Reviewers look at few documents at a time.
const maxPageCounts = 1000

func (c *pageCounts) of(document uuid.UUID) (pages int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pages, ok = c.pages[document]
	return pages, ok
}

func (c *pageCounts) keep(document uuid.UUID, pages int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages == nil || len(c.pages) == maxPageCounts {
		c.pages = make(map[uuid.UUID]int)
	}
	c.pages[document] = pages
}

// Pages returns how many pages of a document can be drawn; 0 if it can't be read.
func (s *Store) Pages(ctx context.Context, d *Document) (int, error) {
	if !d.State.Open() || !s.Drawn(d.MediaType) {
		return 0, nil
	}
	if pages, ok := s.counted.of(d.ID); ok {
		return pages, nil
	}
	f, err := s.fetch(ctx, d)
	if errors.Is(err, ErrDamaged) {
		return 0, nil // whoever opens it is told
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	n := 0
	err = inSlot(ctx, func() error {
		n, err = s.Pictures.Pages(ctx, f, d.MediaType)
		return err
	})
	if errors.Is(err, pageimage.ErrFailed) {
		return 0, nil
	}
	if err == nil {
		s.counted.keep(d.ID, n)
	}
	return n, err
}

// Picture returns a JPEG of one page of a document, made from its pixels alone, so that it
// contains nothing else of the file. It is audited as an access to the content.
func (s *Store) Picture(ctx context.Context, id uuid.UUID, page int, by audit.Actor, request uuid.UUID) (picture []byte, err error) {
	d, err := s.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if !s.Drawn(d.MediaType) {
		return nil, errNoPicture
	}
	content, err := s.open(ctx, &d, by, request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // nothing was written
	err = inSlot(ctx, func() error {
		picture, err = s.Pictures.Draw(ctx, content, d.MediaType, page)
		return err
	})
	return picture, pictureError(err)
}

// pictureError returns why there is no picture in words for the reader.
func pictureError(err error) error {
	switch {
	case errors.Is(err, pageimage.ErrNone):
		return errNoPicture
	case errors.Is(err, pageimage.ErrTooLarge):
		return errTooLarge
	case errors.Is(err, pageimage.ErrFailed), errors.Is(err, pageimage.ErrTooMuchWork), errors.Is(err, pageimage.ErrTooManyPages), errors.Is(err, pageimage.ErrEncrypted):
		return errPicture.Because(err)
	}
	return err
}

func inSlot(ctx context.Context, work func() error) error {
	select {
	case pictureSlots <- struct{}{}:
		defer func() { <-pictureSlots }()
		return work()
	case <-ctx.Done():
		return fmt.Errorf("document: wait to make a picture: %w", ctx.Err())
	}
}
