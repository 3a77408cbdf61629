package portal

import (
	"cmp"
	"net/http"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// Action is something that is done to a T after a page has asked whether it shall be.
type Action[T any] struct {
	Path   string
	Right  Right
	Change stepup.Action                      // what it changes, see [Route]
	Ask    func(*T, kit.Form) kit.ConfirmData // the page that asks, with what was sent and is wrong
	// Do does it, and returns the message for the page to which it leads: that of the button
	// to go back, or Done.
	Do   func(*http.Request, *Visit, *T) (flash string, err error)
	Done string
}

// Actions returns the routes of actions: for each, the page that asks, and its form. Load
// returns what the path names.
func Actions[T any](p *Portal, load func(*http.Request) (T, error), actions ...Action[T]) (routes []Route) {
	for _, a := range actions {
		get := Route{Method: http.MethodGet, Path: a.Path, Right: a.Right, Serve: func(w http.ResponseWriter, r *http.Request) error {
			t, err := load(r)
			if err != nil {
				return err
			}
			page := func(r *http.Request, f kit.Form) (kit.Page, templ.Component, error) {
				head, body := Question(r, a.Ask(&t, f), f)
				return head, body, nil
			}
			if r.Method != http.MethodPost {
				return p.ShowForm(page)(w, r)
			}
			flash, err := a.Do(r, VisitOf(r), &t)
			return p.EndForm(w, r, err, page, cmp.Or(a.Done, a.Ask(&t, kit.Form{}).Cancel), flash)
		}}
		post := get
		post.Method, post.Action = http.MethodPost, a.Change
		routes = append(routes, get, post)
	}
	return routes
}

// Question returns a page that asks before something is done.
func Question(r *http.Request, q kit.ConfirmData, f kit.Form) (kit.Page, templ.Component) {
	q.Form, q.Action = f, cmp.Or(q.Action, r.URL.Path)
	return kit.Page{Title: q.Title, Crumbs: q.Crumbs, Active: q.Crumbs[0].Href}, kit.Confirm(q)
}

// FormPage returns a page with a form, which is empty or has what was sent and what is wrong
// with it.
type FormPage func(*http.Request, kit.Form) (kit.Page, templ.Component, error)

// ShowForm serves a page with an empty form.
func (p *Portal) ShowForm(page FormPage) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		head, body, err := page(r, kit.Form{})
		if err != nil {
			return err
		}
		return p.Show(w, r, head, body)
	}
}

// EndForm ends a form that was sent: with its page if err can be corrected there, with err if
// it cannot, and with another page and a message if there is none.
func (p *Portal) EndForm(w http.ResponseWriter, r *http.Request, err error, page FormPage, to, flash string) error {
	if err != nil {
		return p.ShowErrors(w, r, err, page)
	}
	return p.RedirectWithFlash(w, r, to, flash)
}

// ShowErrors shows the page of a form again if err can be corrected there; otherwise it returns
// err.
func (p *Portal) ShowErrors(w http.ResponseWriter, r *http.Request, err error, page FormPage) error {
	form, invalid := FormErrors(r, err)
	if !invalid {
		return err
	}
	return p.ShowAgain(w, r, err, page, form)
}

// ShowAgain shows the page of a form with what was sent, because of err.
func (p *Portal) ShowAgain(w http.ResponseWriter, r *http.Request, err error, page FormPage, form kit.Form) error {
	head, body, failed := page(r, form)
	if failed != nil {
		return failed
	}
	return p.ShowInvalid(w, r, err, head, body)
}
