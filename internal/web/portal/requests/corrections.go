package requests

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	correctionsShown = 25
	// correctionDays is how far back the page goes: notices are kept for longer, for staff.
	correctionDays = 90
)

var correctionsPage = kit.Page{Title: "Corrected answers", Lead: "Answers to your keys that would be different now, because something was reported later. Act on them, then acknowledge.", Active: correctionsPath}

// showCorrections serves GET /portal/corrections.
func (p *Pages) showCorrections(w http.ResponseWriter, r *http.Request) error {
	all := r.URL.Query().Get("show") == "all"
	f := impact.ListFilter{
		Entity: portal.VisitOf(r).Who.Entity, Open: !all, Since: p.Now().AddDate(0, 0, -correctionDays), Before: parseNotice(web.Cursor(r)), Limit: correctionsShown + 1,
	}
	list, err := (&impact.Notices{Pool: p.Pool, Now: p.Now}).List(r.Context(), f)
	if err != nil {
		return err
	}
	list, next := web.CutPage(list, correctionsShown, func(n *impact.Notice) string {
		return strconv.FormatInt(n.Told.UnixMicro(), 10) + "." + n.Request.String()
	})
	current := ""
	if !f.Before.At.IsZero() {
		current = web.Cursor(r)
	}
	links := web.PageLinks(r, current, next)
	d := CorrectionsData{All: all, First: links.First, Next: links.Next, Days: correctionDays, Now: p.Now()}
	for i := range list {
		d.Rows = append(d.Rows, correctionRow(&list[i]))
	}
	return p.Show(w, r, correctionsPage, Corrections(d))
}

// differences are the members of an answer in words, where the status and the network do
// not say already what differs.
var differences = map[string]string{"status": "", "mobileNetwork": "", "changedSince": "changes since your date", "signals": "signals"}

func correctionRow(n *impact.Notice) CorrectionRow {
	row := CorrectionRow{
		Event: n.Event, Request: n.Request.String(), Told: n.Told, Acknowledged: n.Acknowledged, Known: n.Known, Stands: n.Stands,
		Number: n.Number, Asked: n.Asked, Effective: n.Effective, Reported: n.Reported,
		Said:     CorrectionAnswer{Status: n.Said.Status, Network: n.Said.Network, Tone: kit.StatusTone(n.Said.Status)},
		WouldSay: CorrectionAnswer{Status: n.WouldSay.Status, Network: n.WouldSay.Network, Tone: kit.StatusTone(n.WouldSay.Status)},
	}
	for _, name := range n.Differs {
		if word, ok := differences[name]; !ok {
			row.Also = append(row.Also, name)
		} else if word != "" {
			row.Also = append(row.Also, word)
		}
	}
	return row
}

// acknowledge serves POST /portal/corrections: the organisation has dealt with the chosen
// notices. Those of another organisation are not found, and nothing says so.
func (p *Pages) acknowledge(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return portal.ErrIncompleteUpload.Because(err)
	}
	chosen := r.PostForm["event"]
	if one := r.PostForm["one"]; len(one) > 0 { // the button of a row; what is selected beside it stays open
		chosen = one
	}
	events := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return len(id) > 40 })
	events = events[:min(len(events), correctionsShown)]
	back := correctionsPath
	if r.PostFormValue("show") == "all" {
		back += "?" + url.Values{"show": {"all"}}.Encode()
	}
	if len(events) == 0 {
		return p.RedirectWithFlash(w, r, back, "corrections.none")
	}
	v := portal.VisitOf(r)
	done := impact.Acknowledgement{Entity: v.Who.Entity, Events: events, By: v.Who.Actor(), Request: v.ID}
	if _, err := (&impact.Notices{Pool: p.Pool, Now: p.Now}).Acknowledge(r.Context(), done); err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, back, "corrections.done")
}

// parseNotice reads the cursor of the list; another text is the first page.
func parseNotice(text string) (at impact.Position) {
	micros, id, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(micros, 10, 64)
	request, bad := uuid.Parse(id)
	if err != nil || bad != nil || n <= 0 || n > 1<<52 {
		return at
	}
	return impact.Position{At: time.UnixMicro(n).UTC(), ID: request}
}
