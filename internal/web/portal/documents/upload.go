package documents

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	maxParts     = 8       // the form has two
	maxTypeBytes = 1 << 10 // far longer than any type
)

// uploadDocument serves POST /portal/documents.
func (p *Pages) uploadDocument(w http.ResponseWriter, r *http.Request) error {
	ctx, v, body := r.Context(), portal.VisitOf(r), r.Body
	r.Body = http.MaxBytesReader(w, body, p.Documents.MaxBytes+portal.MultipartOverhead)
	kind, file, err := p.readUpload(r)
	if err == nil {
		err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
			return p.Documents.Record(ctx, tx, *file, document.Upload{Entity: v.Who.Entity, Label: kind, Actor: v.Who.Actor(), Request: v.ID})
		})
	}
	if err != nil && file != nil && !errors.Is(err, pg.ErrUnknown) { // the record may have been stored, so the file has to stay
		p.discard(r, *file)
	}
	if err != nil {
		portal.Drain(body)
	}
	return p.EndForm(w, r, err, func(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
		return p.documents(r, form.With("type", kind))
	}, documentsPath, "document.sent")
}

// readUpload reads the whole upload before it reports what is wrong. The file is
// nil if none was received.
func (p *Pages) readUpload(r *http.Request) (kind string, file *document.File, err error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return "", nil, portal.ErrIncompleteUpload.Because(err)
	}
	var wrong fault.Form
	for range maxParts {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.readPart(r.Context(), part, &kind, &file, &wrong)
		}
		if err != nil {
			return kind, file, portal.UploadError(err, document.ErrTooLarge)
		}
	}
	p.Documents.CheckType(&wrong, kind)
	wrong.Check(file != nil || len(wrong.Violations()) > 0, "file", fault.Required, "Choose the file of the document.")
	return kind, file, wrong.Err()
}

func (p *Pages) readPart(ctx context.Context, part *multipart.Part, kind *string, file **document.File, wrong *fault.Form) error {
	switch {
	case part.FormName() == "type":
		text, err := io.ReadAll(io.LimitReader(part, maxTypeBytes))
		*kind = string(text)
		return err
	case part.FormName() == "file" && *file == nil:
		f, err := p.Documents.Receive(ctx, part.FileName(), part)
		if errors.Is(err, document.ErrEmpty) { // browsers send a file field without a file like this
			wrong.Check(false, "file", fault.Required, "Choose the file of the document. It must not be empty.")
			return nil
		}
		if err == nil {
			*file = &f
		}
		return err
	}
	return nil
}

// discard deletes a file without a record. If that fails, the file stays, and
// nobody can open it.
func (p *Pages) discard(r *http.Request, f document.File) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second)
	defer cancel()
	if err := p.Documents.Discard(ctx, f); err != nil {
		portal.VisitOf(r).Add(slog.String("discard_error", err.Error()))
	}
}

// sendDocument serves GET /portal/documents/{document}/content: the file itself, to
// save and never to open in the browser.
func (p *Pages) sendDocument(w http.ResponseWriter, r *http.Request) error {
	d, err := p.ownDocument(r)
	if err != nil {
		return err
	}
	return SendDocument(w, r, p.Documents, &d)
}
