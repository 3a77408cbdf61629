package portal

import (
	"bufio"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/supply"
)

const (
	linesParts = 8       // a form has four
	linesField = 1 << 10 // far longer than any of its fields
)

var errLinesTooLarge = fault.New(fault.PayloadTooLarge, "The file is larger than the service takes. Compress it with gzip or zstd.")

func noFile() error {
	var wrong fault.Form
	wrong.Check(false, "file", fault.Required, "Choose the file.")
	return wrong.Err()
}

// uploadLines serves POST /portal/supply/imports. The file goes to the disk as it
// comes: a nation's is far larger than memory.
func (p *Portal) uploadLines(w http.ResponseWriter, r *http.Request) error {
	body := r.Body
	r.Body = http.MaxBytesReader(w, body, p.ImportMaxBytes+paperOverhead)
	im, typed, err := p.readLines(r)
	if err == nil {
		return p.goOn(w, r, importHref(importsPath, im.ID), "import.sent")
	}
	_, _ = io.CopyN(io.Discard, body, mostHeard) // so that the answer is heard
	form, wrong := formOf(r, err)
	if !wrong {
		return err
	}
	form.Values = typed
	d, failed := p.supply(r, form)
	if failed != nil {
		return failed
	}
	return p.showAgain(w, r, err, supplyPage, view.Supply(d))
}

// readLines reads an upload: the fields, which browsers send first because they
// come first on the page, and then the file. What is wrong with the fields is
// found before a byte of the file is read.
func (p *Portal) readLines(r *http.Request) (im supply.Import, typed url.Values, err error) {
	typed = url.Values{}
	parts, err := r.MultipartReader()
	if err != nil {
		return im, typed, errParts.Because(err)
	}
	for range linesParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return im, typed, partError(err, errLinesTooLarge)
		}
		if part.FormName() == "file" {
			im, err = p.receiveLines(r, typed, part)
			return im, typed, err
		}
		text, err := io.ReadAll(io.LimitReader(part, linesField))
		if err != nil {
			return im, typed, partError(err, errLinesTooLarge)
		}
		typed.Set(part.FormName(), string(text))
	}
	return im, typed, noFile()
}

// receiveLines takes the file in.
func (p *Portal) receiveLines(r *http.Request, typed url.Values, part *multipart.Part) (supply.Import, error) {
	form, err := linesForm(typed)
	if err != nil {
		return supply.Import{}, err
	}
	if part.FileName() == "" { // as browsers send a field without a file
		return supply.Import{}, noFile()
	}
	rules, err := p.lineRules(r)
	if err != nil {
		return supply.Import{}, err
	}
	code, _, err := p.ownNetwork(r, rules.plan)
	if err != nil {
		return supply.Import{}, err
	}
	who := speaker(visitOf(r), code)
	if err := p.Lines.Ready(r.Context(), who, form); err != nil {
		return supply.Import{}, err
	}
	sent := &arriving{from: part}
	im, err := p.Lines.Receive(r.Context(), who, form, sent)
	if sent.err != nil {
		return supply.Import{}, partError(sent.err, errLinesTooLarge)
	}
	return im, err
}

// linesForm reads what the fields say of the file.
func linesForm(typed url.Values) (f supply.ImportForm, err error) {
	f.Kind, f.DryRun = linefile.Kind(typed.Get("kind")), typed.Get("dryRun") == "yes"
	var wrong fault.Form
	wrong.Check(f.Kind == linefile.Snapshot || f.Kind == linefile.Events, "kind", fault.NotAllowed, "Choose events or a snapshot.")
	if text := typed.Get("asOf"); text != "" {
		var ok bool
		f.AsOf, ok = parseMoment(text)
		wrong.Check(ok, "asOf", fault.BadFormat, "Write a time as 2026-01-31T08:00, in UTC.")
	}
	return f, wrong.Err()
}

// parseMoment reads a time as the field of a browser writes it, in UTC, or as
// somebody types it who has no such field.
func parseMoment(text string) (time.Time, bool) {
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// arriving is a file on its way in. It remembers why it stopped, so that a broken
// line is told from trouble of our own.
type arriving struct {
	from io.Reader
	err  error
}

func (a *arriving) Read(b []byte) (int, error) {
	n, err := a.from.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		a.err = err
	}
	return n, err
}

// sendRefusedRows sends the refused rows as a file. What fails before the first
// of them is still an error; later the connection breaks off.
func (p *Portal) sendRefusedRows(w http.ResponseWriter, r *http.Request, im supply.Import) error {
	out := &attachment{w: w, kind: "text/csv; charset=utf-8", name: "refused-" + im.ID.String() + ".csv"}
	buffered := bufio.NewWriter(out)
	err := p.Lines.RefusedRows(r.Context(), im, buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil && out.began {
		breakOff(w, r, err)
		return nil
	}
	return err
}

// attachment begins an answer that is a file with its first bytes.
type attachment struct {
	w          http.ResponseWriter
	kind, name string
	began      bool
}

func (a *attachment) Write(b []byte) (int, error) {
	if !a.began {
		a.began = true
		beginFile(a.w, a.kind, a.name)
	}
	return a.w.Write(b)
}
