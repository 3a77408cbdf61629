package kit

import (
	"bytes"
	"encoding/json"
)

// StateText describes a state in a word and in a sentence.
type StateText struct {
	Word, Meaning string
	Tone          Tone
}

// IndentJSON returns JSON with one field per line, or the text unchanged if it is
// not JSON.
func IndentJSON(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") == nil {
		return b.String()
	}
	return string(text)
}
