package httpapi

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	errNotMultipart = fault.New(fault.UnsupportedMediaType, "Send the document as multipart/form-data with the parts \"type\" and \"file\".")
	errMultipart    = fault.New(fault.InvalidArgument, "The body is not valid multipart/form-data. Send the complete form again.")
)

const (
	maxPart           = 1 << 10  // bytes of a part that is not the file
	maxParts          = 16       // a complete form has three
	multipartOverhead = 64 << 10 // bytes for the headers and boundaries of the parts
)

// uploadParts are the parts of an upload.
var uploadParts = []string{"type", "entityUid", "file"}

// documentForm holds the parts of an upload, which may come in any order.
type documentForm struct {
	documentType, entity string
	file                 *document.File
	wrong                fault.Form
}

// uploadDocument serves POST /api/regulator/v1/upload-document.
func (a *API) uploadDocument(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	parts, err := r.MultipartReader()
	if err != nil {
		return errNotMultipart
	}
	var f documentForm
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
	// The idempotency key covers what was sent, not what it led to: a repeated
	// upload is the same even if the client has onboarded another entity since.
	ticket := idempotency.Ticket{
		Caller: who.Caller(), Operation: "upload-document", Key: key,
		Body: fmt.Appendf(nil, "%s\x00%s\x00%s\x00%x", f.entity, f.documentType, f.file.Name, f.file.SHA256),
	}
	err = a.once(w, r, ticket, func(tx pg.Tx) (any, error) {
		entity, err := entityOf(ctx, tx, named)
		if err != nil {
			return nil, err
		}
		upload := document.Upload{Entity: entity, Label: f.documentType, Actor: who.Actor(), Request: requestID(ctx)}
		if err := a.Documents.Record(ctx, tx, *f.file, upload); err != nil {
			return nil, err
		}
		recorded = true
		return f.file.ID.String(), nil
	}, func(body []byte) {
		var answer struct {
			Data string `json:"data"`
		}
		if json.Unmarshal(body, &answer) == nil { // always: the service wrote it
			w.Header().Set("Location", documentsPath+"/"+answer.Data)
		}
	})
	if err != nil {
		recorded = errors.Is(err, pg.ErrUnknown) // the record may exist, so its file must stay
	}
	return err
}

// readParts reads every part, so that all violations are reported at once.
func (a *API) readParts(ctx context.Context, parts *multipart.Reader, f *documentForm) error {
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
		repeated := seen[name]
		seen[name] = true
		switch {
		case repeated:
			f.wrong.Once(printableName(name), fault.Repeated, "Repeated part. Send it once.")
		case name == "type":
			err = f.text(part, name, &f.documentType)
		case name == "entityUid":
			err = f.text(part, name, &f.entity)
		case name == "file":
			err = a.receiveFile(ctx, part, f)
		default:
			f.wrong.Once(printableName(name), fault.Unknown, "Unknown part."+fault.DidYouMean(name, uploadParts))
		}
		if err != nil {
			return err
		}
	}
	return errMultipart
}

func (f *documentForm) text(part *multipart.Part, name string, into *string) error {
	b, err := io.ReadAll(io.LimitReader(part, maxPart+1))
	if err != nil {
		return partError(err)
	}
	f.wrong.Check(len(b) <= maxPart, name, fault.TooLong, "The part is too long.")
	if len(b) > maxPart {
		return nil
	}
	f.wrong.Check(utf8.Valid(b), name, fault.BadFormat, "Must be UTF-8.")
	*into = string(b)
	return nil
}

func (a *API) receiveFile(ctx context.Context, part *multipart.Part, f *documentForm) error {
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

// partError returns the client error for a part that could not be read. A fault
// of the document store is returned as it is.
func partError(err error) error { return bodyError(err, errMultipart) }

// checkUpload checks the whole form and returns the entity that it names, if any.
func (a *API) checkUpload(ctx context.Context, f *documentForm) (named uuid.UUID, err error) {
	who := principal(ctx)
	if who.Kind == access.Session && who.Entity == uuid.Nil {
		return uuid.Nil, access.ErrPermission // the regulator's staff have no documents of their own
	}
	a.Documents.CheckType(&f.wrong, f.documentType)
	missing := f.file == nil && !hasViolation(&f.wrong, "file")
	f.wrong.Check(!missing, "file", fault.Required, "Send the document in a part named \"file\".")
	if f.entity != "" {
		named, err = uuid.Parse(f.entity)
		f.wrong.Check(err == nil && len(f.entity) == 36, "entityUid", fault.BadFormat, "Must be the entityUid that onboarding returned.")
	}
	if len(f.wrong.Violations()) == 0 {
		return named, nil
	}
	// The request fails anyway; report a wrong entity together with the rest.
	_, err = entityOf(ctx, a.Documents.Pool, named)
	return uuid.Nil, mergeViolations(f.wrong.Violations(), err)
}

// entityOf returns the entity that the caller uploads for: its own, or, for a
// client, the one that registry.EntityFor finds.
func entityOf(ctx context.Context, from pg.DB, named uuid.UUID) (uuid.UUID, error) {
	who := principal(ctx)
	if who.Kind == access.Client {
		return registry.EntityFor(ctx, from, registry.Onboarder{Client: who.Client, Token: who.ID}, named)
	}
	if named != uuid.Nil && named != who.Entity {
		return uuid.Nil, registry.ErrNoEntity
	}
	return who.Entity, nil
}

func hasViolation(f *fault.Form, name string) bool {
	for _, v := range f.Violations() {
		if v.Field == name {
			return true
		}
	}
	return false
}

// discard removes a file that has no record. If that fails, nobody can see the
// file, and its error is logged.
func (a *API) discard(ctx context.Context, f document.File) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := a.Documents.Discard(ctx, f); err != nil {
		add(ctx, slog.String("discard_error", err.Error()))
	}
}
