package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/supply"
)

const importsPath = "/api/v1/lines/imports"

var (
	errFileType = fault.New(fault.UnsupportedMediaType,
		"Send the file itself as text/csv in UTF-8, application/gzip, application/zstd or application/octet-stream, and say so in the Content-Type header.")
	errFileEncoding = fault.New(fault.UnsupportedMediaType,
		"Send the file without Content-Encoding. A file may be compressed with gzip or zstd as it is; that is found out by its content.")
	errFileTooLarge = fault.New(fault.PayloadTooLarge,
		"The file is larger than the service takes. Compress it with gzip or zstd, or ask the operator of the service for a higher limit.")

	errNewKey = errors.New("a key that was not used before")
)

// receiveImport serves POST /api/v1/lines/imports. The body is the file itself:
// it goes to the disk as it comes, and is read by whoever works imports off.
func (a *API) receiveImport(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := checkFile(r, a.ImportMaxBytes); err != nil {
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
	sent := &arriving{from: http.MaxBytesReader(w, r.Body, a.ImportMaxBytes), sum: sha256.New()}
	ticket := idempotency.Ticket{Caller: who.Caller(), Operation: "lines-import", Key: key}
	used, err := a.keyUsed(ctx, ticket)
	if err != nil {
		return err
	}
	take := a.importOnce
	if used {
		take = a.importAgain
	}
	body, replayed, err := take(ctx, ticket, form, sent)
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
	if json.Unmarshal(body, &answer) == nil { // it is our own
		w.Header().Set("Location", importsPath+"/"+answer.Data.ImportID)
	}
	send(w, r, http.StatusAccepted, body)
	return nil
}

// keyUsed reports whether an import was made with the ticket's key before. A
// national file takes minutes to arrive, and no transaction may stay open for so
// long; so the key is looked up first and the answer is kept afterwards.
func (a *API) keyUsed(ctx context.Context, t idempotency.Ticket) (bool, error) {
	if t.Key == "" {
		return false, nil
	}
	_, _, err := a.Answers.Do(ctx, t, func(pg.Tx) ([]byte, error) { return nil, errNewKey })
	switch {
	case errors.Is(err, errNewKey):
		return false, nil
	case errors.Is(err, idempotency.ErrOtherBody):
		return true, nil // no file has the empty content of this ticket
	}
	return true, err
}

// importAgain answers with the first answer, if the file is the same.
func (a *API) importAgain(ctx context.Context, t idempotency.Ticket, f supply.ImportForm, sent *arriving) (body []byte, replayed bool, err error) {
	if _, err := io.Copy(io.Discard, sent); err != nil {
		return nil, false, bodyError(err, errFileTooLarge, errCutOff)
	}
	t.Body = importBody(f, sent)
	return a.Answers.Do(ctx, t, func(pg.Tx) ([]byte, error) { return nil, idempotency.ErrInFlight }) // its day has just ended
}

// importOnce takes the file in. Of two requests with one key that arrive side by
// side, one makes the import and the other finds it open.
func (a *API) importOnce(ctx context.Context, t idempotency.Ticket, f supply.ImportForm, sent *arriving) (body []byte, replayed bool, err error) {
	speaker := speakerOf(principal(ctx))
	plan, err := a.plan(ctx)
	if err != nil {
		return nil, false, err
	}
	if err := a.importOpen(ctx, plan, speaker.Network); err != nil {
		return nil, false, err // before the file is sent, as far as the caller waits for that
	}
	im, err := a.Lines.Receive(ctx, speaker, f, sent)
	switch {
	case sent.err != nil:
		return nil, false, bodyError(sent.err, errFileTooLarge, errCutOff)
	case err != nil && t.Key == "":
		return nil, false, err
	case err != nil:
		t.Body = importBody(f, sent)
		return a.Answers.Do(ctx, t, func(pg.Tx) ([]byte, error) { return nil, err })
	}
	add(ctx, slog.String("import", im.ID.String()))
	if body, err = json.Marshal(accepted(importOf(im, plan.Code(im.Network)))); err != nil || t.Key == "" {
		return body, false, err
	}
	t.Body = importBody(f, sent)
	if err := a.keep(ctx, t, body); err != nil {
		// The import is there, whatever became of the note about its key. Sent
		// again, the file would be refused as open or old, or bring known events.
		add(ctx, slog.String("answer_not_kept", err.Error()))
	}
	return body, false, nil
}

// keep notes the answer under its key. Another request with the key, which only
// asks whether it was used, can be in the way for a moment.
func (a *API) keep(ctx context.Context, t idempotency.Ticket, body []byte) (err error) {
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

// importBody is what two requests must have in common to be one.
func importBody(f supply.ImportForm, sent *arriving) []byte {
	return fmt.Appendf(nil, "%s\x00%d\x00%t\x00%x", f.Kind, f.AsOf.Unix(), f.DryRun, sent.sum.Sum(nil))
}

// checkFile refuses what can be refused before a byte of the file is read.
func checkFile(r *http.Request, limit int64) error {
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
	for _, encoding := range r.Header.Values("Content-Encoding") {
		if !strings.EqualFold(encoding, "identity") {
			return errFileEncoding
		}
	}
	if r.ContentLength > limit {
		return errFileTooLarge
	}
	return nil
}

// readImportForm reads what the address says about the file, as strictly as a
// body is read.
func readImportForm(query string) (f supply.ImportForm, wrong *fault.Form, err error) {
	values, wrong, err := readQuery(query, "kind", "asOf", "dryRun")
	if err != nil {
		return f, wrong, err
	}
	f.Kind = linefile.Kind(values.Get("kind"))
	wrong.Check(values.Has("kind"), "kind", fault.Required, "Say what the file is: snapshot or events.")
	wrong.Check(!values.Has("kind") || f.Kind == linefile.Snapshot || f.Kind == linefile.Events, "kind", fault.NotAllowed, "Give snapshot or events.")
	wrong.Check(f.Kind != linefile.Snapshot || values.Has("asOf"), "asOf", fault.Required, "A snapshot needs the time of which it speaks.")
	if values.Has("asOf") {
		var ok bool
		f.AsOf, ok = parseMoment(values.Get("asOf"))
		wrong.Check(ok, "asOf", fault.BadFormat, "Write a date or a time with its offset, for example 2026-01-31 or 2026-01-31T08:00:00Z.")
	}
	dry := values.Get("dryRun")
	f.DryRun = dry == "true"
	wrong.Check(!values.Has("dryRun") || dry == "true" || dry == "false", "dryRun", fault.NotAllowed, "Give true or false.")
	return f, wrong, nil
}

// arriving is a body on its way in. It remembers why it stopped, so that a
// caller's broken line is told from trouble of our own.
type arriving struct {
	from io.Reader
	sum  hash.Hash
	err  error
}

func (s *arriving) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.sum.Write(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
