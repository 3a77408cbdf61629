package files

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var errNumbersTooLarge = fault.New(fault.PayloadTooLarge, "The file is larger than the service accepts. Compress it with gzip or zstd.")

// fileKeys returns the keys under which rows of a file can be recorded: those that may send
// files, from where the visitor is.
func (p *Pages) fileKeys(r *http.Request) (options []kit.Option, err error) {
	v := portal.VisitOf(r)
	keys, err := p.Access.Keys(r.Context(), v.Who.Entity)
	for i := range keys {
		if k := &keys[i]; k.Active(p.Now()) && slices.Contains(k.Rights, access.JobsRight) && access.FromNetworks(k.Networks, v.Who.From) {
			options = append(options, kit.Option{Value: k.ID.String(), Label: k.Name + " (" + kit.ModeLabel(k.Mode) + ")"})
		}
	}
	return options, err
}

// uploadNumbers serves POST /portal/files. The file is stored while it arrives.
func (p *Pages) uploadNumbers(w http.ResponseWriter, r *http.Request) error {
	body := r.Body
	r.Body = http.MaxBytesReader(w, body, p.Jobs.MaxBytes+portal.MultipartOverhead)
	j, typed, err := p.readNumbers(r)
	if err == nil {
		return p.RedirectWithFlash(w, r, FileHref(&j), "file.sent")
	}
	portal.Drain(body)
	form, invalid := portal.FormErrors(r, err)
	if !invalid {
		return err
	}
	form.Values = typed
	return p.ShowAgain(w, r, err, p.files, form)
}

// readNumbers reads an upload: the fields, which browsers send first because they come
// first on the page, and then the file.
func (p *Pages) readNumbers(r *http.Request) (j filejob.Job, typed url.Values, err error) {
	const maxParts, maxFieldBytes = 8, 1 << 10 // the form has three parts
	typed = url.Values{}
	parts, err := r.MultipartReader()
	if err != nil {
		return j, typed, portal.ErrIncompleteUpload.Because(err)
	}
	for range maxParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return j, typed, portal.UploadError(err, errNumbersTooLarge)
		}
		if part.FormName() == "file" {
			j, err = p.receiveNumbers(r, typed, part)
			return j, typed, err
		}
		text, err := io.ReadAll(io.LimitReader(part, maxFieldBytes))
		if err != nil {
			return j, typed, portal.UploadError(err, errNumbersTooLarge)
		}
		typed.Set(part.FormName(), string(text))
	}
	return j, typed, errNoNumbers()
}

func errNoNumbers() error {
	var wrong fault.Form
	wrong.Check(false, "file", fault.Required, "Choose the file.")
	return wrong.Err()
}

// receiveNumbers creates the job and stores its file.
func (p *Pages) receiveNumbers(r *http.Request, typed url.Values, part *multipart.Part) (j filejob.Job, err error) {
	if part.FileName() == "" { // browsers send a file field without a file like this
		return j, errNoNumbers()
	}
	options, err := p.fileKeys(r)
	if err != nil {
		return j, err
	}
	var wrong fault.Form
	wrong.Check(slices.ContainsFunc(options, func(o kit.Option) bool { return o.Value == typed.Get("key") }), "key", fault.NotAllowed, "Choose a key that may send files and may be used from your network.")
	if err := wrong.Err(); err != nil {
		return j, err
	}
	ctx, key := r.Context(), uuid.MustParse(typed.Get("key"))
	caller, err := p.Jobs.Caller(ctx, p.Pool, key)
	if err != nil {
		return j, err
	}
	if j, err = p.Jobs.Create(ctx, caller.Owner, key, typed.Get("name"), fileBy(r)); err != nil {
		return j, err
	}
	sent := &web.BodyReader{Reader: part}
	received, err := p.Jobs.Receive(ctx, caller.Owner, j.ID, sent, fileBy(r))
	if err == nil {
		return received, nil
	}
	_, cancelErr := p.Jobs.Cancel(context.WithoutCancel(ctx), caller.Owner, j.ID, fileBy(r)) // nobody would send its file any more
	if sent.Err != nil {
		return j, portal.UploadError(sent.Err, errNumbersTooLarge)
	}
	return j, errors.Join(err, cancelErr)
}

// sendFileResult serves GET /portal/files/{job}/result.csv.
func (p *Pages) sendFileResult(w http.ResponseWriter, r *http.Request) error {
	o, j, err := p.ownFile(r)
	if err != nil {
		return err
	}
	in, err := p.Jobs.Result(r.Context(), o, j.ID)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	w.Header().Set("Content-Disposition", `attachment; filename="result-`+j.ID.String()+`.csv"`)
	if _, err := io.Copy(w, z); err != nil {
		web.AbortResponse(w) // it is too late for an error page
	}
	return nil
}
