package portal

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/portal/view"
)

const (
	paperParts    = 8        // a form has two
	paperOverhead = 64 << 10 // for the parts' headers and boundaries
	paperLabel    = 1 << 10  // far longer than any type
	// mostHeard is how much of an upload that is refused is read all the same:
	// most browsers listen only when they have sent everything.
	mostHeard = 64 << 20
)

var errParts = fault.New(fault.InvalidArgument, "The upload did not come through whole. Try again.")

// uploadPaper serves POST /portal/documents.
func (p *Portal) uploadPaper(w http.ResponseWriter, r *http.Request) error {
	ctx, v, body := r.Context(), visitOf(r), r.Body
	r.Body = http.MaxBytesReader(w, body, p.Documents.MaxBytes+paperOverhead)
	kind, file, err := p.readPaper(r)
	if err == nil {
		err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
			return p.Documents.Record(ctx, tx, *file, document.Upload{Entity: v.who.Entity, Label: kind, Actor: v.who.Actor(), Request: v.id})
		})
	}
	if err != nil && file != nil && !errors.Is(err, pg.ErrUnknown) { // the record may be there, so the file must be
		p.discard(r, *file)
	}
	if err != nil {
		_, _ = io.CopyN(io.Discard, body, mostHeard) // so that the answer is heard
	}
	if form, wrong := formOf(r, err); wrong {
		d, failed := p.papers(r, form.With("type", kind))
		if failed != nil {
			return failed
		}
		return p.showAgain(w, r, err, papersPage, view.Papers(d))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, papersPath, "document.sent")
}

// readPaper reads an upload and judges it as a whole. The file is nil if there
// is none that was received.
func (p *Portal) readPaper(r *http.Request) (kind string, file *document.File, err error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return "", nil, errParts.Because(err)
	}
	var wrong fault.Form
	for range paperParts {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.readPart(r.Context(), part, &kind, &file, &wrong)
		}
		if err != nil {
			return kind, file, partError(err, document.ErrTooLarge)
		}
	}
	p.Documents.CheckType(&wrong, kind)
	wrong.Check(file != nil || len(wrong.Violations()) > 0, "file", fault.Required, "Choose the file of the document.")
	return kind, file, wrong.Err()
}

func (p *Portal) readPart(ctx context.Context, part *multipart.Part, kind *string, file **document.File, wrong *fault.Form) error {
	switch {
	case part.FormName() == "type":
		text, err := io.ReadAll(io.LimitReader(part, paperLabel))
		*kind = string(text)
		return err
	case part.FormName() == "file" && *file == nil:
		f, err := p.Documents.Receive(ctx, part.FileName(), part)
		if errors.Is(err, document.ErrEmpty) { // as browsers send a field without a file
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

// partError tells a body that is too large or does not arrive from trouble of
// our own.
func partError(err error, tooLarge *fault.Error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge.Because(err)
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return errParts.Because(err)
}

// discard removes a file without a record. If it cannot, the file stays unseen.
func (p *Portal) discard(r *http.Request, f document.File) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second)
	defer cancel()
	if err := p.Documents.Discard(ctx, f); err != nil {
		add(r, slog.String("discard_error", err.Error()))
	}
}

// sendPaper serves GET /portal/documents/{document}/content: the file itself, as
// something to keep and never as something to run.
func (p *Portal) sendPaper(w http.ResponseWriter, r *http.Request) error {
	d, err := p.ownPaper(r)
	if err != nil {
		return err
	}
	return p.sendContent(w, r, &d)
}

// sendContent sends the content of a document that the visitor may see. Its name
// is ours: what an uploader called it could make a program of it on the reader's
// desk.
func (p *Portal) sendContent(w http.ResponseWriter, r *http.Request, d *document.Document) error {
	v := visitOf(r)
	found, content, err := p.Documents.Content(r.Context(), d.ID, v.who.Actor(), v.id)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // nothing was written
	h := w.Header()
	h.Set("Content-Length", strconv.FormatInt(found.Size, 10))
	h.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(found.SHA256[:])+":")
	beginFile(w, "application/octet-stream", "document-"+found.ID.String()+extensions[found.MediaType])
	if _, err := io.Copy(w, content); err != nil {
		breakOff(w, r, err)
	}
	return nil
}

// breakOff ends an answer that cannot be finished so that it does not look whole.
func breakOff(w http.ResponseWriter, r *http.Request, err error) {
	add(r, slog.String("error", err.Error()))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now()) // not every writer can
}

// extensions are those by which people's machines know the kinds of file.
var extensions = map[string]string{
	"application/pdf": ".pdf", "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/tiff": ".tif",
}
