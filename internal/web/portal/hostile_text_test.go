package portal_test

import (
	"cmp"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// hostileTexts want to be more than text wherever they stand: in an element, in an
// attribute, in an address, or after the end of the element that holds them.
var hostileTexts = []string{
	hostile, `<script>__hit=1</script>`, `"><img src=x onerror=__hit=1 data-canary>`, `'><svg/onload=__hit=1 data-canary>`, `javascript:__hit=1//`,
	`" autofocus onfocus=__hit=1 data-canary="`, `<div hx-on::load="__hit=1" hx-get="/portal/" data-canary>`, `</textarea></select></title><b data-canary>`,
	`--><!--><img src=x onerror=__hit=1 data-canary>`, `<iframe srcdoc="x" data-canary>`, `<base href=//elsewhere.example/ data-canary>`,
}

// storedTexts are where people and programs can put text, and how much of it there fits.
var storedTexts = []struct{ table, column, most string }{
	{"entity", "name", "200"},
	{"account", "name", "200"},
	{"session", "agent", "200"},
	{"api_key", "name", "100"},
	{"api_key", "purpose_text", "100"},
	{"document", "label", "200"},
	{"document", "file_name", "200"},
	{"document", "note", "500"},
	{"client", "name", "200"},
	{"approval", "reason", "500"},
	{"line_order", "reason", "200"},
	{"mandate", "principal", "100"},
	{"mandate", "document", "200"},
	{"network", "name", "64"},
	{"numbering_plan", "source", "2000"},
	{"message", "about", "200"},
	{"message", "detail", "200"},
	{"hook_endpoint", "name", "100"},
	{"hook_endpoint", "url", "200"},
	{"hook_attempt", "error", "200"},
	{"file_job", "name", "100"},
	{"file_job", "reason", "200"},
	{"watch_list", "name", "100"},
	{"supply_import", "reason", "200"},
	{"supply_refused_value", "value", "100"},
	{"supply_refused_value", "number", "100"},
	{"supply_example", "before", "100"},
	{"supply_example", "after", "100"},
	{"refused_request", "correlator", "100"},
	{"policy", "note", "500"},
}

// Text that somebody has stored or just sent is text on every page of the route table, for
// everybody who may open it: no element and no attribute is made of it.
func TestHostileTextIsTextOnEveryPage(t *testing.T) {
	t.Parallel()
	e := newEverything(t)
	e.poison(t)
	shown, forms := 0, map[string]bool{}
	var toSend []sentForm
	for _, p := range e.pages(t) {
		if p.checkTame(t) {
			shown++
		}
		for _, form := range p.find("form") {
			if f := newSentForm(p, form); !forms[f.key] && len(f.names) > 0 {
				forms[f.key], toSend = true, append(toSend, f)
			}
		}
	}
	if shown < 60 {
		t.Errorf("only %d pages show hostile text: this proves nothing", shown)
	}
	// Forms that end or delete something come last.
	slices.SortStableFunc(toSend, func(a, b sentForm) int { return cmp.Compare(a.last, b.last) })
	for i, f := range toSend {
		res := e.send(t, f, hostileTexts[i%len(hostileTexts)])
		if res.Code >= http.StatusInternalServerError {
			t.Errorf("%s answered %d", f.key, res.Code)
		}
		newOpenedPage(t, f.key, f.action, f.role, res.Body.String()).checkTame(t)
	}
	if len(toSend) < 30 {
		t.Errorf("only %d forms were sent", len(toSend))
	}
}

// poison stores hostile text, past the checks of what takes it in.
func (e *everything) poison(t *testing.T) {
	t.Helper()
	owner := pgtest.Open(t, e.pool.Config().ConnString(), "")
	defer owner.Close()
	for _, at := range storedTexts {
		must(owner.Exec(t.Context(), `UPDATE `+at.table+` AS t SET `+at.column+` = left(p.text, `+at.most+`)
			FROM (SELECT ctid AS at, ($1::text[])[1 + row_number() OVER () % cardinality($1::text[])] AS text FROM `+at.table+`) p WHERE t.ctid = p.at`, hostileTexts))(t)
	}
	must(owner.Exec(t.Context(), `UPDATE entity SET status_reason = $1 WHERE status <> 'Approved'`, hostileTexts[1]))(t)
}

// checkTame checks that no part of the page was made of text, and reports whether the page
// shows hostile text at all.
func (p openedPage) checkTame(t *testing.T) (shows bool) {
	t.Helper()
	for n := range p.root.Descendants() {
		if n.Type != html.ElementNode {
			shows = shows || n.Type == html.TextNode && strings.Contains(n.Data, "__hit")
			continue
		}
		src, _ := attribute(n, "src")
		switch {
		case n.Data == "script" && !strings.HasPrefix(src, "/portal/assets/"), slices.Contains([]string{"iframe", "base", "style", "object", "embed", "math"}, n.Data), n.Data == "img" && src == "x":
			t.Errorf("%s: text became the element %s", p.name, n.Data)
		}
		for _, a := range n.Attr {
			address := slices.Contains([]string{"href", "src", "action", "formaction", "hx-get", "xlink:href"}, a.Key)
			switch value := strings.ToLower(strings.TrimSpace(a.Val)); {
			case strings.HasPrefix(a.Key, "on"), strings.HasPrefix(a.Key, "hx-on"), a.Key == "data-canary", a.Key == "srcdoc":
				t.Errorf("%s: text became the attribute %s of %s", p.name, a.Key, n.Data)
			case address && (strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:text") || strings.HasPrefix(value, "//")):
				t.Errorf("%s: text became the address %s", p.name, a.Val)
			}
		}
	}
	return shows
}

// sentForm is a form of a page, to be sent with other text in it.
type sentForm struct {
	key, role, action string
	multipart         bool
	fields            url.Values
	names             []string // of the fields in which one can type
	last              int
}

// newSentForm reads a form with the values that it has.
func newSentForm(p openedPage, form *html.Node) sentForm {
	f := sentForm{role: p.role, fields: url.Values{}}
	f.action, _ = attribute(form, "action")
	method, _ := attribute(form, "method")
	encoding, _ := attribute(form, "enctype")
	f.multipart = strings.HasPrefix(encoding, "multipart/")
	_, asks := attribute(form, "data-confirm")
	if asks {
		f.last = 1
	}
	if strings.ToLower(method) != "post" || strings.Contains(f.action, "sign-out") {
		return f
	}
	f.key = p.name + ": " + f.action
	for n := range form.Descendants() {
		name, _ := attribute(n, "name")
		value, _ := attribute(n, "value")
		kind, _ := attribute(n, "type")
		switch {
		case name == "" || n.Data == "button":
		case n.Data == "textarea" || n.Data == "input" && !slices.Contains([]string{"hidden", "checkbox", "radio", "file", "submit"}, kind):
			f.names = append(f.names, name)
		case n.Data == "select":
			f.fields.Set(name, chosen(n))
		case n.Data == "input" && kind != "file":
			f.fields.Set(name, value)
		}
	}
	return f
}

// chosen returns the value of a list: the one that is selected, or the last.
func chosen(list *html.Node) (value string) {
	for n := range list.Descendants() {
		if n.Data != "option" {
			continue
		}
		value, _ = attribute(n, "value")
		if _, selected := attribute(n, "selected"); selected {
			return value
		}
	}
	return value
}

// send sends a form with a text in every field.
func (e *everything) send(t *testing.T, f sentForm, text string) *httptest.ResponseRecorder {
	t.Helper()
	fields := maps.Clone(f.fields)
	for _, name := range f.names {
		fields.Set(name, text)
	}
	session := e.visitors[f.role].session
	if !f.multipart {
		return e.post(t, f.action, session, fields)
	}
	flat := map[string]string{"upload": text}
	for name := range fields {
		flat[name] = fields.Get(name)
	}
	return e.handIn(t, f.action, session, flat)
}
