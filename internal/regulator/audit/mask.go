package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// The replacements of masked values.
const (
	hidden  = "[secret]" // the same text as in package secret
	removed = "…"
)

// The longest text and the longest list that an entry stores whole.
const (
	longestText = 500
	longestList = 50
)

// mask encodes the changed values as JSON without secrets and personal data. It
// converts to JSON first, so that it sees every value in the form in which it would be
// stored, whatever its type.
func mask(action Action, fields map[string]any) ([]byte, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("audit: encode what changed: %w", err)
	}
	var plain map[string]any
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber()
	if err := numbers.Decode(&plain); err != nil {
		return nil, fmt.Errorf("audit: read back what changed: %w", err)
	}
	text, err = json.Marshal(masker{people: aboutPeople(action)}.fields(plain))
	return text, fault.Wrap(err, "audit: encode what changed")
}

// Plain reports whether fields contain nothing that would be masked.
func Plain(fields map[string]any) (bool, error) {
	if len(fields) == 0 {
		return true, nil
	}
	masked, err := mask("", fields)
	if err != nil {
		return false, err
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return false, fmt.Errorf("audit: encode fields: %w", err)
	}
	return bytes.Equal(masked, text), nil
}

// aboutPeople reports whether the names in an entry are names of people. Names of
// entities, clients and keys are not personal data; readers of the trail search for
// them.
func aboutPeople(action Action) bool {
	subject, _, _ := strings.Cut(string(action), ".")
	return slices.Contains([]string{"staff", "invitation", "account", "password", "factor", "recovery", "session"}, subject)
}

type masker struct {
	people bool // the names are names of people
}

func (m masker) fields(fields map[string]any) map[string]any {
	kept := make(map[string]any, len(fields))
	for name, value := range fields {
		kept[maskText(name)] = m.value(name, value)
	}
	return kept
}

func (m masker) value(name string, value any) any {
	if value == nil {
		return nil
	}
	if yes, ok := value.(bool); ok {
		return yes
	}
	switch m.classOf(name) {
	case secretField:
		if harmless(name, value) {
			return value
		}
		return hidden
	case emailField:
		return maskEach(value, maskEmail)
	case phoneField:
		return maskEach(value, maskPhone)
	case personField:
		return maskEach(value, maskName)
	case plainField:
	}
	switch v := value.(type) {
	case map[string]any:
		return m.fields(v)
	case []any:
		if len(v) > longestList {
			v = append(v[:longestList:longestList], removed)
		}
		for i := range v {
			v[i] = m.value(name, v[i])
		}
		return v
	case json.Number:
		return maskNumber(v)
	case string:
		return maskText(v)
	}
	return removed // JSON has no other kind of value
}

// class is the kind of content of a field, judged by its name.
type class int

const (
	plainField class = iota
	secretField
	emailField
	phoneField
	personField
)

// secretWords make a field a secret anywhere in its name; secretNames only as the
// whole name, because as part of a longer name they mean something else.
var (
	secretWords = []string{"password", "passphrase", "secret", "token", "pepper", "totp", "recovery", "cookie", "credential", "bearer", "authorization", "privatekey"}
	secretNames = []string{"mac", "hash", "otp", "seed", "code", "codes", "pin", "nonce", "salt"}
	personNames = []string{"adminname", "personname", "fullname", "firstname", "lastname", "surname", "displayname", "accountname", "username", "holder"}
)

func (m masker) classOf(name string) class {
	letters := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	switch {
	case slices.Contains(secretNames, letters), strings.HasSuffix(letters, "mac"), strings.HasSuffix(letters, "hash"),
		slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(letters, word) }):
		return secretField
	case strings.Contains(letters, "email"), letters == "mail":
		return emailField
	case strings.Contains(letters, "phone"), strings.Contains(letters, "msisdn"), letters == "number", letters == "mobile":
		return phoneField
	case slices.Contains(personNames, letters), m.people && letters == "name":
		return personField
	}
	return plainField
}

// harmless reports whether a field that is named after a secret holds only its id or
// a time: tokenId, passwordChangedAt.
func harmless(name string, value any) bool {
	text, ok := value.(string)
	if !ok {
		return false
	}
	if low := strings.ToLower(name); strings.HasSuffix(low, "id") {
		_, err := uuid.Parse(text)
		return err == nil
	}
	_, err := time.Parse(time.RFC3339, text)
	return err == nil && strings.HasSuffix(strings.ToLower(name), "at")
}

// maskEach masks a value, or every value of a list. What is neither text nor number
// is removed.
func maskEach(value any, fn func(string) string) any {
	switch v := value.(type) {
	case string:
		return fn(v)
	case json.Number:
		return fn(v.String())
	case []any:
		for i := range v {
			v[i] = maskEach(v[i], fn)
		}
		return v
	}
	return removed
}

// maskEmail leaves the first letter of each part: enough to recognise a known
// address, too little to write to it.
func maskEmail(s string) string {
	local, domain, ok := strings.Cut(s, "@")
	if !ok {
		return maskName(s)
	}
	return maskName(local) + "@" + maskName(domain)
}

// maskPhone leaves the last two digits.
func maskPhone(s string) string {
	if len(s) < 6 || strings.ContainsFunc(s[len(s)-2:], func(r rune) bool { return r < '0' || r > '9' }) {
		return removed
	}
	return removed + s[len(s)-2:]
}

// maskName leaves the first letter.
func maskName(s string) string {
	first, _ := utf8.DecodeRuneInString(s)
	if s == "" || first == utf8.RuneError {
		return removed
	}
	return string(first) + removed
}

// looks finds in a text what must not be stored, whatever the name of the field. The
// first four alternatives match what is left as it is: an id, a time, a network address
// and a public key of age would otherwise be taken for something else.
var looks = regexp.MustCompile(`(?P<id>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)` +
	`|(?P<time>\b(?:19|20)\d{2}-(?:0[1-9]|1[0-2])-(?:[0-2]\d|3[01])(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?\b)` +
	`|(?P<ip>\b\d{1,3}(?:\.\d{1,3}){3}\b)` +
	`|(?P<public>\bage1[02-9ac-hj-np-z]{58}\b)` +
	`|(?P<email>[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]+)` +
	`|(?P<secret>lp_[a-z]+_[0-9A-Za-z]{16,}|\$argon2\S*|[0-9A-Za-z_+/=-]{32,})` +
	`|(?P<phone>\+\d(?:[ ().-]{0,2}\d){6,}|\b\d(?:[ ().-]{0,2}\d){9,})`)

func maskText(s string) string {
	if utf8.RuneCountInString(s) > longestText {
		s = string([]rune(s)[:longestText]) + removed
	}
	var b strings.Builder
	end := 0
	for _, m := range looks.FindAllStringSubmatchIndex(s, -1) {
		found := func(kind string) bool { return m[2*looks.SubexpIndex(kind)] >= 0 }
		b.WriteString(s[end:m[0]])
		switch hit := s[m[0]:m[1]]; {
		case found("email"):
			b.WriteString(maskEmail(hit))
		case found("secret"):
			b.WriteString(hidden)
		case found("phone"):
			b.WriteString(maskPhone(hit))
		default:
			b.WriteString(hit)
		}
		end = m[1]
	}
	b.WriteString(s[end:])
	return b.String()
}

// maskNumber takes a whole number of 11 to 15 digits for a phone number with its
// country code: no count or limit of ours is that large.
func maskNumber(n json.Number) any {
	digits := n.String()
	if len(digits) >= 11 && len(digits) <= 15 && !strings.ContainsAny(digits, ".eE-") {
		return maskPhone(digits)
	}
	return n
}
