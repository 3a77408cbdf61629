package receipttest

import (
	"encoding/json"
	"strings"
)

// Alter changes one thing of a receipt at random; other is another one. What comes of it
// may still be a good receipt: the statement in words proves nothing, for example.
func (m *Maker) Alter(text, other string) string {
	i := m.rand.IntN(len(text))
	switch m.rand.IntN(7) {
	case 0:
		return text[:i] + string(rune('0'+m.rand.IntN(75))) + text[i+1:]
	case 1:
		return text[:i] + text[i+1:]
	case 2:
		return text[:i] + text[i:i+1] + text[i:]
	case 3:
		return swapMember(text, other, []string{"public", "personal", "personalHash", "batch", "proof"}[m.rand.IntN(5)])
	case 4:
		return strings.Replace(text, `"index":`, `"index":1`, 1)
	case 5:
		names := []string{"form", "statement", "public", "proof", "batch", "promise"}
		return repeatMember(text, other, names[m.rand.IntN(len(names))])
	default:
		// Two characters of the proof or of the path change places.
		j := strings.LastIndexAny(text[:max(i, 1)], "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		if j < 0 || text[i] == '"' || text[i] == '\\' {
			return text[:len(text)-1]
		}
		return text[:j] + text[i:i+1] + text[j+1:i] + text[j:j+1] + text[i+1:]
	}
}

// swapMember puts a member of another receipt into one.
func swapMember(text, other, name string) string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal([]byte(other), &b) != nil {
		return text[1:]
	}
	a[name] = b[name]
	mixed, err := json.Marshal(a)
	if err != nil {
		return text[1:]
	}
	return string(mixed)
}

// repeatMember puts a member of another receipt before the one of that name.
func repeatMember(text, other, name string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(other), &members) != nil || members[name] == nil {
		return text[1:]
	}
	return twice(text, "", name, string(members[name]))
}
