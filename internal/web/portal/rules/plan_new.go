package rules

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/approvals"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	maxPlanBytes = 17 << 20 // the largest plan and the other fields
	maxParts     = 8        // the form has five
	maxChanges   = 500      // that a preview lists
)

var newPlanPage = kit.Page{
	Title: "New plan version", Lead: "It is compared with the last version before anything is changed.", Crumbs: []kit.Link{{Label: "Numbering plan", Href: portal.PlanPath}}, Active: portal.PlanPath,
}

// showNewPlan serves GET /portal/desk/new-plan.
func (p *Pages) showNewPlan(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, newPlanPage, NewPlan(NewPlanData{}))
}

// previewPlan serves POST /portal/desk/new-plan: what a file would
// change. It changes nothing itself.
func (p *Pages) previewPlan(w http.ResponseWriter, r *http.Request) error {
	d, err := p.readDraft(w, r)
	var before, after *numbering.Plan
	if err == nil {
		before, after, err = p.plans().Preview(r.Context(), d)
	}
	if err != nil {
		return p.showInvalidPlan(w, r, err)
	}
	d.BaseVersion = before.Version
	var text bytes.Buffer
	if err := after.WriteCSV(&text); err != nil {
		return err
	}
	data := planPreview(before, after)
	data.CSV, data.EffectiveText, data.Seen = text.String(), r.PostForm.Get("effectiveAt"), base64.RawURLEncoding.EncodeToString(p.People.Peppers.Sign(secret.ForPlanPreviews, previewText(r, &d)))
	if d.EffectiveAt.IsZero() {
		data.Effective = time.Time{}
	}
	return p.Show(w, r, kit.Page{Title: "Changes in the new version", Lead: "Nothing is changed yet.", Crumbs: newPlanPage.Crumbs, Active: portal.PlanPath}, PlanPreview(data))
}

var errNotPreviewed = fault.New(fault.Aborted, "Review the changes first: upload the file here, then set the plan from the next page.")

// setPlan serves POST /portal/desk/plan. It sets only the plan that the same
// person has previewed.
func (p *Pages) setPlan(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	d, err := p.readDraft(w, r)
	if err == nil {
		d.By, d.Request = v.Who.Actor(), v.ID
		if p.wasPreviewed(r, &d) {
			_, err = p.plans().Issue(r.Context(), d)
		} else {
			err = errNotPreviewed
		}
	}
	flash, err := portal.OrWaits(err, "plan.set", "entity.waits")
	if err != nil {
		return p.showInvalidPlan(w, r, err)
	}
	return p.RedirectWithFlash(w, r, portal.PlanPath, flash)
}

func (p *Pages) plans() *numbering.Service { return &numbering.Service{Pool: p.Pool, Now: p.Now} }

// previewText is everything that a person sees before they set a plan. Its
// signature is a field of the form, so that the plan that is set is the one that
// was previewed.
func previewText(r *http.Request, d *numbering.Draft) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "lineproof numbering plan, seen by %s after %d, from %s, %q\n", portal.VisitOf(r).Who.Account, d.BaseVersion, d.EffectiveAt.Format(time.RFC3339), d.Source)
	if plan, err := numbering.New(d.Rows, 15); err == nil { // sorted by prefix, so that the order of the file does not matter
		_ = plan.WriteCSV(&b) // a buffer does not fail
	}
	return b.String()
}

func (p *Pages) wasPreviewed(r *http.Request, d *numbering.Draft) bool {
	seen, err := base64.RawURLEncoding.DecodeString(r.PostForm.Get("seen"))
	if err != nil {
		return false
	}
	for _, mac := range p.People.Peppers.Candidates(secret.ForPlanPreviews, previewText(r, d)) {
		if subtle.ConstantTimeCompare(mac, seen) == 1 {
			return true
		}
	}
	return false
}

// showInvalidPlan shows the form again with its errors. The errors of the file are
// listed by line, because they have no field in the form.
func (p *Pages) showInvalidPlan(w http.ResponseWriter, r *http.Request, err error) error {
	form, invalid := portal.FormErrors(r, err)
	if !invalid {
		return err
	}
	d := NewPlanData{Form: kit.Form{Values: form.Values, Message: form.Message, Errors: map[string]string{}}}
	for _, field := range form.Order {
		switch field {
		case "file", "source", "effectiveAt":
			text := strings.ReplaceAll(form.Errors[field], "To see their times, run: lineproof plan history", "The numbering plan page lists their times.")
			d.Form.Errors[field], d.Form.Order = text, append(d.Form.Order, field)
		default:
			d.Mistakes = append(d.Mistakes, field+": "+form.Errors[field])
		}
	}
	return p.ShowInvalid(w, r, err, newPlanPage, NewPlan(d))
}

// readDraft reads an uploaded plan and the fields about it. It stores the fields in
// r.PostForm.
func (p *Pages) readDraft(w http.ResponseWriter, r *http.Request) (d numbering.Draft, err error) {
	r.PostForm = url.Values{}
	body := r.Body
	r.Body = http.MaxBytesReader(w, body, maxPlanBytes)
	parts, err := r.MultipartReader()
	if err != nil {
		return d, portal.ErrIncompleteUpload.Because(err)
	}
	file := false
	for range maxParts {
		var part *multipart.Part
		part, err = parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = readPlanPart(r, part, &d, &file)
		}
		if err != nil {
			portal.Drain(body)
			return d, portal.UploadError(err, portal.ErrTooLarge)
		}
	}
	var wrong fault.Form
	wrong.Check(file, "file", fault.Required, "Choose the file of the plan.")
	d.Source = strings.TrimSpace(r.PostForm.Get("source"))
	wrong.Check(d.Source != "", "source", fault.Required, "Enter the source of the plan.")
	if text := r.PostForm.Get("effectiveAt"); text != "" {
		var ok bool
		d.EffectiveAt, ok = web.ParseDate(text)
		wrong.Check(ok, "effectiveAt", fault.BadFormat, "Write a date as 2026-01-31.")
	}
	follows, err := strconv.ParseInt(r.PostForm.Get("follows"), 10, 32)
	if err == nil {
		d.BaseVersion = int32(follows)
	}
	return d, wrong.Err()
}

func readPlanPart(r *http.Request, part *multipart.Part, d *numbering.Draft, file *bool) (err error) {
	name := part.FormName()
	switch {
	case name == "file" && part.FileName() == "" && part.Header.Get("Content-Type") != "": // browsers send a file field without a file like this
		return nil
	case name == "file":
		*file = true
		d.Rows, err = numbering.ReadCSV(part)
		return err
	}
	text, err := io.ReadAll(io.LimitReader(part, portal.MultipartOverhead))
	r.PostForm.Set(name, string(text))
	return err
}

// changeNames are the names of the kinds of changes.
var changeNames = map[numbering.ChangeKind]struct {
	word string
	tone kit.Tone
}{
	numbering.Added: {"Added", kit.Good}, numbering.Withdrawn: {"Withdrawn", kit.Warn}, numbering.Moved: {"Moved", kit.Info},
	numbering.Removed: {"Removed", kit.Bad}, numbering.Redated: {"Dates changed", kit.Neutral},
}

func planPreview(before, after *numbering.Plan) PlanPreviewData {
	d := PlanPreviewData{
		Version: int64(after.Version), Follows: int64(before.Version), Effective: after.EffectiveAt, Source: after.Source, Ranges: int64(len(after.Ranges())),
	}
	counts := map[numbering.ChangeKind]int64{}
	for _, c := range numbering.Changes(before, after) {
		counts[c.Kind]++
		d.Removed = d.Removed || c.Kind == numbering.Removed
		if len(d.Changes) == maxChanges {
			d.More++
			continue
		}
		name := changeNames[c.Kind]
		d.Changes = append(d.Changes, PlanChange{Prefix: c.Prefix, Word: name.word, Tone: name.tone, From: c.From, To: c.To, On: c.On})
	}
	for _, kind := range numbering.ChangeKinds {
		d.Counts = append(d.Counts, PlanCount{Label: changeNames[kind].word, N: counts[kind]})
	}
	for _, n := range numbering.Renamings(before, after) {
		row := PlanChange{Prefix: n.Network, Word: "Renamed", Tone: kit.Info, From: n.Before, To: n.After}
		switch {
		case n.Before == "":
			row.Word, row.Tone = "New", kit.Good
		case n.After == "":
			row.Word, row.Tone = "No longer on the plan", kit.Warn
		}
		d.Renamings = append(d.Renamings, row)
	}
	return d
}

// showDraft serves GET /portal/desk/plan/drafts/{draft}: what a version that waits for a
// second person would change.
func (p *Pages) showDraft(w http.ResponseWriter, r *http.Request) error {
	id, err := portal.PathID(r, "draft")
	if err != nil {
		return err
	}
	before, after, err := numbering.LoadDraft(r.Context(), p.Pool, id)
	if err != nil {
		return err
	}
	request, err := approvals.About(r, p.Portal, p.Approvals, numbering.SetKind, id)
	if err != nil {
		return err
	}
	page := kit.Page{Title: "Requested version of the plan", Lead: "It has no effect before a second person confirms it.", Crumbs: []kit.Link{{Label: "Approvals", Href: portal.ApprovalsPath}}, Active: portal.ApprovalsPath}
	return p.Show(w, r, page, PlanDraft(request, planPreview(before, after)))
}
