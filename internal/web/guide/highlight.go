package guide

import (
	"html/template"
	"regexp"
	"strings"
)

// The parts of code that get a colour of their own, by language. The name of a group is
// its class; what no group matches stays as it is.
var (
	jsonParts  = regexp.MustCompile(`(?P<name>"(?:[^"\\]|\\.)*")\s*:|(?P<text>"(?:[^"\\]|\\.)*")|\b(?P<value>true|false|null|-?\d[\d.eE+-]*)\b`)
	shellParts = regexp.MustCompile(`(?m)(?P<note>(?:^|\s)#.*$)|(?P<text>'[^']*'|"(?:[^"\\]|\\.)*")|(?P<value>\$\w+|\$\{\w+\})|(?P<name>\s--?[a-zA-Z][\w-]*)`)
	slashParts = regexp.MustCompile(`(?m)(?P<note>//.*$)|(?P<text>"(?:[^"\\\n]|\\.)*"|` + "`[^`]*`" + `|'(?:[^'\\\n]|\\.)*')|\b(?P<name>func|return|if|else|for|range|package|import|const|let|var|type|struct|async|await|function|new|try|catch|defer|go|switch|case|export)\b`)
	hashParts  = regexp.MustCompile(`(?m)(?P<note>(?:^|\s)#.*$)|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|\b(?P<name>def|return|if|else|elif|for|in|import|from|class|with|as|try|except|raise|not|and|or|None|True|False|true|false)\b`)
	sqlParts   = regexp.MustCompile(`(?mi)(?P<note>--.*$)|(?P<text>'[^']*')|\b(?P<name>select|insert|update|delete|from|where|into|values|create|alter|grant|role|table|index|on|to|and|or|not|null|as|order|by|limit|join|set|begin|commit)\b`)
)

var languages = map[string]*regexp.Regexp{
	"json": jsonParts, "sh": shellParts, "bash": shellParts, "console": shellParts, "go": slashParts, "js": slashParts, "javascript": slashParts,
	"python": hashParts, "py": hashParts, "yaml": hashParts, "yml": hashParts, "ini": hashParts, "toml": hashParts, "sql": sqlParts,
}

// highlight returns code as HTML, coloured if the language is known.
func highlight(language, code string) template.HTML {
	parts := languages[language]
	if parts == nil {
		return template.HTML(template.HTMLEscapeString(code)) //nolint:gosec // escaped
	}
	var b strings.Builder
	last := 0
	for _, m := range parts.FindAllStringSubmatchIndex(code, -1) {
		for i, class := range parts.SubexpNames() {
			if class == "" || m[2*i] < 0 {
				continue
			}
			b.WriteString(template.HTMLEscapeString(code[last:m[2*i]]))
			b.WriteString(`<span class="c-` + class + `">` + template.HTMLEscapeString(code[m[2*i]:m[2*i+1]]) + `</span>`)
			last = m[2*i+1]
		}
	}
	b.WriteString(template.HTMLEscapeString(code[last:]))
	return template.HTML(b.String()) //nolint:gosec // every part is escaped
}
