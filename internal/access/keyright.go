// This part of the package names what an API key may do beyond verifying numbers. A key has no
// such right unless its creator gives it.

package access

import (
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// The rights. They are stored.
const (
	WatchRight = "watch" // change watch-lists, and read them
	FeedRight  = "feed"  // read the feed of events, and change webhook endpoints
	JobsRight  = "jobs"  // send files of numbers, and get the answers
)

// KeyRights lists every right.
var KeyRights = []string{WatchRight, FeedRight, JobsRight}

// CheckKeyRights reports rights that do not exist, or are named twice.
func CheckKeyRights(wrong *fault.Form, rights []string) {
	for i, r := range rights {
		if !slices.Contains(KeyRights, r) || slices.Contains(rights[:i], r) {
			wrong.Once("rights", fault.NotAllowed, "Name each right once, and only these: "+strings.Join(KeyRights, ", ")+".")
		}
	}
}

// ErrMissingRight returns what a caller is told whose key lacks a right.
func ErrMissingRight(right string) error {
	return fault.New(fault.PermissionDenied, "This API key does not have the right "+right+". Create a key with it, under API settings in the portal or with rights in POST /api/regulator/v1/keys, and use that one.")
}
