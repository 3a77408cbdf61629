package config

import (
	_ "embed" // for the source below
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
)

// source is the file that declares [Config]. Its comments are the reference.
//
//go:embed config.go
var source string

const preamble = `# Settings

Generated from ` + "`internal/server/config/config.go`" + ` by ` + "`go test ./internal/server/config -update`" + `; do not edit.

The service is configured by environment variables only. At start it reports all problems with them at once: malformed values, values
that contradict each other, and unknown variables that begin with ` + "`LINEPROOF_`" + `.

- An empty variable counts as not set, unless the table says otherwise.
- A secret can also be read from a file: set the variable with ` + "`_FILE`" + ` appended to the path of the file, for example
  ` + "`LINEPROOF_DATABASE_URL_FILE`" + `. A line end at the end of the file is removed. Setting both is an error.
- A duration is written as in ` + "`250ms`, `30s`, `10m` or `1h30m`" + `.
`

// Reference returns the text of docs/reference/configuration.md.
func Reference() string {
	comments := fieldComments()
	var b strings.Builder
	b.WriteString(preamble)
	for _, s := range settings() {
		if s.group != "" {
			fmt.Fprintf(&b, "\n## %s\n\n| name | type | default | what it does |\n| --- | --- | --- | --- |\n", s.group)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.name, cell(s.kind()), s.shownDefault(), cell(comments[s.field.Name]))
	}
	return b.String()
}

// fieldComments returns the comment of each field of [Config], without the
// field's name at its start: operators know the variable and not the field.
func fieldComments() map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		panic("config: the embedded source does not parse: " + err.Error()) // it compiled, so this cannot happen
	}
	comments := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok || field.Tag == nil {
			return true
		}
		text := strings.Join(strings.Fields(field.Doc.Text()), " ")
		for _, name := range field.Names {
			comments[name.Name] = sentence(strings.TrimPrefix(text, name.Name+" "))
		}
		return true
	})
	return comments
}

// sentence gives text a capital letter, and drops the verb that only joined it
// to the field's name.
func sentence(text string) string {
	for _, verb := range []string{"is ", "are ", "holds "} {
		text = strings.TrimPrefix(text, verb)
	}
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func (s setting) kind() string {
	switch {
	case s.secret:
		return "secret"
	case s.field.Type == reflect.TypeFor[[]string]():
		return "words, comma separated"
	case s.field.Type == reflect.TypeFor[Retention]():
		return "pairs such as CAC_CERTIFICATE=3650d, comma separated"
	case s.field.Type.Kind() == reflect.Slice:
		return "networks in CIDR notation, comma separated"
	default:
		return strings.TrimPrefix(s.wants(), "a ")
	}
}

func (s setting) shownDefault() string {
	if s.fallback == "" {
		return s.unset
	}
	return "`" + s.fallback + "`"
}

// cell escapes a text for a cell of the table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
