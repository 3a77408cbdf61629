package linefile

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/line"
)

// Refusal is why a line of the file was refused. For a line with several mistakes it
// has the first. Message never quotes the line; Number and Value do, and are only for the
// people who sent the file.
type Refusal struct {
	Place   int64  // the line of the file; the header is line 1
	Field   string // the column; empty if the whole line is wrong
	Reason  string
	Message string // what to do
	Number  string // as in the file; empty if the line has none that can be read
	Value   string // of the column, as in the file

	ExternalID string // of a row of Questions, if it can be read
}

// maxQuoted is how many bytes of a cell a refusal has at most.
const maxQuoted = 64

// quoted returns a cell as text that can be stored and shown: shortened, and without
// characters that are none.
func quoted(cell []byte) string {
	cut := ""
	if len(cell) > maxQuoted {
		cell, cut = cell[:maxQuoted], "…"
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, string(bytes.ToValidUTF8(cell, nil))) + cut
}

// Refuse returns the refusal of a row whose form is right.
func (row *Row) Refuse(field, reason string) Refusal {
	return Refusal{Place: row.Place, Field: field, Reason: reason, Number: row.Number.E164(), Value: quoted([]byte(row.text(field)))}
}

// text returns the value of the number or of a column of an event. Times are in UTC,
// whatever the file has.
func (row *Row) text(field string) string {
	e := &row.Event
	switch field {
	case colNumber:
		return row.Number.E164()
	case colID:
		return e.ID
	case colType:
		return e.Kind.String()
	case colEffectiveAt:
		return timeText(e.Effective)
	case colChurnAt:
		return timeText(e.ChurnAt)
	case colNetwork:
		return e.Network
	case colLevel:
		return e.Level
	case colReason:
		return e.Reason
	case colScope:
		return e.Scope
	case colVoids:
		return e.Voids
	case colFirstHolder:
		return strconv.FormatBool(e.FirstHolder)
	}
	return ""
}

func timeText(at line.Instant) string {
	if at == line.Never {
		return ""
	}
	return at.Time().UTC().Format(time.RFC3339)
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
		{BadFormat, "the text is not a phone number, not a time, or has unprintable characters"},
		{BadQuotes, "a quote is not closed on the same line, or is in a place where none is allowed"},
		{BeforeTenure, "the time, or all of the day, is before `tenureStart`"},
		{Future, "the time, or the start of the day, is later than the snapshot's `asOf`, or, for an event, later than now"},
		{Missing, "the column is required and empty"},
		{NotAllowed, "the value is not one of those that the column takes, or `churnAt` has one although the line is not `PENDING_CHURN`"},
		{NotMobile, "the phone number is not a mobile number of the country"},
		{OutOfRange, "the time is before 1990 or after 2087"},
		{TooLong, fmt.Sprintf("the line has more than %d bytes, or an id more than %d characters", maxLine, maxID)},
	}
}

// problem is what is wrong with a line: the column, and the reason. It has no reason
// if the line is valid.
type problem struct{ field, reason string }

// message returns what to do about it.
func (p problem) message(k Kind) string {
	switch p.reason {
	case BadColumns:
		return "Give the line exactly as many columns as the header has. Put quotes around a value that contains a comma."
	case BadEncoding:
		return "Save the file as UTF-8 text without NUL characters."
	case BadFormat:
		return formats[p.field]
	case BadQuotes:
		return "Close every quote on the same line, and double a quote inside quotes. A value cannot contain a line break."
	case BeforeTenure:
		return "Write a time that is not before tenureStart."
	case Future:
		switch k {
		case Snapshot:
			return "Write a time that is not later than the snapshot's asOf."
		case Questions:
			return "Write a time that has passed."
		case Events:
		}
		return "Write a time that has passed. Report an event once it has taken effect."
	case Missing:
		return "Write a value in this column; it is required."
	case NotAllowed:
		return notAllowed(p.field)
	case NotMobile:
		return "Correct the number or leave the row out: it is not a mobile number of the country."
	case OutOfRange:
		if k == Questions {
			return "Write a time between 1970 and now."
		}
		return "Write a time between 1990 and 2087."
	case TooLong:
		if p.field == "" {
			return fmt.Sprintf("Keep the line to %d bytes. If the whole file is one line, its line breaks have been lost.", maxLine)
		}
		return fmt.Sprintf("Use at most %d characters.", maxID)
	}
	return ""
}

const (
	timeFormat = "Write a time such as 2026-01-31T09:30:00Z, or a date such as 2026-01-31."
	textFormat = "Use printable characters only."
)

// formats is what each column must look like.
var formats = map[string]string{
	colNumber:       "Write a phone number in digits, preferably with a plus sign and the country code. In a spreadsheet, format the column as text.",
	colTenureStart:  "Write a time such as 2026-01-31T09:30:00Z, a date such as 2026-01-31, or UNKNOWN.",
	colSIMChangedAt: "Write a time such as 2026-01-31T09:30:00Z, a date such as 2026-01-31, NEVER or UNKNOWN.",
	colStateSince:   timeFormat,
	colEffectiveAt:  timeFormat,
	colChurnAt:      timeFormat,
	colID:           textFormat,
	colNetwork:      textFormat,
	colLevel:        textFormat,
	colReason:       textFormat,
	colScope:        textFormat,
	colVoids:        textFormat,
	colNote:         textFormat,
	colSince:        timeFormat,
	colExternalID:   textFormat,
}

// notAllowed returns what to write in a column instead.
func notAllowed(field string) string {
	var words []string
	switch field {
	case colFirstHolder:
		return "Write true or false, in small letters, or leave the column empty."
	case colChurnAt:
		return "Leave the column empty: only a line in the state PENDING_CHURN has a churn date."
	case colState:
		for s := line.StateActive; s <= line.StateBarred; s++ {
			words = append(words, s.String())
		}
	case colType:
		for _, k := range line.Kinds() {
			if isReported(k) {
				words = append(words, k.String())
			}
		}
	}
	return "Write one of these values, in capitals: " + strings.Join(words, ", ") + "."
}
