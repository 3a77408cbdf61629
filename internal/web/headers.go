package web

import (
	"encoding/base64"
	"io"
	"net/http"
	"strconv"

	"github.com/lineproof/lineproof/internal/document"
)

const (
	// pagePolicy lets a page load what this service serves, and nothing inline.
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
	// downloadPolicy is for files that people or programs have sent: a browser
	// that opens one all the same runs nothing of it.
	downloadPolicy = "sandbox; default-src 'none'; frame-ancestors 'none'"
)

// The values of headers that every response has, shared between responses: a
// server copies the header map but not its values, and nothing changes them.
var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

// SetAPIHeaders sets the security headers of every response of the API.
func SetAPIHeaders(h http.Header) {
	h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
}

// SetPageHeaders sets the security headers of every response of the portal.
func SetPageHeaders(h http.Header) {
	SetAPIHeaders(h)
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// SetDownloadHeaders marks a response as a file to save, which no browser may
// show or run. The name is one of ours: a name chosen by an uploader could make
// the file a program on the reader's computer.
func SetDownloadHeaders(h http.Header, contentType, name string) {
	SetAPIHeaders(h)
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Security-Policy", downloadPolicy)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// extensions are the file name extensions of the media types of documents.
var extensions = map[string]string{
	"application/pdf": ".pdf", "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/tiff": ".tif",
}

// SendDocument sends the content of a document as a file to save. If that fails
// on the way, it aborts the response and returns the error for the log.
func SendDocument(w http.ResponseWriter, d *document.Document, content io.Reader) error {
	h := w.Header()
	SetDownloadHeaders(h, "application/octet-stream", "document-"+d.ID.String()+extensions[d.MediaType])
	h.Set("Content-Length", strconv.FormatInt(d.Size, 10))
	h.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(d.SHA256[:])+":")
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(w, content); err != nil {
		AbortResponse(w)
		return err
	}
	return nil
}
