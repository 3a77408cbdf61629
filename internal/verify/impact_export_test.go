package verify

import (
	"time"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/linestore"
)

// Say computes what the answer to a recorded request says, for a look-up.
func Say(e *journal.Entry, l *linestore.Lookup, at time.Time) (Said, error) {
	request, _ := parseOptions(e.Options)
	return request.say(l, at)
}
