package web

import (
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
)

const (
	// pagePolicy lets a page load what this service serves, and nothing inline.
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; report-to csp"
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

// Reporting names the address to which browsers report what the policy of a page blocked. Without
// one, h is unchanged, and they report nothing.
func Reporting(h http.Handler, address string) http.Handler {
	if address == "" {
		return h
	}
	endpoints := []string{`csp="` + address + `"`}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Reporting-Endpoints"] = endpoints
		h.ServeHTTP(w, r)
	})
}

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

// Download is a file to save.
type Download struct {
	ContentType, Name string
	Size              int64
	SHA256            [32]byte
	Content           io.Reader
}

// SendDownload sends a file to save. If that fails on the way, it aborts the response and
// returns the error for the log.
func SendDownload(w http.ResponseWriter, d *Download) error {
	h := w.Header()
	SetDownloadHeaders(h, d.ContentType, d.Name)
	h.Set("Content-Length", strconv.FormatInt(d.Size, 10))
	h.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(d.SHA256[:])+":")
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(w, d.Content); err != nil {
		AbortResponse(w)
		return err
	}
	return nil
}
