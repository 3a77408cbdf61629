package portal

import (
	"errors"
	"io"
	"net/http"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// MultipartOverhead is what the headers and boundaries of a multipart upload may
// need beside the file.
const MultipartOverhead = 64 << 10

// maxDrained is how much of a refused upload is still read: most browsers show
// the response only after they have sent everything.
const maxDrained = 64 << 20

// ErrIncompleteUpload reports an upload that did not arrive completely.
var ErrIncompleteUpload = fault.New(fault.InvalidArgument, "The upload did not arrive completely. Try again.")

// Drain reads the rest of a refused upload, so that the browser shows the error.
func Drain(body io.Reader) { _, _ = io.CopyN(io.Discard, body, maxDrained) }

// UploadError turns an error of reading a multipart body into a fault: too large,
// or not arrived completely. A fault is returned as it is.
func UploadError(err error, tooLarge *fault.Error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge.Because(err)
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return ErrIncompleteUpload.Because(err)
}
