package portal_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Without scripts every page can be used: each link and each form leads to a route, each
// form can be submitted, what only a script can do is hidden, and what refreshes itself can
// be refreshed by hand. To every route that takes a form, a form of some page leads.
func TestPagesWorkWithoutScripts(t *testing.T) {
	t.Parallel()
	e := newEverything(t)
	reached := map[string]bool{}
	for _, p := range e.pages(t) {
		for _, form := range p.find("form") {
			reached[e.checkForm(t, p, form)] = true
		}
		for _, link := range p.find("a") {
			e.checkLink(t, p, link)
		}
		for n := range p.root.Descendants() {
			if href, ok := attribute(n, "hx-get"); ok && !refreshable(p, href) {
				t.Errorf("%s: %s comes by a script alone", p.name, href)
			}
			if kind, _ := attribute(n, "type"); n.Data == "button" && kind == "button" && !isHidden(n) {
				t.Errorf("%s: a button does nothing without a script", p.name)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "hx-") && !slices.Contains([]string{"hx-get", "hx-trigger", "hx-swap"}, a.Key) {
					t.Errorf("%s: %s sends something by a script alone", p.name, a.Key)
				}
			}
		}
	}
	for _, row := range e.Rows() {
		if row.Method == http.MethodPost && !reached[row.Path] && formsElsewhere[row.Path] == "" {
			t.Errorf("no form leads to %s", row.Path)
		}
	}
}

// formsElsewhere are routes to which no form of the pages here leads, and where it is.
var formsElsewhere = map[string]string{
	"/portal/sign-in/code":                                  "the answer to a right password",
	"/portal/security/prove":                                "the answer to an upload, when the password has to be entered again",
	"/portal/desk/documents/{document}/original/{approval}": "the page of a document, for whoever has requested its original, once another administrator has confirmed it",
}

// checkForm checks that a form can be submitted, and returns the route that takes it.
func (e *everything) checkForm(t *testing.T, p openedPage, form *html.Node) (route string) {
	t.Helper()
	if _, own := attribute(form, "data-receipt"); own {
		return "" // the browser verifies a receipt by itself; the page says what to use without scripts
	}
	method, _ := attribute(form, "method")
	action, named := attribute(form, "action")
	u, err := url.Parse(action)
	if err != nil || !named {
		t.Errorf("%s: a form has the action %q", p.name, action)
		return ""
	}
	row, ok := e.rowAt(strings.ToUpper(method), u.Path)
	if !ok {
		t.Errorf("%s: the form %s %s leads nowhere", p.name, method, action)
	}
	for n := range form.Descendants() {
		kind, _ := attribute(n, "type")
		if (n.Data == "button" && kind != "button" || n.Data == "input" && kind == "submit") && !isHidden(n) {
			return row.Path
		}
	}
	id, _ := attribute(form, "id")
	for _, b := range p.find("button") {
		if of, _ := attribute(b, "form"); of != "" && of == id {
			return row.Path
		}
	}
	t.Errorf("%s: the form %s has no button", p.name, action)
	return row.Path
}

// checkLink checks that a link leads to a page or to a part of this one.
func (e *everything) checkLink(t *testing.T, p openedPage, link *html.Node) {
	t.Helper()
	href, _ := attribute(link, "href")
	u, err := url.Parse(href)
	switch {
	case err != nil || href == "" || href == "#":
		t.Errorf("%s: a link leads to %q", p.name, href)
	case u.Path == "" || !strings.HasPrefix(u.Path, "/portal/"): // this page, or the guide
	default:
		if _, ok := e.rowAt(http.MethodGet, u.Path); !ok {
			t.Errorf("%s: %s is no page", p.name, href)
		}
	}
}

// refreshable reports whether a link of the page leads to the page that has the part.
func refreshable(p openedPage, part string) bool {
	for _, link := range p.find("a") {
		if href, _ := attribute(link, "href"); href != "" && href == strings.TrimSuffix(part, "/progress") {
			return true
		}
	}
	return false
}

// isHidden reports whether an element, or one around it, is hidden until a script shows it.
func isHidden(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if _, hidden := attribute(n, "hidden"); hidden {
			return true
		}
	}
	return false
}
