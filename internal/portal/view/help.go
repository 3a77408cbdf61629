package view

import "strings"

// htmxConfig forbids what the content security policy forbids anyway, so that
// nothing complains, and keeps no page in the browser's storage: pages show
// secrets.
const htmxConfig = `{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,"historyEnabled":false,"historyCacheSize":0}`

// toneWord says in a word what the colour says.
func toneWord(t Tone) string {
	switch t {
	case Good:
		return "Done."
	case Warn:
		return "Please note."
	case Bad:
		return "Not done."
	case Neutral, Info:
	}
	return ""
}

// describedBy names what a screen reader says about a field.
func describedBy(f Form, name, hint string) string {
	var ids []string
	if hint != "" {
		ids = append(ids, "hint-"+name)
	}
	if f.Error(name) != "" {
		ids = append(ids, "error-"+name)
	}
	return strings.Join(ids, " ")
}

func fieldType(d FieldData) string {
	if d.Type == "" {
		return "text"
	}
	return d.Type
}

// fieldValue is what stands in a field: what was typed, or what it begins with.
func fieldValue(f Form, d FieldData) string {
	switch {
	case d.Type == "password" || d.Type == "file":
		return ""
	case f.Values.Has(d.Name):
		return f.Value(d.Name)
	}
	return d.Value
}

func autocomplete(d FieldData) string {
	if d.Autocomplete == "" {
		return "off"
	}
	return d.Autocomplete
}
