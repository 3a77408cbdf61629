package kit

import "strings"

// htmxConfig turns off what the content security policy blocks anyway, so that
// the console shows no violations, and stores no page in the browser's history
// cache: pages show secrets.
const htmxConfig = `{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,"historyEnabled":false,"historyCacheSize":0}`

// toneWord puts a tone into a word, so that no meaning depends on colour alone.
func toneWord(t Tone) string {
	switch t {
	case Good:
		return "Done."
	case Warn:
		return "Note:"
	case Bad:
		return "Important:"
	case Neutral, Info:
	}
	return ""
}

// describedBy lists the ids of the hint and the error of a field, which screen
// readers read with it.
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

// fieldValue is the content of a field: what the visitor typed, or its initial
// value. Passwords and files are never filled in again.
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
