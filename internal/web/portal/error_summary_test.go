package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// The summary of a form's errors names the field of each error, and links to it: a message
// such as "Give a name." does not say which of two names it is about.
func TestErrorSummariesNameTheirFields(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, admin := s.asAdministrator(t), s.as(t, "admin")
	for _, of := range []struct {
		path    string
		session string
		want    []string // label and message of each error
	}{
		{"/portal/desk/new-client", boss.session, []string{"Name: Give a name.", "Scopes: Give at least one scope."}},
		{whoAsked, boss.session, []string{"Phone number: Give the number.", "First day (UTC): Give the first day."}},
		{"/portal/new-key", admin.session, []string{"Application name: Give a name."}},
	} {
		res := s.post(t, of.path, of.session, url.Values{})
		wantPage(t, res, http.StatusUnprocessableEntity)
		page := newOpenedPage(t, of.path, of.path, "", res.Body.String())
		var items []string
		for _, alert := range page.find("div") {
			if role, _ := attribute(alert, "role"); role == "alert" {
				items = append(items, page.checkSummary(t, alert)...)
			}
		}
		for _, want := range of.want {
			if !strings.Contains(strings.Join(items, "|")+"|", want+"|") {
				t.Errorf("%s: the summary has %q, want %q", of.path, items, want)
			}
		}
	}
}

// checkSummary returns the entries of a summary, each of which has to link to its field.
func (p openedPage) checkSummary(t *testing.T, alert *html.Node) (items []string) {
	t.Helper()
	for item := range alert.Descendants() {
		if item.Data != "li" {
			continue
		}
		var text strings.Builder
		linked := false
		for n := range item.Descendants() {
			if n.Type == html.TextNode {
				text.WriteString(n.Data)
			}
			if href, ok := attribute(n, "href"); ok {
				linked = strings.Contains(p.body, `id="`+strings.TrimPrefix(href, "#")+`"`)
			}
		}
		if items = append(items, strings.Join(strings.Fields(text.String()), " ")); !linked {
			t.Errorf("%s: the error %q leads to no field", p.name, items[len(items)-1])
		}
	}
	return items
}
