package verify

import (
	"time"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line/linestore"
)

// Say computes what the answer to a recorded request says, for a look-up.
func Say(e *record.Entry, l *linestore.Lookup, at time.Time) (Said, error) {
	request, _ := recordedRequest(e)
	return request.say(l, at)
}
