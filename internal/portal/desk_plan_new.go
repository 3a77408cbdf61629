package portal

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

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/portal/view"
)

const (
	mostPlan    = 17 << 20 // the largest plan, and what stands around it
	planParts   = 8        // a form has five
	mostChanges = 500      // that a preview lists
)

var newPlanPage = view.Page{
	Title: "A new version of the plan", Lead: "It is compared with the last version before anything is set.", Crumbs: []view.Link{{Label: "Numbering plan", Href: deskPlanPath}}, Active: deskPlanPath,
}

// showNewPlan serves GET /portal/desk/new-plan.
func (p *Portal) showNewPlan(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, newPlanPage, view.NewPlan(view.NewPlanData{}))
}

// previewPlan serves POST /portal/desk/new-plan: what a file would change. It
// sets nothing.
func (p *Portal) previewPlan(w http.ResponseWriter, r *http.Request) error {
	d, err := p.readDraft(w, r)
	var before, after *numbering.Plan
	if err == nil {
		before, after, err = p.book().Try(r.Context(), d)
	}
	if err != nil {
		return p.refusePlan(w, r, err)
	}
	d.Follows = before.Version
	var text bytes.Buffer
	if err := after.WriteCSV(&text); err != nil {
		return err
	}
	data := planPreview(before, after)
	data.CSV, data.EffectiveText, data.Seen = text.String(), r.PostForm.Get("effectiveAt"), base64.RawURLEncoding.EncodeToString(p.People.Peppers.Sign(seenText(r, &d)))
	if d.EffectiveAt.IsZero() {
		data.Effective = time.Time{}
	}
	return p.show(w, r, view.Page{Title: "What the new version changes", Lead: "Nothing is set yet.", Crumbs: newPlanPage.Crumbs, Active: deskPlanPath}, view.PlanPreview(data))
}

var errUnseen = fault.New(fault.Aborted, "Look at what the plan changes first: hand the file in here, then set it from the next page.")

// setPlan serves POST /portal/desk/plan. It sets what the same person was shown,
// and nothing else.
func (p *Portal) setPlan(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	d, err := p.readDraft(w, r)
	if err == nil {
		d.By, d.Request = v.who.Actor(), v.id
		if p.hasSeen(r, &d) {
			_, err = p.book().Issue(r.Context(), d)
		} else {
			err = errUnseen
		}
	}
	if err != nil {
		return p.refusePlan(w, r, err)
	}
	return p.goOn(w, r, deskPlanPath, "plan.set")
}

func (p *Portal) book() *numbering.Book { return &numbering.Book{Pool: p.Pool, Now: p.Now} }

// seenText is everything that somebody is shown before they set a plan. Its
// signature goes with the form, so that what is set is what was seen.
func seenText(r *http.Request, d *numbering.Draft) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "lineproof numbering plan, seen by %s after %d, from %s, %q\n", visitOf(r).who.Account, d.Follows, d.EffectiveAt.Format(time.RFC3339), d.Source)
	if plan, err := numbering.New(d.Rows, 15); err == nil { // by prefix, whatever order a file has
		_ = plan.WriteCSV(&b) // a buffer takes everything
	}
	return b.String()
}

func (p *Portal) hasSeen(r *http.Request, d *numbering.Draft) bool {
	seen, err := base64.RawURLEncoding.DecodeString(r.PostForm.Get("seen"))
	if err != nil {
		return false
	}
	for _, mac := range p.People.Peppers.Candidates(seenText(r, d)) {
		if subtle.ConstantTimeCompare(mac, seen) == 1 {
			return true
		}
	}
	return false
}

// refusePlan shows the form again with what is wrong. The mistakes of a file are
// named by line, and have no field of their own.
func (p *Portal) refusePlan(w http.ResponseWriter, r *http.Request, err error) error {
	form, wrong := formOf(r, err)
	if !wrong {
		return err
	}
	d := view.NewPlanData{Form: view.Form{Values: form.Values, Message: form.Message, Errors: map[string]string{}}}
	for _, field := range form.Order {
		switch field {
		case "file", "source", "effectiveAt":
			said := strings.ReplaceAll(form.Errors[field], "See when these do with: lineproof plan history", "The page of the plan lists them.")
			d.Form.Errors[field], d.Form.Order = said, append(d.Form.Order, field)
		default:
			d.Mistakes = append(d.Mistakes, field+": "+form.Errors[field])
		}
	}
	return p.showAgain(w, r, err, newPlanPage, view.NewPlan(d))
}

// readDraft reads a plan that was handed in, and what was said about it. What
// was typed is in r.PostForm afterwards.
func (p *Portal) readDraft(w http.ResponseWriter, r *http.Request) (d numbering.Draft, err error) {
	r.PostForm = url.Values{}
	body := r.Body
	r.Body = http.MaxBytesReader(w, body, mostPlan)
	parts, err := r.MultipartReader()
	if err != nil {
		return d, errParts.Because(err)
	}
	file := false
	for range planParts {
		var part *multipart.Part
		part, err = parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = readPlanPart(r, part, &d, &file)
		}
		if err != nil {
			_, _ = io.CopyN(io.Discard, body, mostHeard) // so that the answer is heard
			return d, partError(err, errTooLarge)
		}
	}
	var wrong fault.Form
	wrong.Check(file, "file", fault.Required, "Choose the file of the plan.")
	d.Source = strings.TrimSpace(r.PostForm.Get("source"))
	wrong.Check(d.Source != "", "source", fault.Required, "Say where the plan comes from.")
	if text := r.PostForm.Get("effectiveAt"); text != "" {
		d.EffectiveAt, err = time.Parse(time.DateOnly, text)
		wrong.Check(err == nil, "effectiveAt", fault.BadFormat, "Write a date as 2026-01-31.")
	}
	follows, err := strconv.ParseInt(r.PostForm.Get("follows"), 10, 32)
	if err == nil {
		d.Follows = int32(follows)
	}
	return d, wrong.Err()
}

func readPlanPart(r *http.Request, part *multipart.Part, d *numbering.Draft, file *bool) (err error) {
	name := part.FormName()
	switch {
	case name == "file" && part.FileName() == "" && part.Header.Get("Content-Type") != "": // as browsers send a field without a file
		return nil
	case name == "file":
		*file = true
		d.Rows, err = numbering.ReadCSV(part)
		return err
	}
	text, err := io.ReadAll(io.LimitReader(part, paperOverhead))
	r.PostForm.Set(name, string(text))
	return err
}

// changeWords are the kinds of change in words.
var changeWords = map[numbering.ChangeKind]struct {
	word string
	tone view.Tone
}{
	numbering.Added: {"Added", view.Good}, numbering.Withdrawn: {"Withdrawn", view.Warn}, numbering.Moved: {"Moved", view.Info},
	numbering.Removed: {"Removed", view.Bad}, numbering.Redated: {"Other dates", view.Neutral},
}

func planPreview(before, after *numbering.Plan) view.PlanPreviewData {
	d := view.PlanPreviewData{
		Version: int64(after.Version), Follows: int64(before.Version), Effective: after.EffectiveAt, Source: after.Source, Ranges: int64(len(after.Ranges())),
	}
	counts := map[numbering.ChangeKind]int64{}
	for _, c := range numbering.Changes(before, after) {
		counts[c.Kind]++
		d.Removed = d.Removed || c.Kind == numbering.Removed
		if len(d.Changes) == mostChanges {
			d.More++
			continue
		}
		said := changeWords[c.Kind]
		d.Changes = append(d.Changes, view.PlanChange{Prefix: c.Prefix, Word: said.word, Tone: said.tone, From: c.From, To: c.To, On: c.On})
	}
	for _, kind := range numbering.ChangeKinds {
		d.Counts = append(d.Counts, view.PlanCount{Label: changeWords[kind].word, N: counts[kind]})
	}
	for _, n := range numbering.Renamings(before, after) {
		row := view.PlanChange{Prefix: n.Network, Word: "Renamed", Tone: view.Info, From: n.Before, To: n.After}
		switch {
		case n.Before == "":
			row.Word, row.Tone = "New", view.Good
		case n.After == "":
			row.Word, row.Tone = "No longer on the plan", view.Warn
		}
		d.Renamings = append(d.Renamings, row)
	}
	return d
}
