package org

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/feed"
	"github.com/lineproof/lineproof/internal/hooksign"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/webhook"
)

const (
	webhooksPath       = "/portal/webhooks"
	newWebhookPath     = "/portal/new-webhook"
	webhookPath        = "/portal/webhooks/{webhook}"
	webhookConfirmPath = "/portal/webhooks/{webhook}/confirm"
	webhookTestPath    = "/portal/webhooks/{webhook}/test"
	webhookAgainPath   = "/portal/webhooks/{webhook}/again"
	webhookPausePath   = "/portal/webhooks/{webhook}/pause"
	webhookResumePath  = "/portal/webhooks/{webhook}/resume"
	webhookRollPath    = "/portal/webhooks/{webhook}/roll"
	webhookReplayPath  = "/portal/webhooks/{webhook}/replay"
	webhookDeletePath  = "/portal/webhooks/{webhook}/delete"
)

// webhookRoutes are the pages about webhook endpoints. Members can look; admins decide
// where events go.
func (p *Pages) webhookRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: webhooksPath, Right: portal.OrgMember, Serve: p.showWebhooks},
		{Method: get, Path: newWebhookPath, Right: portal.OrgAdmin, Serve: p.showNewWebhook},
		{Method: post, Path: newWebhookPath, Right: portal.OrgAdmin, Prove: true, Serve: p.createWebhook},
		{Method: get, Path: webhookPath, Right: portal.OrgMember, Serve: p.showWebhook},
		{Method: post, Path: webhookConfirmPath, Right: portal.OrgAdmin, Serve: p.confirmWebhook},
		{Method: post, Path: webhookTestPath, Right: portal.OrgAdmin, Serve: p.testWebhook},
		{Method: post, Path: webhookAgainPath, Right: portal.OrgAdmin, Serve: p.sendWebhookAgain},
		{Method: post, Path: webhookPausePath, Right: portal.OrgAdmin, Serve: p.pauseWebhook},
		{Method: post, Path: webhookResumePath, Right: portal.OrgAdmin, Serve: p.resumeWebhook},
		{Method: get, Path: webhookRollPath, Right: portal.OrgAdmin, Serve: p.confirmRollWebhook},
		{Method: post, Path: webhookRollPath, Right: portal.OrgAdmin, Prove: true, Serve: p.rollWebhook},
		{Method: get, Path: webhookReplayPath, Right: portal.OrgAdmin, Serve: p.confirmReplayWebhook},
		{Method: post, Path: webhookReplayPath, Right: portal.OrgAdmin, Serve: p.replayWebhook},
		{Method: get, Path: webhookDeletePath, Right: portal.OrgAdmin, Serve: p.confirmDeleteWebhook},
		{Method: post, Path: webhookDeletePath, Right: portal.OrgAdmin, Prove: true, Serve: p.deleteWebhook},
	}
}

var webhookCrumb = []view.Link{{Label: "Webhooks", Href: webhooksPath}}

// showWebhooks serves GET /portal/webhooks.
func (p *Pages) showWebhooks(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	list, err := p.Webhooks.Endpoints(r.Context(), feed.Owner{Entity: v.Who.Entity})
	if err != nil {
		return err
	}
	d := orgview.WebhooksData{Now: p.Now(), Admin: v.Has(portal.OrgAdmin)}
	for i := range list {
		d.Rows = append(d.Rows, webhookRow(&list[i]))
	}
	page := view.Page{Title: "Webhooks", Lead: "The service sends the events of your feed to these addresses, in order, as soon as they happen."}
	if d.Admin {
		page.Actions = []view.Action{{Label: "Add endpoint", Href: newWebhookPath, Kind: view.Primary}}
	}
	return p.Show(w, r, page, orgview.Webhooks(d))
}

// webhookRow is an endpoint as pages show it.
func webhookRow(e *webhook.Endpoint) orgview.WebhookRow {
	row := orgview.WebhookRow{
		ID: e.ID.String(), Name: e.Name, URL: e.URL, Mode: e.Mode, Single: e.Form == webhook.Single, Algorithm: "Ed25519", Created: e.CreatedAt,
		Delivered: e.DeliveredAt, FailingSince: e.FailingSince, NextAt: e.NextAt, Failures: e.Failures, Behind: e.Behind, Dead: e.Dead, OldKeyUntil: e.PreviousUntil,
		Confirmed: e.State != webhook.Unconfirmed, Active: e.State == webhook.Active, Paused: e.State == webhook.Paused,
	}
	if e.Algorithm == hooksign.HMAC {
		row.Algorithm = "HMAC-SHA-256"
	}
	row.State, row.Tone = webhookState(e)
	return row
}

func webhookState(e *webhook.Endpoint) (string, view.Tone) {
	switch {
	case e.State == webhook.Unconfirmed:
		return "Not confirmed", view.Info
	case e.State == webhook.Paused:
		return "Paused", view.Neutral
	case e.State == webhook.Disabled:
		return "Disabled", view.Bad
	case e.CircuitOpen():
		return "Failing", view.Bad
	case e.Failing():
		return "Failing", view.Warn
	}
	return "Active", view.Good
}

// webhookNote says what to know about the state of an endpoint; "" for nothing.
func webhookNote(e *webhook.Endpoint) string {
	switch {
	case e.State == webhook.Unconfirmed:
		return "This endpoint gets no events yet. It has to answer a signed challenge first: start your receiver, then send the challenge."
	case e.State == webhook.Disabled && e.Reason == webhook.ReasonGone:
		return "This endpoint is disabled, because it answered 410 Gone. When it works again, send the challenge: it then gets the events that wait."
	case e.State == webhook.Disabled:
		return "This endpoint is disabled, because it accepted nothing for three days. When it works again, send the challenge: it then gets the events that wait."
	case e.State == webhook.Active && e.CircuitOpen():
		return "This endpoint fails again and again, and is tried only from time to time. Nothing is lost: the events wait. After three days it is disabled."
	}
	return ""
}

var newWebhookPage = view.Page{
	Title: "New endpoint", Lead: "It gets no events before it has answered a challenge, which you send on its page.", Crumbs: webhookCrumb, Active: webhooksPath,
}

// showNewWebhook serves GET /portal/new-webhook.
func (p *Pages) showNewWebhook(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, newWebhookPage, orgview.NewWebhook(view.Form{}))
}

// createWebhook serves POST /portal/new-webhook. If the key is a secret, it is shown in
// this response and never again.
func (p *Pages) createWebhook(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	mode := r.PostFormValue("mode")
	if mode != "live" {
		mode = "test"
	}
	c, err := p.Webhooks.Create(r.Context(), feed.Owner{Entity: v.Who.Entity, Mode: mode}, webhook.NewForm{
		Name: r.PostFormValue("name"), URL: strings.TrimSpace(r.PostFormValue("url")), Form: webhook.Form(r.PostFormValue("form")), Algorithm: hooksign.Algorithm(r.PostFormValue("algorithm")),
	}, webhookBy(r))
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, newWebhookPage, orgview.NewWebhook(form))
	}
	if err != nil {
		return err
	}
	return p.showWebhookKey(w, r, &c, "Your new endpoint")
}

func (p *Pages) showWebhookKey(w http.ResponseWriter, r *http.Request, c *webhook.Created, title string) error {
	d := orgview.WebhookKeyData{Row: webhookRow(&c.Endpoint), Key: c.Key.Reveal(), Secret: c.Algorithm == hooksign.HMAC}
	lead := "Give this public key to your receiver."
	if d.Secret {
		lead = "Copy the secret now. It cannot be shown again."
	}
	return p.Show(w, r, view.Page{Title: title, Lead: lead, Crumbs: webhookCrumb, Active: webhooksPath}, orgview.WebhookKey(d))
}

func webhookBy(r *http.Request) webhook.By {
	v := portal.VisitOf(r)
	return webhook.By{Actor: v.Who.Actor(), Request: v.ID}
}

// ownWebhook returns the endpoint that the path names, if it belongs to the visitor's
// organisation.
func (p *Pages) ownWebhook(r *http.Request) (feed.Owner, webhook.Endpoint, error) {
	o := feed.Owner{Entity: portal.VisitOf(r).Who.Entity}
	id, err := portal.PathID(r, "webhook")
	if err != nil {
		return o, webhook.Endpoint{}, err
	}
	e, err := p.Webhooks.Endpoint(r.Context(), o, id)
	return o, e, err
}

const (
	attemptsPerPage = 25
	deadShown       = 100
)

// showWebhook serves GET /portal/webhooks/{webhook}.
func (p *Pages) showWebhook(w http.ResponseWriter, r *http.Request) error {
	_, e, err := p.ownWebhook(r)
	if err != nil {
		return err
	}
	return p.webhookPage(w, r, &e, nil)
}

// webhookPage shows an endpoint, with an error of the visitor's last action if there is
// one.
func (p *Pages) webhookPage(w http.ResponseWriter, r *http.Request, e *webhook.Endpoint, problem error) error {
	ctx, o := r.Context(), e.Owner()
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	attempts, err := p.Webhooks.Attempts(ctx, o, e.ID, max(before, 0), attemptsPerPage+1)
	if err != nil {
		return err
	}
	dead, err := p.Webhooks.Dead(ctx, o, e.ID, deadShown)
	if err != nil {
		return err
	}
	d := orgview.WebhookData{Row: webhookRow(e), Now: p.Now(), Admin: portal.VisitOf(r).Has(portal.OrgAdmin), PublicKey: p.Webhooks.PublicKey(e), Note: webhookNote(e)}
	if before > 0 {
		d.First = webhookURL(e)
	}
	if len(attempts) > attemptsPerPage {
		attempts = attempts[:attemptsPerPage]
		d.Next = webhookURL(e) + "?before=" + strconv.FormatInt(attempts[attemptsPerPage-1].N, 10)
	}
	for i := range attempts {
		d.Attempts = append(d.Attempts, attemptRow(&attempts[i]))
	}
	for i := range dead {
		d.Dead = append(d.Dead, orgview.DeadRow{
			Seq: dead[i].Seq, Type: dead[i].Type, Refusals: dead[i].Refusals, Died: dead[i].DiedAt, Status: strconv.Itoa(dead[i].Status), Answer: printable(dead[i].Answer), Sent: dead[i].SentAt,
		})
	}
	page := view.Page{Title: e.Name, Crumbs: webhookCrumb, Active: webhooksPath}
	if problem == nil {
		return p.Show(w, r, page, orgview.Webhook(d))
	}
	d.Form, _ = portal.FormErrors(r, problem)
	return p.ShowInvalid(w, r, problem, page, orgview.Webhook(d))
}

func webhookURL(e *webhook.Endpoint) string { return webhooksPath + "/" + e.ID.String() }

func attemptRow(a *webhook.Attempt) orgview.AttemptRow {
	row := orgview.AttemptRow{At: a.At, First: a.First, Last: a.Last, Events: a.Events, Message: a.Message, Took: strconv.FormatInt(a.Took.Milliseconds(), 10) + " ms", Answer: printable(a.Answer)}
	switch a.Kind {
	case webhook.KindTest:
		row.What = "Test event"
	case webhook.KindChallenge:
		row.What = "Challenge"
	case webhook.KindAgain:
		row.What = "Sent again"
	case webhook.KindEvents:
		row.What = "Events"
	}
	switch {
	case a.Message == "": // there was no request
		row.Result, row.Tone, row.Took, row.Note = "Not sent", view.Warn, "", "The feed had archived these events before the endpoint could get them."
	case a.Error != "":
		row.Result, row.Tone, row.Note = "No answer", view.Bad, strings.ToUpper(a.Error[:1])+a.Error[1:]+"."
	case a.Succeeded():
		row.Result, row.Tone = strconv.Itoa(a.Status)+" "+http.StatusText(a.Status), view.Good
	default:
		row.Result, row.Tone = strings.TrimSpace(strconv.Itoa(a.Status)+" "+http.StatusText(a.Status)), view.Bad
	}
	return row
}

// printable returns an answer as text: what is no text is replaced.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(string(b), "\r\n", "\n"), "\uFFFD"))
}
