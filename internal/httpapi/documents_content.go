package httpapi

import (
	"log/slog"
	"net/http"

	"github.com/lineproof/lineproof/internal/web"
)

// sendContent serves GET /api/regulator/v1/documents/{documentId}/content: the
// file itself, to be saved and never shown or run by a browser.
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
	defer func() { _ = content.Close() }() // it was only read
	if err := web.SendDocument(w, &d, content); err != nil {
		add(ctx, slog.String("error", err.Error())) // it is too late for an error response
	}
	return nil
}
