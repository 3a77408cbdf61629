package operators

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
)

const (
	maxParts      = 8       // the form has four
	maxFieldBytes = 1 << 10 // far longer than any of its fields
)

var errFileTooLarge = fault.New(fault.PayloadTooLarge, "The file is larger than the service accepts. Compress it with gzip or zstd.")

func noFile() error {
	var wrong fault.Form
	wrong.Check(false, "file", fault.Required, "Choose the file.")
	return wrong.Err()
}

// uploadLines serves POST /portal/supply/imports. The file is written to disk while
// it arrives: a national operator's is far larger than memory.
func (p *Pages) uploadLines(w http.ResponseWriter, r *http.Request) error {
	body := r.Body
	r.Body = http.MaxBytesReader(w, body, p.ImportMaxBytes+portal.MultipartOverhead)
	im, typed, err := p.readLines(r)
	if err == nil {
		return p.RedirectWithFlash(w, r, ImportURL(importsPath, im.ID), "import.sent")
	}
	portal.Drain(body)
	form, invalid := portal.FormErrors(r, err)
	if !invalid {
		return err
	}
	form.Values = typed
	return p.ShowAgain(w, r, err, p.supply, form)
}

// readLines reads an upload: the fields, which browsers send first because they
// come first on the page, and then the file. Invalid fields are reported before a
// byte of the file is read.
func (p *Pages) readLines(r *http.Request) (im supply.Import, typed url.Values, err error) {
	typed = url.Values{}
	parts, err := r.MultipartReader()
	if err != nil {
		return im, typed, portal.ErrIncompleteUpload.Because(err)
	}
	for range maxParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return im, typed, portal.UploadError(err, errFileTooLarge)
		}
		if part.FormName() == "file" {
			im, err = p.receiveLines(r, typed, part)
			return im, typed, err
		}
		text, err := io.ReadAll(io.LimitReader(part, maxFieldBytes))
		if err != nil {
			return im, typed, portal.UploadError(err, errFileTooLarge)
		}
		typed.Set(part.FormName(), string(text))
	}
	return im, typed, noFile()
}

// receiveLines stores the file and starts its import.
func (p *Pages) receiveLines(r *http.Request, typed url.Values, part *multipart.Part) (supply.Import, error) {
	form, err := readLinesForm(typed)
	if err != nil {
		return supply.Import{}, err
	}
	if part.FileName() == "" { // browsers send a file field without a file like this
		return supply.Import{}, noFile()
	}
	rules, err := p.Rules(r)
	if err != nil {
		return supply.Import{}, err
	}
	code, _, err := p.ownNetwork(r, rules.Plan)
	if err != nil {
		return supply.Import{}, err
	}
	who := supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: code, Actor: portal.VisitOf(r).Who.Actor()}
	if err := p.Lines.CheckImport(r.Context(), who, form); err != nil {
		return supply.Import{}, err
	}
	sent := &web.BodyReader{Reader: part}
	im, err := p.Lines.Receive(r.Context(), who, form, sent)
	if sent.Err != nil {
		return supply.Import{}, portal.UploadError(sent.Err, errFileTooLarge)
	}
	return im, err
}

// readLinesForm reads the fields that describe the file.
func readLinesForm(typed url.Values) (f supply.ImportForm, err error) {
	f.Kind, f.DryRun, f.Portal = linefile.Kind(typed.Get("kind")), typed.Get("dryRun") == "yes", true
	var wrong fault.Form
	wrong.Check(f.Kind == linefile.Snapshot || f.Kind == linefile.Events, "kind", fault.NotAllowed, "Choose events or a snapshot.")
	if text := typed.Get("asOf"); text != "" {
		var ok bool
		f.AsOf, ok = web.ParseFormTime(text)
		wrong.Check(ok, "asOf", fault.BadFormat, "Write a time as 2026-01-31T08:00, in UTC.")
	}
	return f, wrong.Err()
}
