package httpapi

import (
	"log/slog"
	"net/http"

	"github.com/lineproof/lineproof/internal/web"
)

// sendContent serves GET /api/regulator/v1/documents/{documentId}/content: a
// PDF with pictures of the pages.
func (a *API) sendContent(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	d, err := a.documentNamed(r)
	if err != nil {
		return err
	}
	c, err := a.Documents.Content(ctx, d.ID, principal(ctx).Actor(), requestID(ctx))
	if err != nil {
		return err
	}
	defer func() { _ = c.File.Close() }() // it was only read
	if err := web.SendDownload(w, &web.Download{ContentType: c.ContentType(), Name: c.SaveAs(), Size: c.Size, SHA256: c.SHA256, Content: c.File}); err != nil {
		add(ctx, slog.String("error", err.Error())) // it is too late for an error response
	}
	return nil
}
