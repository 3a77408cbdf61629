package portal

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/supply"
)

// importStep is something that somebody can do with an import: what they are
// asked before, what is done, and what is said afterwards.
type importStep struct {
	title, text, label, word string
	kind                     view.Kind
	do                       func(d *supply.Desk, ctx context.Context, id uuid.UUID, by audit.Actor) (supply.Import, error)
	said                     string
	typed                    bool // the network's code has to be typed first
}

var (
	meanStep = importStep{
		title: "Say that the file is meant", word: "mean", label: "It is meant", kind: view.Primary, do: (*supply.Desk).Mean, said: "import.meant",
		text: "You say that the file is whole and right, although it would change so much. The regulator's staff see that, and decide: the file is applied when they confirm it.",
	}
	confirmStep = importStep{
		title: "Confirm the file", word: "confirm", label: "Confirm", kind: view.Primary, do: (*supply.Desk).Confirm, said: "import.confirmed", typed: true,
		text: "The file becomes what is known of the network's lines: every answer follows it, and no button takes it back. Confirm it when you know from the operator why it differs so much.",
	}
	cancelStep = importStep{
		title: "End the import", word: "cancel", label: "End the import", kind: view.Danger, do: (*supply.Desk).Cancel, said: "import.cancelled",
		text: "The import ends here. Rows that it has applied stay, the others are not applied. The operator can send another file.",
	}
	withdrawStep = importStep{
		title: "Withdraw the file", word: "withdraw", label: "Withdraw", kind: view.Danger, do: (*supply.Desk).Withdraw, said: "import.withdrawn",
		text: "Nothing of this file is applied, and it is gone. You can send another at once.",
	}
)

// importPlace is an import on the pages of those who may do something with it.
type importPlace struct {
	im         *supply.Import
	network    string // its code
	base, menu string
}

func (of importPlace) href() string { return importHref(of.base, of.im.ID) }

func (of importPlace) page(step *importStep) view.Page {
	above := map[string]string{supplyPath: supplyPage.Title, boardPath: boardPage.Title}[of.menu]
	return view.Page{Title: step.title, Crumbs: []view.Link{{Label: above, Href: of.menu}, {Label: importTitles[of.im.Kind == linefile.Snapshot], Href: of.href()}}, Active: of.menu}
}

func (of importPlace) question(step *importStep, f view.Form) view.ConfirmData {
	q := view.ConfirmData{Text: step.text, Action: of.href() + "/" + step.word, Label: step.label, Kind: step.kind, Cancel: of.href(), Form: f}
	if of.im.Reason != "" {
		q.Text = of.im.Reason + " " + step.text
	}
	if step.typed {
		q.Word = of.network
	}
	return q
}

// step asks before a step, or takes it.
func (p *Portal) step(w http.ResponseWriter, r *http.Request, step *importStep, of importPlace) error {
	if r.Method != http.MethodPost {
		return p.show(w, r, of.page(step), view.Confirm(of.question(step, view.Form{})))
	}
	var wrong fault.Form
	wrong.Check(!step.typed || strings.EqualFold(strings.TrimSpace(r.PostFormValue("confirm")), of.network), "confirm", fault.NotAllowed, "Type "+of.network+".")
	err := wrong.Err()
	if err == nil {
		_, err = step.do(p.Lines, r.Context(), of.im.ID, visitOf(r).who.Actor())
	}
	if form, wrong := formOf(r, err); wrong {
		return p.showAgain(w, r, err, of.page(step), view.Confirm(of.question(step, form)))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, of.href(), step.said)
}

// ownStep asks about a step with one of the visitor's imports, or takes it.
func (p *Portal) ownStep(w http.ResponseWriter, r *http.Request, step *importStep) error {
	im, rules, err := p.ownImport(r)
	if err != nil {
		return err
	}
	return p.step(w, r, step, importPlace{im: &im, network: rules.plan.Code(im.Network), base: importsPath, menu: supplyPath})
}

// meanImport serves GET and POST /portal/supply/imports/{import}/mean.
func (p *Portal) meanImport(w http.ResponseWriter, r *http.Request) error {
	return p.ownStep(w, r, &meanStep)
}

// withdrawImport serves GET and POST /portal/supply/imports/{import}/withdraw.
func (p *Portal) withdrawImport(w http.ResponseWriter, r *http.Request) error {
	return p.ownStep(w, r, &withdrawStep)
}

// staffStep asks about a step with any import, or takes it.
func (p *Portal) staffStep(w http.ResponseWriter, r *http.Request, step *importStep) error {
	rules, err := p.lineRules(r)
	if err != nil {
		return err
	}
	im, err := p.importNamed(r)
	if err != nil {
		return err
	}
	return p.step(w, r, step, importPlace{im: &im, network: rules.plan.Code(im.Network), base: boardImportsBase, menu: boardPath})
}
