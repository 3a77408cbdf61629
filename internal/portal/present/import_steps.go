package present

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/order"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/supply"
)

// ImportStep is an action on an import: the confirmation page before it, the call
// that carries it out, and the message after it.
type ImportStep struct {
	title, text, label string
	heldText           string // instead of text, for a file that is held
	verb               string // the end of the path
	kind               view.Kind
	do                 func(d *supply.Service, ctx context.Context, id uuid.UUID, by audit.Actor) (supply.Import, error)
	message            string
	// request replaces do for what takes two people: a reason has to be given. It returns
	// the approval that must be confirmed.
	request func(o *order.Service, ctx context.Context, d order.ImportDecision) (pending uuid.UUID, err error)
}

// The steps of the operator (ConfirmIntentStep, WithdrawStep) and of the
// regulator's staff (ConfirmStep, CancelStep).
var (
	ConfirmIntentStep = ImportStep{
		title: "Confirm this is intentional", verb: "mean", label: "Confirm this is intentional", kind: view.Primary, do: (*supply.Service).ConfirmIntent, message: "import.meant",
		text: "You confirm that the file is complete and correct, although it would change so many lines. The regulator's staff see your confirmation and decide: the file is applied when they confirm it.",
	}
	ConfirmStep = ImportStep{
		title: "Apply held file", verb: "confirm", label: "Request approval", kind: view.Danger, request: (*order.Service).ConfirmHeld, message: "import.requested",
		text: "The file replaces what is stored about the network's lines, and every answer follows it. Request it when you know from the operator why it differs so much. It is applied when a second person has confirmed it, under Approvals.",
	}
	CancelStep = ImportStep{
		title: "Cancel import", verb: "cancel", label: "Cancel import", kind: view.Danger, do: (*supply.Service).Cancel, message: "import.cancelled",
		text:     "The import stops here. Rows that it has applied stay; the others are not applied. The operator can send another file.",
		heldText: "Nothing of the file is applied, and nothing of it will be. The operator can send another file.",
	}
	WithdrawStep = ImportStep{
		title: "Withdraw file", verb: "withdraw", label: "Withdraw file", kind: view.Danger, do: (*supply.Service).Withdraw, message: "import.withdrawn",
		text: "Nothing of this file is applied, and the file is deleted. You can send another at once.",
	}
)

// ImportContext is an import and the pages on which a step with it is shown.
type ImportContext struct {
	Import  *supply.Import
	Network string    // its code
	Base    string    // the address below which the import's page is
	Parent  view.Link // the page above it, for the breadcrumb and the menu

	examples []orgview.ExampleGroup
}

func (c ImportContext) href() string { return ImportURL(c.Base, c.Import.ID) }

func (c ImportContext) page(step *ImportStep) view.Page {
	crumbs := []view.Link{c.Parent, {Label: importTitle(c.Import.Kind == linefile.Snapshot), Href: c.href()}}
	return view.Page{Title: step.title, Crumbs: crumbs, Active: c.Parent.Href}
}

func (c ImportContext) question(step *ImportStep, f view.Form) view.ConfirmData {
	text := step.text
	if c.Import.State == supply.Held && step.heldText != "" {
		text = step.heldText
	}
	q := view.ConfirmData{Text: text, Action: c.href() + "/" + step.verb, Label: step.label, Kind: step.kind, Cancel: c.href(), Form: f}
	if c.Import.Reason != "" {
		q.Text = c.Import.Reason + " " + text
	}
	if step.request != nil {
		q.Reason = true
		n := c.Import.Counts
		q.Extra = orgview.ImportEffect(orgview.EffectData{
			Network: c.Network, Added: n.Added, Changed: n.Changed, Ended: n.Ended, Unchanged: n.Unchanged, Rejected: n.Refused, Examples: c.examples,
		})
	}
	return q
}

// ServeStep shows the confirmation page of a step on GET and carries the step
// out on POST.
func (s Supply) ServeStep(w http.ResponseWriter, r *http.Request, step *ImportStep, c ImportContext) error {
	if step.request != nil {
		examples, err := s.exampleGroups(r, c.Import)
		if err != nil {
			return err
		}
		c.examples = examples
	}
	if r.Method != http.MethodPost {
		return s.Show(w, r, c.page(step), view.Confirm(c.question(step, view.Form{})))
	}
	v := portal.VisitOf(r)
	var err error
	if step.request != nil {
		_, err = step.request(&order.Service{Supply: s.Lines}, r.Context(), order.ImportDecision{
			Import: c.Import.ID, Reason: portal.OneLine(r.PostFormValue("reason")), By: v.Who.Actor(), Request: v.ID,
		})
	} else {
		_, err = step.do(s.Lines, r.Context(), c.Import.ID, v.Who.Actor())
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		return s.ShowInvalid(w, r, err, c.page(step), view.Confirm(c.question(step, form)))
	}
	if err != nil {
		return err
	}
	return s.RedirectWithFlash(w, r, c.href(), step.message)
}
