package webhooks

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// changeWebhook does something with the endpoint of the path, and returns to its page. A
// problem that the visitor can solve is shown there.
func (p *Pages) changeWebhook(w http.ResponseWriter, r *http.Request, do func(ctx context.Context, o feed.Owner, id uuid.UUID) (flash string, err error)) error {
	o, e, err := p.ownWebhook(r)
	if err != nil {
		return err
	}
	flash, err := do(r.Context(), o, e.ID)
	if _, invalid := portal.FormErrors(r, err); invalid {
		return p.webhookPage(w, r, &e, err)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, webhookURL(&e), flash)
}

// confirmWebhook serves POST /portal/webhooks/{webhook}/confirm.
func (p *Pages) confirmWebhook(w http.ResponseWriter, r *http.Request) error {
	return p.changeWebhook(w, r, func(ctx context.Context, o feed.Owner, id uuid.UUID) (string, error) {
		_, err := p.Webhooks.Confirm(ctx, o, id, webhookBy(r))
		return "webhook.confirmed", err
	})
}

// pauseWebhook serves POST /portal/webhooks/{webhook}/pause.
func (p *Pages) pauseWebhook(w http.ResponseWriter, r *http.Request) error {
	return p.changeWebhook(w, r, func(ctx context.Context, o feed.Owner, id uuid.UUID) (string, error) {
		_, err := p.Webhooks.Pause(ctx, o, id, webhookBy(r))
		return "webhook.paused", err
	})
}

// resumeWebhook serves POST /portal/webhooks/{webhook}/resume.
func (p *Pages) resumeWebhook(w http.ResponseWriter, r *http.Request) error {
	return p.changeWebhook(w, r, func(ctx context.Context, o feed.Owner, id uuid.UUID) (string, error) {
		_, err := p.Webhooks.Resume(ctx, o, id, webhookBy(r))
		return "webhook.resumed", err
	})
}

func sentFlash(a *webhook.Attempt) string {
	if a.Succeeded() {
		return "webhook.sent"
	}
	return "webhook.not.sent"
}

// testWebhook serves POST /portal/webhooks/{webhook}/test.
func (p *Pages) testWebhook(w http.ResponseWriter, r *http.Request) error {
	return p.changeWebhook(w, r, func(ctx context.Context, o feed.Owner, id uuid.UUID) (string, error) {
		a, err := p.Webhooks.SendTest(ctx, o, id)
		return sentFlash(&a), err
	})
}

// sendWebhookAgain serves POST /portal/webhooks/{webhook}/again.
func (p *Pages) sendWebhookAgain(w http.ResponseWriter, r *http.Request) error {
	return p.changeWebhook(w, r, func(ctx context.Context, o feed.Owner, id uuid.UUID) (string, error) {
		first, err := strconv.ParseInt(r.PostFormValue("first"), 10, 64)
		last, errLast := strconv.ParseInt(r.PostFormValue("last"), 10, 64)
		if err != nil || errLast != nil || first < 1 || last < first {
			return "", fault.New(fault.InvalidArgument, "Choose the events to send again from the list of attempts.")
		}
		a, err := p.Webhooks.SendAgain(ctx, o, id, first, last)
		return sentFlash(&a), err
	})
}

// ownEndpoint returns the endpoint that the path names.
func (p *Pages) ownEndpoint(r *http.Request) (webhook.Endpoint, error) {
	_, e, err := p.ownWebhook(r)
	return e, err
}

func webhookCrumbs(e *webhook.Endpoint) []kit.Link {
	return append(webhookCrumb[:1:1], kit.Link{Label: e.Name, Href: webhookURL(e)})
}

// rollPage is the page /portal/webhooks/{webhook}/roll.
func (p *Pages) rollPage(r *http.Request, f kit.Form) (page kit.Page, body templ.Component, err error) {
	e, err := p.ownEndpoint(r)
	if err != nil {
		return page, nil, err
	}
	page, body = portal.Question(r, kit.ConfirmData{
		Title: "Roll key", Crumbs: webhookCrumbs(&e), Label: "Roll key", Kind: kit.Primary, Cancel: webhookURL(&e),
		Text: "This generates a new key for “" + e.Name + "”. For 24 hours requests are signed with both keys, so that your receiver can switch over.",
	}, f)
	return page, body, nil
}

// rollWebhook serves POST /portal/webhooks/{webhook}/roll.
func (p *Pages) rollWebhook(w http.ResponseWriter, r *http.Request) error {
	o, e, err := p.ownWebhook(r)
	if err != nil {
		return err
	}
	c, err := p.Webhooks.Roll(r.Context(), o, e.ID, webhookBy(r))
	if err != nil {
		return p.ShowErrors(w, r, err, p.rollPage)
	}
	return p.showWebhookKey(w, r, &c, "The new key")
}

func replayQuestion(e *webhook.Endpoint, f kit.Form) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "Send events again", Crumbs: webhookCrumbs(e), Label: "Send events again", Kind: kit.Primary, Cancel: webhookURL(e), Extra: ReplayCursor(f),
		Text: "All events after the cursor are sent to “" + e.Name + "” again, in their order. Your receiver recognises them by their ids.",
	}
}

func (p *Pages) replayWebhook(r *http.Request, v *portal.Visit, e *webhook.Endpoint) (string, error) {
	_, err := p.Webhooks.Replay(r.Context(), feed.Owner{Entity: v.Who.Entity}, e.ID, strings.TrimSpace(r.PostFormValue("after")), webhookBy(r))
	return "webhook.replayed", err
}

func deleteQuestion(e *webhook.Endpoint, _ kit.Form) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "Delete endpoint", Crumbs: webhookCrumbs(e), Label: "Delete endpoint", Kind: kit.Danger, Cancel: webhookURL(e),
		Text: "“" + e.Name + "” gets no more events, and its attempts are deleted. The events stay in your feed.",
	}
}

func (p *Pages) deleteWebhook(r *http.Request, v *portal.Visit, e *webhook.Endpoint) (string, error) {
	return "webhook.deleted", p.Webhooks.Delete(r.Context(), feed.Owner{Entity: v.Who.Entity}, e.ID, webhookBy(r))
}
