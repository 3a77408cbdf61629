// Package webhooks has the pages of webhook endpoints: where an organisation's events go, and
// what became of each attempt to send them.
package webhooks

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// Pages serves the pages. Both fields are required.
type Pages struct {
	*portal.Portal

	Webhooks *webhook.Service
}

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

// Routes returns the routes of these pages. Members can look; admins decide
// where events go.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return append([]portal.Route{
		{Method: get, Path: webhooksPath, Right: portal.OrgMember, Serve: p.showWebhooks},
		{Method: get, Path: newWebhookPath, Right: portal.OrgAdmin, Serve: p.ShowForm(p.newWebhook)},
		{Method: post, Path: newWebhookPath, Right: portal.OrgAdmin, Action: stepup.CreateWebhook, Serve: p.createWebhook},
		{Method: get, Path: webhookPath, Right: portal.OrgMember, Serve: p.showWebhook},
		{Method: post, Path: webhookConfirmPath, Right: portal.OrgAdmin, Action: stepup.SendWebhook, Serve: p.confirmWebhook},
		{Method: post, Path: webhookTestPath, Right: portal.OrgAdmin, Action: stepup.SendWebhook, Serve: p.testWebhook},
		{Method: post, Path: webhookAgainPath, Right: portal.OrgAdmin, Action: stepup.SendWebhook, Serve: p.sendWebhookAgain},
		{Method: post, Path: webhookPausePath, Right: portal.OrgAdmin, Action: stepup.PauseWebhook, Serve: p.pauseWebhook},
		{Method: post, Path: webhookResumePath, Right: portal.OrgAdmin, Action: stepup.ResumeWebhook, Serve: p.resumeWebhook},
		{Method: get, Path: webhookRollPath, Right: portal.OrgAdmin, Serve: p.ShowForm(p.rollPage)},
		{Method: post, Path: webhookRollPath, Right: portal.OrgAdmin, Action: stepup.RollWebhook, Serve: p.rollWebhook},
	}, portal.Actions(p.Portal, p.ownEndpoint,
		portal.Action[webhook.Endpoint]{Path: webhookReplayPath, Right: portal.OrgAdmin, Change: stepup.SendWebhook, Ask: replayQuestion, Do: p.replayWebhook},
		portal.Action[webhook.Endpoint]{Path: webhookDeletePath, Right: portal.OrgAdmin, Change: stepup.DeleteWebhook, Ask: deleteQuestion, Do: p.deleteWebhook, Done: webhooksPath},
	)...)
}

var webhookCrumb = []kit.Link{{Label: "Webhooks", Href: webhooksPath}}

// showWebhooks serves GET /portal/webhooks.
func (p *Pages) showWebhooks(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	list, err := p.Webhooks.Endpoints(r.Context(), feed.Owner{Entity: v.Who.Entity})
	if err != nil {
		return err
	}
	d := WebhooksData{Rows: list, Now: p.Now(), Admin: v.Has(portal.OrgAdmin)}
	page := kit.Page{Title: "Webhooks", Lead: "The service sends the events of your feed to these addresses, in order, as soon as they happen."}
	if d.Admin {
		page.Actions = []kit.Action{{Label: "Add endpoint", Href: newWebhookPath, Kind: kit.Primary}}
	}
	return p.Show(w, r, page, Webhooks(d))
}

var newWebhookPage = kit.Page{
	Title: "New endpoint", Lead: "It gets no events before it has answered a challenge, which you send on its page.", Crumbs: webhookCrumb, Active: webhooksPath,
}

// newWebhook is the page /portal/new-webhook.
func (p *Pages) newWebhook(_ *http.Request, f kit.Form) (kit.Page, templ.Component, error) {
	return newWebhookPage, NewWebhook(f), nil
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
		Name: r.PostFormValue("name"), URL: strings.TrimSpace(r.PostFormValue("url")), Form: webhook.Form(r.PostFormValue("form")), Algorithm: webhook.Algorithm(r.PostFormValue("algorithm")),
	}, webhookBy(r))
	if err != nil {
		return p.ShowErrors(w, r, err, p.newWebhook)
	}
	return p.showWebhookKey(w, r, &c, "Your new endpoint")
}

func (p *Pages) showWebhookKey(w http.ResponseWriter, r *http.Request, c *webhook.Created, title string) error {
	d := WebhookKeyData{Row: &c.Endpoint, Key: c.Key.Reveal(), Secret: c.Algorithm == webhook.HMAC}
	lead := "Give this public key to your receiver."
	if d.Secret {
		lead = "Copy the secret now. It cannot be shown again."
	}
	return p.Show(w, r, kit.Page{Title: title, Lead: lead, Crumbs: webhookCrumb, Active: webhooksPath}, WebhookKey(d))
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
	d := WebhookData{Row: e, Dead: dead, Now: p.Now(), Admin: portal.VisitOf(r).Has(portal.OrgAdmin), PublicKey: p.Webhooks.PublicKey(e)}
	if before > 0 {
		d.First = webhookURL(e)
	}
	if len(attempts) > attemptsPerPage {
		attempts = attempts[:attemptsPerPage]
		d.Next = webhookURL(e) + "?before=" + strconv.FormatInt(attempts[attemptsPerPage-1].N, 10)
	}
	d.Attempts = attempts
	page := kit.Page{Title: e.Name, Crumbs: webhookCrumb, Active: webhooksPath}
	if problem == nil {
		return p.Show(w, r, page, Webhook(d))
	}
	d.Form, _ = portal.FormErrors(r, problem)
	return p.ShowInvalid(w, r, problem, page, Webhook(d))
}

func webhookURL(e *webhook.Endpoint) string { return webhooksPath + "/" + e.ID.String() }
