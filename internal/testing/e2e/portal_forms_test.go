package e2e_test

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// searches returns the pages to which the search forms of a page lead: for every field the
// one with only this field filled in. Of a list it takes the last choice, of which there is
// often nothing, and nothing takes longest to find.
func searches(page []byte, at string) (found []string) {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil
	}
	for form := range doc.Descendants() {
		if form.Data != "form" || strings.EqualFold(attribute(form, "method"), "post") {
			continue
		}
		action := attribute(form, "action")
		if action == "" {
			action, _, _ = strings.Cut(at, "?")
		}
		for field := range form.Descendants() {
			name, value := attribute(field, "name"), fillIn(field)
			if name != "" && value != "" && strings.HasPrefix(action, "/portal/") {
				found = append(found, action+"?"+url.Values{name: {value}}.Encode())
			}
		}
	}
	return found
}

// fillIn returns what somebody enters into a field, or "" if it is none.
func fillIn(field *html.Node) (value string) {
	switch {
	case field.Data == "select":
		for option := range field.Descendants() {
			if option.Data == "option" {
				value = attribute(option, "value")
			}
		}
		return value
	case field.Data != "input":
		return ""
	}
	switch kind := attribute(field, "type"); kind {
	case "date":
		return time.Now().UTC().AddDate(0, 0, -10).Format(time.DateOnly)
	case "hidden", "radio", "checkbox":
		return attribute(field, "value")
	default:
		return "rare"
	}
}

func attribute(n *html.Node, name string) string {
	i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		return ""
	}
	return n.Attr[i].Val
}
