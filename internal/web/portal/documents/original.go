package documents

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// originalData returns what an administrator can do about the original of a document: its
// newest request, and a new one.
func (p *Pages) originalData(r *http.Request, d *document.Document) (OriginalData, error) {
	v := portal.VisitOf(r)
	data := OriginalData{Offered: v.Has(portal.Administrator) && d.State.Settled() && d.State != document.Deleted, At: ReviewsPath + "/" + d.ID.String() + "/original"}
	if !data.Offered {
		return data, nil
	}
	all, err := p.Approvals.List(r.Context(), true, portal.MaxWaiting)
	if err != nil {
		return data, err
	}
	for i := range all {
		a := &all[i]
		if a.Kind != document.OriginalKind || a.Subject != d.ID {
			continue
		}
		switch until := a.DecidedAt.Add(document.OriginalLifetime); {
		case a.State == approval.Waiting:
			data.Waits = true
		case a.State == approval.Approved && portal.IsAccount(a.RequestedBy, v.Who.Account) && p.Now().Before(until):
			data.Take, data.Until = data.At+"/"+a.ID.String(), until
		}
		break
	}
	return data, nil
}

// requestOriginal serves POST /portal/desk/documents/{document}/original.
func (p *Pages) requestOriginal(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	d, err := p.pathDocument(r)
	if err != nil {
		return err
	}
	_, err = p.Documents.RequestOriginal(r.Context(), document.OriginalRequest{
		Document: d.ID, Recipient: strings.TrimSpace(r.PostFormValue("recipient")), Reason: portal.OneLine(r.PostFormValue("originalReason")), By: v.Who.Actor(), Request: v.ID,
	})
	return p.EndForm(w, r, err, func(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
		return p.review(r, kit.Form{}, form)
	}, ReviewsPath+"/"+d.ID.String(), "document.original.waits")
}

// sendOriginal serves POST /portal/desk/documents/{document}/original/{approval}.
func (p *Pages) sendOriginal(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	d, err := p.pathDocument(r)
	if err != nil {
		return err
	}
	id, err := portal.PathID(r, "approval")
	if err != nil {
		return err
	}
	c, err := p.Documents.Original(r.Context(), d.ID, id, v.Who.Actor(), v.ID)
	if err != nil {
		return err
	}
	return SendCopy(w, r, &c)
}
