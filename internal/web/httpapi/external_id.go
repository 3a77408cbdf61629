package httpapi

import (
	"github.com/lineproof/lineproof/internal/values/fault"
)

// maxExternalID is the longest externalId, in characters.
const maxExternalID = 64

// externalID is the caller's own id of a number, which is recorded and repeated in the
// answer.
type externalID struct {
	text string
	sent bool
}

func (e *externalID) field() field { return field{name: "externalId", text: &e.text, present: &e.sent} }

// check reports what is wrong with the id. Place is its path in the body.
func (e *externalID) check(wrong *fault.Form, place string) {
	wrong.Check(!e.sent || fault.IsPrintable(e.text, maxExternalID), place, fault.BadFormat, "Must be 1 to 64 printable characters.")
}

// appendExternalID adds an id to an answer, the last value in b.
func appendExternalID(b []byte, id string) []byte {
	if id == "" {
		return b
	}
	b = append(b[:len(b)-len("}")], `,"externalId":`...)
	return append(appendText(b, id), '}')
}
