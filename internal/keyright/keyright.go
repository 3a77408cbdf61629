// Package keyright names what an API key may do beyond verifying numbers. A key has no
// such right unless its creator gives it.
package keyright

import (
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/fault"
)

// The rights. They are stored.
const (
	Watch = "watch" // change watch-lists, and read them
	Feed  = "feed"  // read the feed of events, and change webhook endpoints
	Jobs  = "jobs"  // send files of numbers, and get the answers
)

// All lists every right.
var All = []string{Watch, Feed, Jobs}

// Check reports rights that do not exist, or are named twice.
func Check(wrong *fault.Form, rights []string) {
	for i, r := range rights {
		if !slices.Contains(All, r) || slices.Contains(rights[:i], r) {
			wrong.Once("rights", fault.NotAllowed, "Name each right once, and only these: "+strings.Join(All, ", ")+".")
		}
	}
}

// ErrMissing returns what a caller is told whose key lacks a right.
func ErrMissing(right string) error {
	return fault.New(fault.PermissionDenied, "This API key does not have the right "+right+". Create a key with it, under API settings in the portal or with rights in POST /api/regulator/v1/keys, and use that one.")
}
