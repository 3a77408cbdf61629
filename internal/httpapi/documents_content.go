package httpapi

import (
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/document"
)

// sendContent serves GET /api/regulator/v1/documents/{documentId}/content: the
// file itself, as something to keep and never as something to run.
func (a *API) sendContent(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	d, err := a.documentNamed(r)
	if err != nil {
		return err
	}
	d, content, err := a.Documents.Content(ctx, d.ID, principal(ctx).Actor(), requestID(ctx))
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // nothing was written
	head(w.Header(), &d)
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(w, content); err != nil {
		// It is too late for another answer. A file that ends early must not look
		// whole, so the connection is not left fit to end it properly.
		add(ctx, slog.String("error", err.Error()))
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now()) // not every writer can
	}
	return nil
}

// head says in every way that browsers know that this is a file to keep. Its
// name is ours: what an uploader called it could make a program of it on the
// reader's desk.
func head(h http.Header, d *document.Document) {
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="document-`+d.ID.String()+extensions[d.MediaType]+`"`)
	h.Set("Content-Length", strconv.FormatInt(d.Size, 10))
	h.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(d.SHA256[:])+":")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// extensions are those by which people's machines know the kinds of file.
var extensions = map[string]string{
	"application/pdf": ".pdf", "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/tiff": ".tif",
}
