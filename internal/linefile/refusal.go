package linefile

import (
	"fmt"
	"strings"

	"github.com/lineproof/lineproof/internal/line"
)

// Refusal says why a line of the file does not count. Of a line with several
// mistakes it names the first. It never repeats what stands in the line.
type Refusal struct {
	Place   int64  // the line of the file; the header is line 1
	Field   string // the column; empty when the whole line is meant
	Reason  string
	Message string // says what to do
}

// The reasons. Suppliers' programs depend on them; they are never renamed.
const (
	BadColumns   = "BAD_COLUMNS"
	BadEncoding  = "BAD_ENCODING"
	BadFormat    = "BAD_FORMAT"
	BadQuotes    = "BAD_QUOTES"
	BeforeTenure = "BEFORE_TENURE"
	Future       = "FUTURE"
	Missing      = "MISSING"
	NotAllowed   = "NOT_ALLOWED"
	NotMobile    = "NOT_MOBILE"
	OutOfRange   = "OUT_OF_RANGE"
	TooLong      = "TOO_LONG"
)

// ReasonText is a reason and what it means.
type ReasonText struct{ Reason, Meaning string }

// Reasons lists every reason for which a line is refused, for the documentation.
func Reasons() []ReasonText {
	return []ReasonText{
		{BadColumns, "the line has more or fewer columns than the header"},
		{BadEncoding, "the line is not UTF-8, or has a NUL character in it"},
		{BadFormat, "the text is not a telephone number, not a time, or has characters that cannot be printed"},
		{BadQuotes, "a quote is not closed on the same line, or stands where none may be"},
		{BeforeTenure, "the time is before `tenureStart`"},
		{Future, "the time is later than the snapshot's `asOf`, or, of an event, than now"},
		{Missing, "the column is needed and empty"},
		{NotAllowed, "the word is not one of those that the column takes"},
		{NotMobile, "the telephone number is not a mobile number of the country"},
		{OutOfRange, "the time is before 1990 or after 2087"},
		{TooLong, fmt.Sprintf("the line has more than %d bytes, or an id more than %d characters", maxLine, maxID)},
	}
}

// wrong is what is the matter with a line: which column, and why. Without a reason
// all is well.
type wrong struct{ field, reason string }

// message says what to do about it.
func (w wrong) message(k Kind) string {
	switch w.reason {
	case BadColumns:
		return "Give the line exactly as many columns as the header has. A comma inside a column needs quotes around the column."
	case BadEncoding:
		return "Write the file as text in UTF-8, without NUL characters."
	case BadFormat:
		return formats[w.field]
	case BadQuotes:
		return "Close every quote on its own line, and double a quote that stands inside quotes. A column cannot contain a line break."
	case BeforeTenure:
		return "Write a time that is not before tenureStart."
	case Future:
		if k == Snapshot {
			return "Write a time that is not later than the snapshot's asOf."
		}
		return "Write a time that has come. Report an event once it has taken effect."
	case Missing:
		return "Write a value in this column; the row needs it."
	case NotAllowed:
		return "Write one of these words, in capitals: " + strings.Join(wordsOf(w.field), ", ") + "."
	case NotMobile:
		return "Leave the number out, or correct it: it is not a mobile number of the country."
	case OutOfRange:
		return "Write a time between 1990 and 2087."
	case TooLong:
		if w.field == "" {
			return fmt.Sprintf("Keep the line to %d bytes. If the file has one endless line, its line breaks were lost.", maxLine)
		}
		return fmt.Sprintf("Use at most %d characters.", maxID)
	}
	return ""
}

const (
	timeFormat = "Write a time such as 2026-01-31T09:30:00Z, or a date such as 2026-01-31."
	textFormat = "Use only characters that can be printed."
)

// formats says of each column what it must look like.
var formats = map[string]string{
	colNumber:       "Write a telephone number in digits, best with a plus sign and the country code. Spreadsheets must hold it as text.",
	colTenureStart:  timeFormat,
	colSIMChangedAt: timeFormat,
	colStateSince:   timeFormat,
	colEffectiveAt:  timeFormat,
	colChurnAt:      timeFormat,
	colID:           textFormat,
	colNetwork:      textFormat,
	colLevel:        textFormat,
	colReason:       textFormat,
	colVoids:        textFormat,
	colNote:         textFormat,
}

// wordsOf lists the words that a column takes.
func wordsOf(field string) []string {
	var words []string
	switch field {
	case colState:
		for s := line.StateActive; s <= line.StateBarred; s++ {
			words = append(words, s.String())
		}
	case colType:
		for _, k := range line.Kinds() {
			words = append(words, k.String())
		}
	}
	return words
}
