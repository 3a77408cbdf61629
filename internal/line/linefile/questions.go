package linefile

import (
	"time"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/line"
)

// Question is a row of a file of numbers to verify, beside its number.
type Question struct {
	Sent       string    // the number as the file has it
	Since      time.Time // of a bare date, the start of its day; zero if the file has none
	ExternalID string
}

// question parses a row of a file of numbers.
func (r *Reader) question(row *Row) problem {
	if p := r.number(row, questionNumber); p.reason != "" {
		return p
	}
	since, bare, p := r.pastTime(questionSince)
	if p.reason == OutOfRange {
		since, p = r.earlySince(p)
	}
	if p.reason != "" {
		return p
	}
	id := r.cell(questionExternalID)
	switch {
	case !printable(id):
		return problem{colExternalID, BadFormat}
	case len(id) > maxID && utf8.RuneCount(id) > maxID:
		return problem{colExternalID, TooLong}
	}
	row.Asked = Question{Sent: string(r.cell(questionNumber)), ExternalID: string(id)}
	switch {
	case bare:
		since = r.days.start(since)
	case since != line.Never && line.HasFraction(string(r.cell(questionSince))):
		since--
	}
	if since != line.Never {
		row.Asked.Since = since.Time()
	}
	return problem{}
}

// earliestSince is the first year that a since may have, as in verify.
const earliestSince = 1970

// earlySince reads a since of the years before those that a line can have, or returns the problem.
func (r *Reader) earlySince(outOfRange problem) (line.Instant, problem) {
	text := string(r.cell(questionSince))
	t, err := time.ParseInLocation(time.DateOnly, text, r.days.zone)
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	if err != nil || t.Year() < earliestSince || t.Year() >= firstYear {
		return line.Never, outOfRange
	}
	return line.InstantOf(t), problem{}
}
