package rules

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var newPolicyPage = kit.Page{
	Title: "Propose a change", Lead: "The next page shows what changes. It takes effect when another administrator has confirmed it.", Crumbs: []kit.Link{{Label: "Policy", Href: policyPath}}, Active: policyPath,
}

func (p *Pages) policies() *policy.Service { return &policy.Service{Pool: p.Pool, Now: p.Now} }

// newPolicy is the page /portal/desk/new-policy. A change is based on the latest version,
// which may have yet to take effect.
func (p *Pages) newPolicy(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
	last, err := p.policies().Last(r.Context())
	return newPolicyPage, NewPolicy(NewPolicyData{
		Form: form, Base: last.Version, Scheduled: last.EffectiveAt.After(p.Now()), Effective: last.EffectiveAt, Groups: policyFields(&last),
	}), err
}

// readPolicy reads a proposal: the latest version with what the form changes. What is no
// number becomes one that is not allowed, so that it is reported with everything else.
func readPolicy(r *http.Request, last policy.Policy) (next policy.Policy, wrong fault.Form) {
	next = last
	for _, f := range policy.Fields {
		if r.PostForm.Has(f.Name) {
			n, err := strconv.Atoi(r.PostForm.Get(f.Name))
			if err != nil {
				n = f.Min - 1
			}
			*f.Of(&next) = n
		}
	}
	for _, f := range policy.TextFields {
		if r.PostForm.Has(f.Name) {
			*f.Of(&next) = portal.OneLine(r.PostForm.Get(f.Name))
		}
	}
	next.Note = portal.OneLine(r.PostForm.Get("note"))
	base, err := strconv.ParseInt(r.PostForm.Get("base"), 10, 32)
	if err != nil {
		base = int64(last.Version)
	}
	next.Version = int32(base)
	at, ok := web.ParseFormTime(r.PostForm.Get("effectiveAt"))
	wrong.Check(ok || r.PostForm.Get("effectiveAt") == "", "effectiveAt", fault.BadFormat, "Write a time as 2026-01-31T08:00, or a date as 2026-01-31.")
	next.EffectiveAt = at // zero: when it is confirmed
	return next, wrong
}

var errNothingChanges = fault.New(fault.InvalidArgument, "Nothing changes. Change at least one value.")

// proposal reads a proposal and compares it with the version that it would follow.
func (p *Pages) proposal(r *http.Request) (sent, next, last policy.Policy, err error) {
	if err := r.ParseForm(); err != nil {
		return sent, next, last, err
	}
	if last, err = p.policies().Last(r.Context()); err != nil {
		return sent, next, last, err
	}
	sent, wrong := readPolicy(r, last)
	next, _, err = p.policies().Preview(r.Context(), sent)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		wrong.Add(f.Violations...)
	}
	switch {
	case len(wrong.Violations()) > 0:
		err = wrong.Err()
	case err == nil && len(policy.Compare(&last, &next)) == 0:
		err = errNothingChanges
	}
	return sent, next, last, err
}

// previewPolicy serves POST /portal/desk/new-policy: what a proposal changes. It
// changes nothing itself.
func (p *Pages) previewPolicy(w http.ResponseWriter, r *http.Request) error {
	_, next, last, err := p.proposal(r)
	if err != nil {
		return p.ShowErrors(w, r, err, p.newPolicy)
	}
	d := PolicyPreviewData{Changes: differences(policy.Compare(&last, &next)), Note: next.Note, Base: last.Version, Now: p.Now()}
	if r.PostForm.Get("effectiveAt") != "" {
		d.Effective = next.EffectiveAt
	}
	for _, g := range policyFields(&next) {
		for _, f := range g.Fields {
			d.Hidden = append(d.Hidden, kit.Option{Label: f.Name, Value: f.Value})
		}
	}
	d.Hidden = append(d.Hidden, kit.Option{Label: "base", Value: strconv.Itoa(int(last.Version))}, kit.Option{Label: "note", Value: next.Note}, kit.Option{Label: "effectiveAt", Value: r.PostForm.Get("effectiveAt")})
	page := kit.Page{Title: "What changes", Lead: "Nothing is changed yet.", Crumbs: []kit.Link{{Label: "Policy", Href: policyPath}, {Label: newPolicyPage.Title, Href: newPolicyPath}}, Active: policyPath}
	return p.Show(w, r, page, PolicyPreview(d))
}

// setPolicy serves POST /portal/desk/policy.
func (p *Pages) setPolicy(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	sent, _, _, err := p.proposal(r)
	if err == nil {
		_, err = p.policies().SetBy(r.Context(), sent, v.Who.Actor(), v.ID)
	}
	if _, waits := errors.AsType[*approval.WaitsError](err); waits {
		return p.RedirectWithFlash(w, r, policyPath, "entity.waits")
	}
	return p.EndForm(w, r, err, p.newPolicy, policyPath, "policy.set")
}
