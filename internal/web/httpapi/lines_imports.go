package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/json/v2"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

const importsPath = "/api/v1/lines/imports"

var (
	errFileType = fault.New(fault.UnsupportedMediaType,
		"Send the file as text/csv in UTF-8, application/gzip, application/zstd or application/octet-stream, and set the Content-Type header.")
	errFileTooLarge = fault.New(fault.PayloadTooLarge,
		"The file is too large. Compress it with gzip or zstd, or ask the operator of the service for a higher limit.")

	errUnusedKey = errors.New("the idempotency key was not used before")
)

// receiveImport serves POST /api/v1/lines/imports. The body is the file itself: it
// is stored while it arrives, and a background job imports it.
func (a *API) receiveImport(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := checkFile(r); err != nil {
		return err
	}
	form, wrong, err := readImportForm(r.URL.RawQuery)
	if err != nil {
		return err
	}
	key, keyErr := idempotencyKey(r)
	wrong.Add(keyErr...)
	if err := wrong.Err(); err != nil {
		return err
	}
	who := principal(ctx)
	sent := newUpload(r.Body)
	ticket := idempotency.Ticket{Caller: who.Caller(), Operation: "lines-import", Key: key}
	used, err := a.keyUsed(ctx, ticket)
	if err != nil {
		return err
	}
	run := a.createImport
	if used {
		run = a.replayImport
	}
	body, replayed, err := run(ctx, ticket, form, sent)
	if err != nil {
		return err
	}
	if replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	var answer struct {
		Data struct {
			ImportID string `json:"importId"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &answer) == nil { // always: the service wrote it
		w.Header().Set("Location", importsPath+"/"+answer.Data.ImportID)
	}
	send(w, r, http.StatusAccepted, body)
	return nil
}

// keyUsed reports whether an import was created with the ticket's key before. A
// national file takes minutes to arrive, and no transaction may stay open that
// long; so the key is looked up first, and the response is stored afterwards.
func (a *API) keyUsed(ctx context.Context, t idempotency.Ticket) (bool, error) {
	if t.Key == "" {
		return false, nil
	}
	_, _, err := a.Answers.Do(ctx, t, func(pg.Tx) ([]byte, error) { return nil, errUnusedKey })
	switch {
	case errors.Is(err, errUnusedKey):
		return false, nil
	case errors.Is(err, idempotency.ErrOtherBody):
		return true, nil // the ticket has no body yet, so every stored body differs
	}
	return true, err
}

// replayImport returns the stored response, if the file is the same.
func (a *API) replayImport(ctx context.Context, t idempotency.Ticket, f supply.ImportForm, sent *upload) (body []byte, replayed bool, err error) {
	if _, err := io.Copy(io.Discard, sent); err != nil {
		return nil, false, bodyError(err, errCutOff)
	}
	t.Body = importBody(f, sent)
	return a.Answers.Do(ctx, t, func(pg.Tx) ([]byte, error) { return nil, idempotency.ErrInFlight }) // the stored response has just expired
}

// createImport stores the file. Of two concurrent requests with one key, one
// creates the import and the other is refused because an import is open.
func (a *API) createImport(ctx context.Context, t idempotency.Ticket, f supply.ImportForm, sent *upload) (body []byte, replayed bool, err error) {
	supplier := supplierOf(principal(ctx))
	plan, err := a.plan(ctx)
	if err != nil {
		return nil, false, err
	}
	if err := a.Lines.CheckImport(ctx, supplier, f); err != nil {
		return nil, false, err // before the file is sent, if the client waits for 100 Continue
	}
	im, err := a.Lines.Receive(ctx, supplier, f, sent)
	switch {
	case sent.Err != nil:
		return nil, false, bodyError(sent.Err, errCutOff)
	case err != nil && t.Key == "":
		return nil, false, err
	case err != nil:
		t.Body = importBody(f, sent)
		return a.Answers.Do(ctx, t, func(pg.Tx) ([]byte, error) { return nil, err })
	}
	add(ctx, slog.String("import", im.ID.String()))
	if body, err = json.Marshal(accepted(importOf(im, plan))); err != nil || t.Key == "" {
		return body, false, err
	}
	t.Body = importBody(f, sent)
	if err := a.storeResponse(ctx, t, body); err != nil {
		// The import exists even though its response is not stored. If the file is
		// sent again, it is refused because an import is open or the snapshot is
		// old, or its events are duplicates.
		add(ctx, slog.String("answer_not_kept", err.Error()))
	}
	return body, false, nil
}

// storeResponse stores the response under its key. It retries while another
// request with the same key looks it up.
func (a *API) storeResponse(ctx context.Context, t idempotency.Ticket, body []byte) (err error) {
	for range 100 {
		_, _, err = a.Answers.Do(ctx, t, func(pg.Tx) ([]byte, error) { return body, nil })
		if !errors.Is(err, idempotency.ErrInFlight) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
	return err
}

// importBody is what makes two requests the same for the idempotency key.
func importBody(f supply.ImportForm, sent *upload) []byte {
	return fmt.Appendf(nil, "%s\x00%d%s\x00%t\x00%x", f.Kind, f.AsOf.Unix(), f.Day, f.DryRun, sent.sum.Sum(nil))
}

// checkFile refuses what can be refused before a byte of the file is read.
func checkFile(r *http.Request) error {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return errFileType
	}
	switch kind {
	case "text/csv":
		if charset, named := params["charset"]; named && !strings.EqualFold(charset, "utf-8") {
			return errFileType
		}
	case "application/gzip", "application/zstd", "application/octet-stream":
	default:
		return errFileType
	}
	return nil
}

// readImportForm reads the query parameters, as strictly as a body is read.
func readImportForm(query string) (f supply.ImportForm, wrong *fault.Form, err error) {
	values, wrong, err := readQuery(query, "kind", "asOf", "dryRun")
	if err != nil {
		return f, wrong, err
	}
	f.Kind = linefile.Kind(values.Get("kind"))
	wrong.Check(values.Has("kind"), "kind", fault.Required, "Must be snapshot or events.")
	wrong.Check(!values.Has("kind") || f.Kind == linefile.Snapshot || f.Kind == linefile.Events, "kind", fault.NotAllowed, "Must be snapshot or events.")
	wrong.Check(f.Kind != linefile.Snapshot || values.Has("asOf"), "asOf", fault.Required, "A snapshot needs asOf, the time at which its data was correct.")
	if values.Has("asOf") {
		var ok bool
		if _, ok = web.ParseDate(values.Get("asOf")); ok {
			f.Day = values.Get("asOf")
		} else {
			f.AsOf, ok = web.ParseTime(values.Get("asOf"))
		}
		wrong.Check(ok, "asOf", fault.BadFormat, timeHint)
	}
	dryRun := values.Get("dryRun")
	f.DryRun = dryRun == "true"
	wrong.Check(!values.Has("dryRun") || dryRun == "true" || dryRun == "false", "dryRun", fault.NotAllowed, "Must be true or false.")
	return f, wrong, nil
}

// upload is the body of an import. Its hash tells whether two requests sent the
// same file.
type upload struct {
	web.BodyReader

	sum hash.Hash
}

func newUpload(body io.Reader) *upload {
	sum := sha256.New()
	return &upload{BodyReader: web.BodyReader{Reader: io.TeeReader(body, sum)}, sum: sum}
}
