package httpapi_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// try is a value of a field at a limit that the contract has for it, or one beyond.
type try struct {
	in    string // body, query or header
	field string // as a violation names it
	rule  string // of the contract
	value any
	over  bool
}

// codesOf are the codes of a violation of each rule. Where a form is described as a whole, such as
// that of a phone number, a length belongs to it.
var codesOf = map[string][]string{
	"maxLength": {"TOO_LONG", "INVALID_FORMAT"},
	"minLength": {"TOO_SHORT", "REQUIRED", "INVALID_FORMAT"},
	"maxItems":  {"TOO_LONG"}, "minItems": {"REQUIRED"},
	"maximum": {"NOT_ALLOWED"}, "minimum": {"NOT_ALLOWED"}, "enum": {"NOT_ALLOWED"},
	"pattern": {"INVALID_FORMAT", "NOT_ALLOWED"}, "format": {"INVALID_FORMAT"},
	"no maxLength": {"TOO_LONG"}, "no maxItems": {"TOO_LONG"}, // where the contract has none
	"type": {"WRONG_TYPE"}, "uniqueItems": {"DUPLICATE_FIELD", "NOT_ALLOWED"},
}

// tries returns the values at each limit of a field of a request, and one beyond it.
func tries(in, field string, s *openapi3.Schema, example any) (all []try) {
	if example == nil && len(s.Examples) > 0 {
		example = s.Examples[0]
	}
	add := func(rule string, at, over any) {
		all = append(all, try{in, field, rule, at, false}, try{in, field, rule, over, true})
	}
	if in == "body" && field != "" {
		other := any(1)
		if s.Type.Is("integer") || s.Type.Is("array") {
			other = "x"
		}
		all = append(all, try{in, field, "type", nil, true}, try{in, field, "type", other, true})
	}
	text, isText := example.(string)
	switch hasForm := len(s.Enum) > 0 || s.Const != nil || s.Pattern != "" || s.Format != ""; {
	case s.MaxLength != nil:
		add("maxLength", long(field, text, int(*s.MaxLength)), long(field, text, int(*s.MaxLength)+1))
	case isText && in == "body" && !hasForm:
		all = append(all, try{in, field, "no maxLength", long(field, text, 4000), false})
	}
	if n := int(s.MinLength); n > 0 && in == "body" {
		add("minLength", short(text, n), short(text, n-1))
	}
	for _, value := range s.Enum {
		add("enum", value, "NEITHER")
	}
	if s.Const != nil {
		add("enum", s.Const, "NEITHER")
	}
	if s.Pattern != "" && isText {
		add("pattern", text, "§ "+text)
	}
	if s.Format == "uuid" || s.Format == "email" {
		add("format", text, "neither")
	}
	if s.Max != nil {
		add("maximum", int(*s.Max), int(*s.Max)+1)
	}
	if s.Min != nil {
		add("minimum", int(*s.Min), int(*s.Min)-1)
	}
	if s.Type.Is("boolean") && in == "query" {
		add("enum", "true", "yes")
	}
	for name, p := range s.Properties {
		all = append(all, tries(in, strings.TrimPrefix(field+"."+name, "."), p.Value, nil)...)
	}
	if s.Items == nil {
		return all
	}
	item := s.Items.Value
	for _, one := range item.OneOf {
		if len(one.Value.Properties) > 0 {
			item = one.Value
		}
	}
	if s.MaxItems != nil {
		add("maxItems", items(s, int(*s.MaxItems)), items(s, int(*s.MaxItems)+1))
	} else {
		all = append(all, try{in, field, "no maxItems", items(s, 1000), false})
	}
	if s.MinItems > 0 {
		add("minItems", items(s, int(s.MinItems)), []any{})
	}
	if s.UniqueItems {
		one := items(s, 1)
		add("uniqueItems", one, append(one, one...))
	}
	return append(all, tries(in, field+"[0]", item, nil)...)
}

// long makes a text n characters long in a way that leaves it what it is, where it can.
func long(field, text string, n int) string {
	fill := func(part string) string { return strings.Repeat(part, max(0, n-len([]rune(text)))) }
	switch {
	case strings.Contains(text, "@"):
		name, domain, _ := strings.Cut(text, "@")
		return name + "@" + strings.Repeat("a.", max(0, n-len(text))/2) + strings.Repeat("b", max(0, n-len(text))%2) + domain
	case strings.HasSuffix(strings.ToLower(field), "phonenumber"), field == "adminPhone":
		return text + fill(" ")
	case strings.Contains(text, "lp_"), n < len(text):
		return strings.Repeat("x", n)
	}
	return text + fill("1")
}

func short(text string, n int) string {
	if len(text) < n {
		return strings.Repeat("x", n)
	}
	return strings.ReplaceAll(text[:n], " ", "x")
}

// items returns n items of an array, which differ where they have to.
func items(s *openapi3.Schema, n int) (list []any) {
	for i := range n {
		item := s.Items.Value
		if len(item.OneOf) > 0 {
			item = item.OneOf[0].Value
		}
		switch {
		case len(item.Enum) > 0:
			list = append(list, item.Enum[i%len(item.Enum)])
		case len(item.Properties) > 0:
			one := map[string]any{}
			for name, p := range item.Properties {
				if name == "id" || name == "phoneNumber" || name == "effectiveAt" || name == "type" {
					one[name] = p.Value.Examples[0]
				}
			}
			list = append(list, one)
		case s.UniqueItems:
			list = append(list, fmt.Sprintf("1-%d", i+1))
		default:
			list = append(list, item.Examples[0])
		}
	}
	return list
}

// with returns a body with a value at a place, such as events[0].id.
func with(body any, place []string, value any) any {
	if len(place) == 0 {
		return value
	}
	if number, ok := body.(string); ok { // of a batch
		body = map[string]any{"phoneNumber": number}
	}
	m, _ := body.(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	name, isList := strings.CutSuffix(place[0], "[0]")
	if !isList {
		m[name] = with(m[name], place[1:], value)
		return m
	}
	list, _ := m[name].([]any)
	m[name] = []any{with(append(list, nil)[0], place[1:], value)}
	return m
}

// found is a violation in a response, wherever it stands, or what is wrong with a line event.
type found struct{ field, code string }

// eventReason stands for the reason of a refused line event, which has codes of its own.
const eventReason = "the reason of an event"

func violations(v any) (all []found) {
	switch v := v.(type) {
	case map[string]any:
		if field, ok := v["field"].(string); ok {
			code, _ := v["code"].(string)
			all = append(all, found{field, cmp.Or(code, eventReason)})
		}
		for _, value := range v {
			all = append(all, violations(value)...)
		}
	case []any:
		for _, value := range v {
			all = append(all, violations(value)...)
		}
	}
	return all
}

func parsed(body []byte) (v any) {
	if json.Unmarshal(body, &v) != nil {
		return nil
	}
	return v
}
