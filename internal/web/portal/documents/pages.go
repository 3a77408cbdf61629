// Package documents has the pages of the documents that organisations submit: their own
// pages, and those on which staff review them.
package documents

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// Pages serves the pages. All fields are required.
type Pages struct {
	*portal.Portal

	Documents *document.Store
	Approvals *approval.Service
}

const (
	documentsPath    = "/portal/documents"
	documentPath     = "/portal/documents/{document}"
	documentFilePath = "/portal/documents/{document}/content"

	// ReviewsPath is the address of the documents that staff review.
	ReviewsPath    = "/portal/desk/documents"
	reviewPath     = "/portal/desk/documents/{document}"
	decidePath     = "/portal/desk/documents/{document}/review"
	reviewFilePath = "/portal/desk/documents/{document}/content"
	picturePath    = "/portal/desk/documents/{document}/pages/{page}"
	originalPath   = "/portal/desk/documents/{document}/original"
	sealedPath     = "/portal/desk/documents/{document}/original/{approval}"
)

// Routes returns the routes of these pages.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: documentsPath, Right: portal.OrgMember, Serve: p.ShowForm(p.documents)},
		{Method: post, Path: documentsPath, Right: portal.OrgMember, Action: stepup.UploadDocument, Upload: true, Serve: p.uploadDocument},
		{Method: get, Path: documentPath, Right: portal.OrgMember, Serve: p.showDocument},
		{Method: get, Path: documentFilePath, Right: portal.OrgMember, Upload: true, Serve: p.sendDocument},
		{Method: get, Path: ReviewsPath, Right: portal.Staff, Serve: p.showQueue},
		{Method: get, Path: reviewPath, Right: portal.Staff, Serve: p.ShowForm(p.decision)},
		{Method: post, Path: decidePath, Right: portal.Decider, Action: stepup.ReviewDocument, Serve: p.reviewDocument},
		{Method: get, Path: reviewFilePath, Right: portal.Staff, Upload: true, Serve: p.sendReviewed},
		{Method: get, Path: picturePath, Right: portal.Staff, Upload: true, Serve: p.sendPicture},
		{Method: post, Path: originalPath, Right: portal.Administrator, Action: stepup.TakeOriginal, Serve: p.requestOriginal},
		{Method: post, Path: sealedPath, Right: portal.Administrator, Action: stepup.TakeOriginal, Upload: true, Serve: p.sendOriginal},
	}
}
