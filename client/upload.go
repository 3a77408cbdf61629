package client

import (
	"context"
	"fmt"
	"io"
)

// The known types of document. Any other text of up to 64
// printable characters may be used too, unless the regulator decided otherwise.
const (
	DocumentCACCertificate             = "CAC_CERTIFICATE"
	DocumentCACStatusReport            = "CAC_STATUS_REPORT"
	DocumentOperatingLicence           = "OPERATING_LICENCE"
	DocumentTaxID                      = "TAX_ID"
	DocumentDataProtectionRegistration = "DATA_PROTECTION_REGISTRATION"
	DocumentLetterOfAuthorisation      = "LETTER_OF_AUTHORISATION"
	DocumentAdminID                    = "ADMIN_ID"
	DocumentOther                      = "OTHER"
)

// Document is a file to upload: a PDF, PNG, JPEG, GIF, WebP or TIFF.
type Document struct {
	Type     string // DocumentCACCertificate and the like
	FileName string // what people see; empty means document

	// EntityUID is the entity that the document belongs to. Empty means the
	// admin's own with a session; with an access token, the entity which that
	// token onboarded last, or the only one of the client.
	EntityUID string

	// Content is read while it is sent, and never loaded into memory as a whole.
	// If it can seek, as files can, it is sent from its current position, and from
	// there again when the request is retried. If it cannot, the request is
	// retried only as long as nothing was read.
	Content io.Reader

	IdempotencyKey string // as in [Application]
}

// UploadDocument uploads a document and returns its id. The credential is an
// admin's session, or an access token with [ScopeUpload].
//
// Content is not used after UploadDocument has returned, with one exception: a
// Read that was blocked when ctx ended.
func (c *Client) UploadDocument(ctx context.Context, credential Secret, d Document) (id string, err error) {
	r, err := c.newRequest(ctx, "upload", "/api/regulator/v1/upload-document")
	if err != nil {
		return "", err
	}
	if err := r.authorize(credential); err != nil {
		return "", err
	}
	if err := r.once(d.IdempotencyKey); err != nil {
		return "", err
	}
	if d.Content == nil {
		return "", r.wrong("the document has no content")
	}
	if r.form, err = newForm(r.header, d); err != nil {
		return "", fmt.Errorf("client: upload: %w", err)
	}
	answer, err := send[envelope[string]](ctx, c, r)
	switch {
	case err != nil:
		return "", err
	case answer.Data == "":
		return "", r.incomplete()
	}
	return answer.Data, nil
}
