package org

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/feed"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/webhook"
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

func (p *Pages) webhookQuestion(w http.ResponseWriter, r *http.Request, title string, question func(e *webhook.Endpoint) view.ConfirmData) error {
	_, e, err := p.ownWebhook(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, webhookActionPage(&e, title), view.Confirm(question(&e)))
}

func webhookActionPage(e *webhook.Endpoint, title string) view.Page {
	return view.Page{Title: title, Crumbs: append(webhookCrumb[:1:1], view.Link{Label: e.Name, Href: webhookURL(e)}), Active: webhooksPath}
}

// confirmRollWebhook serves GET /portal/webhooks/{webhook}/roll.
func (p *Pages) confirmRollWebhook(w http.ResponseWriter, r *http.Request) error {
	return p.webhookQuestion(w, r, "Roll key", func(e *webhook.Endpoint) view.ConfirmData { return rollWebhookQuestion(e, view.Form{}) })
}

func rollWebhookQuestion(e *webhook.Endpoint, f view.Form) view.ConfirmData {
	return view.ConfirmData{
		Text:   "This generates a new key for “" + e.Name + "”. For 24 hours requests are signed with both keys, so that your receiver can switch over.",
		Action: webhookURL(e) + "/roll", Label: "Roll key", Kind: view.Primary, Cancel: webhookURL(e), Form: f,
	}
}

// rollWebhook serves POST /portal/webhooks/{webhook}/roll.
func (p *Pages) rollWebhook(w http.ResponseWriter, r *http.Request) error {
	o, e, err := p.ownWebhook(r)
	if err != nil {
		return err
	}
	c, err := p.Webhooks.Roll(r.Context(), o, e.ID, webhookBy(r))
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, webhookActionPage(&e, "Roll key"), view.Confirm(rollWebhookQuestion(&e, form)))
	}
	if err != nil {
		return err
	}
	return p.showWebhookKey(w, r, &c, "The new key")
}

// confirmReplayWebhook serves GET /portal/webhooks/{webhook}/replay.
func (p *Pages) confirmReplayWebhook(w http.ResponseWriter, r *http.Request) error {
	return p.webhookQuestion(w, r, "Send events again", func(e *webhook.Endpoint) view.ConfirmData { return replayQuestion(e, view.Form{}) })
}

func replayQuestion(e *webhook.Endpoint, f view.Form) view.ConfirmData {
	return view.ConfirmData{
		Text:   "All events after the cursor are sent to “" + e.Name + "” again, in their order. Your receiver recognises them by their ids.",
		Action: webhookURL(e) + "/replay", Label: "Send events again", Kind: view.Primary, Cancel: webhookURL(e), Form: f, Extra: orgview.ReplayCursor(f),
	}
}

// replayWebhook serves POST /portal/webhooks/{webhook}/replay.
func (p *Pages) replayWebhook(w http.ResponseWriter, r *http.Request) error {
	o, e, err := p.ownWebhook(r)
	if err != nil {
		return err
	}
	_, err = p.Webhooks.Replay(r.Context(), o, e.ID, strings.TrimSpace(r.PostFormValue("after")), webhookBy(r))
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, webhookActionPage(&e, "Send events again"), view.Confirm(replayQuestion(&e, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, webhookURL(&e), "webhook.replayed")
}

// confirmDeleteWebhook serves GET /portal/webhooks/{webhook}/delete.
func (p *Pages) confirmDeleteWebhook(w http.ResponseWriter, r *http.Request) error {
	return p.webhookQuestion(w, r, "Delete endpoint", func(e *webhook.Endpoint) view.ConfirmData {
		return view.ConfirmData{
			Text:   "“" + e.Name + "” gets no more events, and its attempts are deleted. The events stay in your feed.",
			Action: webhookURL(e) + "/delete", Label: "Delete endpoint", Kind: view.Danger, Cancel: webhookURL(e),
		}
	})
}

// deleteWebhook serves POST /portal/webhooks/{webhook}/delete.
func (p *Pages) deleteWebhook(w http.ResponseWriter, r *http.Request) error {
	o, e, err := p.ownWebhook(r)
	if err != nil {
		return err
	}
	if err := p.Webhooks.Delete(r.Context(), o, e.ID, webhookBy(r)); err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, webhooksPath, "webhook.deleted")
}
