package operators

import (
	"context"
	"net/http"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// ImportStep is an action on an import: the confirmation page before it, the call
// that carries it out, and the message after it.
type ImportStep struct {
	title, text, label string
	heldText           string // instead of text, for a file that is held
	kind               kit.Kind
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
		title: "Confirm this is intentional", label: "Confirm this is intentional", kind: kit.Primary, do: (*supply.Service).ConfirmIntent, message: "import.meant",
		text: "You confirm that the file is complete and correct, although it would change so many lines. The regulator's staff see your confirmation and decide: the file is applied when they confirm it.",
	}
	ConfirmStep = ImportStep{
		title: "Apply held file", label: "Request approval", kind: kit.Danger, request: (*order.Service).ConfirmHeld, message: "import.requested",
		text: "The file replaces what is stored about the network's lines, and every answer follows it. Request it when you know from the operator why it differs so much. It is applied when a second person has confirmed it, under Approvals.",
	}
	CancelStep = ImportStep{
		title: "Cancel import", label: "Cancel import", kind: kit.Danger, do: (*supply.Service).Cancel, message: "import.cancelled",
		text:     "The import stops here. Rows that it has applied stay; the others are not applied. The operator can send another file.",
		heldText: "Nothing of the file is applied, and nothing of it will be. The operator can send another file.",
	}
	WithdrawStep = ImportStep{
		title: "Withdraw file", label: "Withdraw file", kind: kit.Danger, do: (*supply.Service).Withdraw, message: "import.withdrawn",
		text: "Nothing of this file is applied, and the file is deleted. You can send another at once.",
	}
)

// ImportContext is an import and the pages on which a step with it is shown.
type ImportContext struct {
	Import  *supply.Import
	Network string   // its code
	Base    string   // the address below which the import's page is
	Parent  kit.Link // the page above it, for the breadcrumb and the menu

	examples []ExampleGroup
}

func (c ImportContext) href() string { return ImportURL(c.Base, c.Import.ID) }

func (c ImportContext) question(step *ImportStep) kit.ConfirmData {
	q := kit.ConfirmData{
		Title: step.title, Crumbs: []kit.Link{c.Parent, {Label: importTitle(c.Import.Kind == linefile.Snapshot), Href: c.href()}},
		Text: step.text, Label: step.label, Kind: step.kind, Cancel: c.href(), Reason: step.request != nil,
	}
	if c.Import.State == supply.Held && step.heldText != "" {
		q.Text = step.heldText
	}
	if c.Import.Reason != "" {
		q.Text = c.Import.Reason + " " + q.Text
	}
	if step.request != nil {
		n := c.Import.Counts
		q.Extra = ImportEffect(EffectData{
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
	page := func(r *http.Request, f kit.Form) (kit.Page, templ.Component, error) {
		head, body := portal.Question(r, c.question(step), f)
		return head, body, nil
	}
	if r.Method != http.MethodPost {
		return s.ShowForm(page)(w, r)
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
	return s.EndForm(w, r, err, page, c.href(), step.message)
}
