package web

import (
	"regexp"

	"github.com/google/uuid"
)

// private matches what a caller must not be able to write into our log through a
// correlator: a phone number in any spelling, or one of our own credentials.
var private = regexp.MustCompile(`([0-9][-_:;./<>{}]?){9}|lp_[a-z]+_`)

// Loggable returns s, or "[withheld]" in its place. Most callers send a UUID,
// whose groups of digits are not a phone number.
func Loggable(s string) string {
	if _, err := uuid.Parse(s); err == nil && len(s) == 36 {
		return s
	}
	if private.MatchString(s) {
		return "[withheld]"
	}
	return s
}
