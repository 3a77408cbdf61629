package web

import (
	"math/rand/v2"
	"strconv"
)

// SpreadRetry returns the value of a Retry-After header. It adds up to two seconds, so
// that callers who were refused together do not all retry at the same moment.
func SpreadRetry(seconds int) string {
	return strconv.Itoa(seconds + rand.IntN(3)) //nolint:gosec // spreading load needs no secrecy
}
