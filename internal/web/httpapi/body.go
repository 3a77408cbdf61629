package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	errTooLarge  = fault.New(fault.PayloadTooLarge, "The body is too large. The limit for a JSON body is 16 KiB.")
	errMediaType = fault.New(fault.UnsupportedMediaType, "Send the body as JSON in UTF-8, with Content-Type: application/json.")
	errEncoding  = fault.New(fault.UnsupportedMediaType,
		"Send the body without Content-Encoding. A file may itself be compressed with gzip or zstd, which is detected from its content.")
	errSlowBody = fault.New(fault.InvalidArgument, "The body took too long to arrive. Retry the request.")
	errCutOff   = fault.New(fault.InvalidArgument, "The body is incomplete. Retry the request.")
)

// bodyLimit is how large a body may be, and the error for one that is larger.
type bodyLimit struct {
	bytes    int64
	tooLarge *fault.Error
}

// bodyLimits has the operations whose limit is not that of nearly all, 16 KiB, by the
// name of their route.
func (a *API) bodyLimits() map[string]bodyLimit {
	post, put := http.MethodPost+" ", http.MethodPut+" "
	return map[string]bodyLimit{
		post + batchPath:   {maxObjectBatchJSON, errObjectsTooLarge},
		post + eventsPath:  {maxEvents, errEventsTooLarge},
		post + uploadPath:  {a.Documents.MaxBytes + multipartOverhead, document.ErrTooLarge},
		post + importsPath: {a.ImportMaxBytes, errFileTooLarge},
		post + membersPath: {maxMembers, errMembersTooLarge},
		post + acksPath:    {maxAcknowledgement, errAcknowledgementTooLarge},
		put + membersPath:  {a.Bank.ListMaxBytes, errListTooLarge},
		put + jobFilePath:  {a.Bank.Jobs.MaxBytes, errJobTooLarge},
	}
}

// limitBody runs before the body is read. A body whose length is known to be above the
// limit is refused, and one whose length is not known ends one byte above it. No operation
// takes an encoded one.
func (l *bodyLimit) limitBody(w http.ResponseWriter, r *http.Request) error {
	switch {
	case r.ContentLength != 0 && slices.ContainsFunc(r.Header["Content-Encoding"], func(e string) bool { return !strings.EqualFold(e, "identity") }):
		return errEncoding
	case r.ContentLength > l.bytes:
		return l.tooLarge
	case r.ContentLength < 0:
		r.Body = &limitedBody{ReadCloser: http.MaxBytesReader(w, r.Body, l.bytes), tooLarge: l.tooLarge}
	}
	return nil
}

// limitedBody is a body that ends with tooLarge where it is too large.
type limitedBody struct {
	io.ReadCloser

	tooLarge *fault.Error
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = b.tooLarge.Because(err)
	}
	return n, err
}

// readJSON reads the whole of a body whose Content-Type is JSON.
func readJSON(r *http.Request) ([]byte, error) {
	if !isJSON(r) {
		return nil, errMediaType
	}
	return readBody(r)
}

// readBody reads the whole of a body. Its length has been limited.
func readBody(r *http.Request) (body []byte, err error) {
	if r.ContentLength >= 0 {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(r.Body)
	}
	if err != nil {
		return nil, bodyError(err, errCutOff)
	}
	return body, nil
}

// bodyError returns the fault for a body that could not be read. Every cause is
// a client error: a body that is too slow or breaks off must not be counted as an
// error of the service.
func bodyError(err error, broken *fault.Error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errSlowBody.Because(err)
	}
	return broken.Because(err)
}

// isJSON reports whether the Content-Type is JSON in UTF-8.
func isJSON(r *http.Request) bool {
	contentType := r.Header.Get("Content-Type")
	if contentType == "application/json" {
		return true // nearly every request
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "application/json" {
		return false
	}
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}
