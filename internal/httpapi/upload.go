package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
)

var (
	errNotMultipart = fault.New(fault.UnsupportedMediaType, "Send the document as multipart/form-data with the parts type and file.")
	errMultipart    = fault.New(fault.InvalidArgument, "The body is not well-formed multipart/form-data. Send it again whole.")
)

const (
	maxPart  = 1 << 10  // of a part that is not the file
	maxParts = 16       // a form has three
	overhead = 64 << 10 // for the parts' headers and boundaries
)

// uploadForm is what a request brings, whatever the order of its parts.
type uploadForm struct {
	kind, entity string
	file         *document.File
	wrong        fault.Form
}

// uploadDocument serves POST /api/regulator/v1/upload-document.
func (a *API) uploadDocument(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	r.Body = http.MaxBytesReader(w, r.Body, a.Documents.MaxBytes+overhead)
	parts, err := r.MultipartReader()
	if err != nil {
		return errNotMultipart
	}
	var f uploadForm
	recorded := false
	defer func() {
		if f.file != nil && !recorded {
			a.discard(ctx, *f.file)
		}
	}()
	if err := a.readParts(ctx, parts, &f); err != nil {
		return err
	}
	key, keyErr := idempotencyKey(r)
	f.wrong.Add(keyErr...)
	named, err := a.checkUpload(ctx, &f)
	if err != nil {
		return err
	}
	who := principal(ctx)
	// What was sent is compared, not what it led to: the same upload is the same
	// upload even if the client has onboarded another entity since.
	ticket := idempotency.Ticket{
		Caller: who.Caller(), Operation: "upload-document", Key: key,
		Body: fmt.Appendf(nil, "%s\x00%s\x00%s\x00%x", f.entity, f.kind, f.file.Name, f.file.SHA256),
	}
	err = a.once(w, r, ticket, func(tx pg.Tx) (any, error) {
		entity, err := entityOf(ctx, tx, named)
		if err != nil {
			return nil, err
		}
		upload := document.Upload{Entity: entity, Label: f.kind, Actor: who.Actor(), Request: requestID(ctx)}
		if err := a.Documents.Record(ctx, tx, *f.file, upload); err != nil {
			return nil, err
		}
		recorded = true
		return f.file.ID.String(), nil
	}, func(body []byte) {
		var answer struct {
			Data string `json:"data"`
		}
		if json.Unmarshal(body, &answer) == nil { // it is our own
			w.Header().Set("Location", documentsPath+"/"+answer.Data)
		}
	})
	if err != nil {
		recorded = errors.Is(err, pg.ErrUnknown) // the record may be there, so the file must be
	}
	return err
}

// readParts reads every part, so that all complaints are made at once.
func (a *API) readParts(ctx context.Context, parts *multipart.Reader, f *uploadForm) error {
	seen := make(map[string]bool)
	for range maxParts {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return partError(err)
		}
		name := part.FormName()
		again := seen[name]
		seen[name] = true
		switch {
		case again:
			f.wrong.Once(showable(name), fault.Repeated, "The part stands more than once. Send it once.")
		case name == "type":
			err = f.text(part, name, &f.kind)
		case name == "entityUid":
			err = f.text(part, name, &f.entity)
		case name == "file":
			err = a.receive(ctx, part, f)
		default:
			f.wrong.Once(showable(name), fault.Unknown, "The operation has no such part. Leave it out, or correct its spelling.")
		}
		if err != nil {
			return err
		}
	}
	return errMultipart
}

func (f *uploadForm) text(part *multipart.Part, name string, into *string) error {
	b, err := io.ReadAll(io.LimitReader(part, maxPart+1))
	if err != nil {
		return partError(err)
	}
	f.wrong.Check(len(b) <= maxPart, name, fault.TooLong, "The part is far longer than any value it can have.")
	if len(b) > maxPart {
		return nil
	}
	f.wrong.Check(utf8.Valid(b), name, fault.BadFormat, "Use UTF-8.")
	*into = string(b)
	return nil
}

func (a *API) receive(ctx context.Context, part *multipart.Part, f *uploadForm) error {
	file, err := a.Documents.Receive(ctx, part.FileName(), part)
	switch {
	case errors.Is(err, document.ErrEmpty):
		f.wrong.Add(document.ErrEmpty.Violations...)
		return nil
	case err != nil:
		return partError(err)
	}
	f.file = &file
	return nil
}

// partError tells a body that does not arrive from trouble of our own.
func partError(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return bodyError(err, document.ErrTooLarge, errMultipart)
}

// checkUpload judges the form as a whole and returns the entity that it names,
// if any.
func (a *API) checkUpload(ctx context.Context, f *uploadForm) (named uuid.UUID, err error) {
	who := principal(ctx)
	if who.Kind == access.Session && who.Entity == uuid.Nil {
		return uuid.Nil, access.ErrPermission // staff of the regulator have no papers of their own
	}
	a.Documents.CheckType(&f.wrong, f.kind)
	missing := f.file == nil && !hasComplaint(&f.wrong, "file")
	f.wrong.Check(!missing, "file", fault.Required, "Send the document in a part named file.")
	if f.entity != "" {
		named, err = uuid.Parse(f.entity)
		f.wrong.Check(err == nil && len(f.entity) == 36, "entityUid", fault.BadFormat, "Give the entityUid that onboarding returned.")
	}
	if len(f.wrong.Violations()) == 0 {
		return named, nil
	}
	// Something is wrong anyway: say in the same breath if the entity is, too.
	_, err = entityOf(ctx, a.Documents.Pool, named)
	return uuid.Nil, merge(f.wrong.Violations(), err)
}

// entityOf returns the entity for which the caller uploads: its own, or, for a
// client, the one that it means.
func entityOf(ctx context.Context, from pg.DB, named uuid.UUID) (uuid.UUID, error) {
	who := principal(ctx)
	if who.Kind == access.Client {
		return registry.EntityFor(ctx, from, registry.Sponsor{Client: who.Client, Token: who.ID}, named)
	}
	if named != uuid.Nil && named != who.Entity {
		return uuid.Nil, registry.ErrNoEntity
	}
	return who.Entity, nil
}

func hasComplaint(f *fault.Form, name string) bool {
	for _, v := range f.Violations() {
		if v.Field == name {
			return true
		}
	}
	return false
}

// discard removes a file without a record. If it cannot, the file stays unseen.
func (a *API) discard(ctx context.Context, f document.File) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := a.Documents.Discard(ctx, f); err != nil {
		add(ctx, slog.String("discard_error", err.Error()))
	}
}
