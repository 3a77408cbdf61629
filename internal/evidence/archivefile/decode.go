package archivefile

import (
	"encoding/hex"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Lines are read by hand, too, as long as they are in the form in which they were
// written. A line in another form, which means the same as JSON, is left to package json.

// decodeLine reads a line into a batch or into an entry, and reports which: the other is
// not changed. Texts of the result are parts of the line.
func decodeLine(line string, b *Batch, e *Entry) (isBatch bool, err error) {
	r := lineReader{rest: line}
	switch {
	case strings.HasPrefix(line, `{"entry":`):
		if r.entry(e); !r.other {
			return false, nil
		}
	case strings.HasPrefix(line, `{"batch":`):
		if r.batch(b); !r.other {
			return true, nil
		}
	}
	var l Line
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		return false, err
	}
	switch {
	case l.Batch != nil:
		read, err := l.Batch.batch()
		if err == nil {
			*b = *read
		}
		return true, err
	case l.Entry != nil:
		*e, err = l.Entry.entry()
		return false, err
	}
	return false, fmt.Errorf("%w: a line is neither a batch nor a record", ErrDamaged)
}

// lineReader reads the members of a line in their order.
type lineReader struct {
	rest  string
	other bool // the line has another form
}

func (r *lineReader) batch(b *Batch) {
	*b = Batch{Found: true}
	b.Node = r.text(`{"batch":{"node":`)
	b.Epoch = r.number(`,"epoch":`)
	b.N = r.number(`,"n":`)
	b.At = r.time(`,"at":`)
	b.Count = int(r.number(`,"count":`))
	b.Root = make([]byte, 32)
	r.hex(`,"root":`, b.Root)
	b.Xact = r.text(`,"xact":`)
	b.Log = r.number(`,"log":`)
	r.end()
}

func (r *lineReader) entry(e *Entry) {
	*e = Entry{StoredHash: make([]byte, 32)}
	e.RequestID = r.id(`{"entry":{"requestId":`)
	e.At = r.time(`,"at":`)
	e.Type = r.text(`,"type":`)
	e.Entity = r.id(`,"entity":`)
	e.Key = r.id(`,"key":`)
	e.Mode = r.text(`,"mode":`)
	e.Purpose = r.text(`,"purpose":`)
	e.PurposeText = r.text(`,"purposeText":`)
	e.Status = r.text(`,"status":`)
	e.Reason = r.text(`,"reason":`)
	e.MobileNetwork = r.text(`,"mobileNetwork":`)
	e.LineVersion = r.number(`,"lineVersion":`)
	e.PolicyVersion = r.short(`,"policyVersion":`)
	e.PlanVersion = r.short(`,"planVersion":`)
	e.Rules = r.short(`,"rules":`)
	r.hex(`,"coverage":`, e.Coverage[:])
	e.Number = r.number(`,"number":`)
	e.PhoneNumber = r.text(`,"phoneNumber":`)
	e.Correlator = r.text(`,"correlator":`)
	e.ExternalID = r.text(`,"externalId":`)
	e.OnBehalfOf = r.text(`,"onBehalfOf":`)
	e.Options = r.text(`,"options":`)
	e.Extra = r.text(`,"extra":`)
	if nonce := r.quoted(`,"nonce":`); len(nonce) == 2*len(e.Inner) {
		r.decodeHex(e.Inner[:], nonce)
	} else {
		r.decodeHex(e.Nonce[:], nonce)
	}
	r.hex(`,"hash":`, e.StoredHash)
	r.end()
}

// skip skips what must come next.
func (r *lineReader) skip(text string) {
	rest, ok := strings.CutPrefix(r.rest, text)
	r.rest, r.other = rest, r.other || !ok
}

func (r *lineReader) end() {
	r.skip("}}")
	r.other = r.other || r.rest != ""
}

// quoted returns a text without an escape.
func (r *lineReader) quoted(name string) string {
	r.skip(name)
	r.skip(`"`)
	text, rest, ok := strings.Cut(r.rest, `"`)
	r.rest, r.other = rest, r.other || !ok
	return text
}

func (r *lineReader) text(name string) string {
	before := r.rest
	text := r.quoted(name)
	if r.other || strings.IndexByte(text, '\\') < 0 {
		return text
	}
	// The text has an escape, and its end may be further on.
	literal := before[len(name):]
	end := 1
	for end < len(literal) && literal[end] != '"' {
		if literal[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(literal) {
		r.other = true
		return ""
	}
	plain, err := jsontext.AppendUnquote(nil, literal[:end+1])
	r.rest, r.other = literal[end+1:], err != nil
	return string(plain)
}

func (r *lineReader) number(name string) int64 {
	r.skip(name)
	end := 0
	for end < len(r.rest) && (r.rest[end] == '-' || r.rest[end] >= '0' && r.rest[end] <= '9') {
		end++
	}
	n, err := strconv.ParseInt(r.rest[:end], 10, 64)
	r.rest, r.other = r.rest[end:], r.other || err != nil
	return n
}

func (r *lineReader) short(name string) int32 {
	n := r.number(name)
	r.other = r.other || n != int64(int32(n)) //nolint:gosec // a number that does not fit is in another form
	return int32(n)                           //nolint:gosec // see above
}

func (r *lineReader) hex(name string, to []byte) { r.decodeHex(to, r.quoted(name)) }

func (r *lineReader) decodeHex(to []byte, text string) {
	if r.other || len(text) != 2*len(to) {
		r.other = true
		return
	}
	_, err := hex.Decode(to, []byte(text))
	r.other = err != nil
}

func (r *lineReader) id(name string) (id uuid.UUID) {
	text := r.quoted(name)
	const canonical = 36
	if len(text) != canonical {
		r.other = true
		return id
	}
	id, err := uuid.Parse(text)
	r.other = r.other || err != nil
	return id
}

func (r *lineReader) time(name string) time.Time {
	at, ok := parseTime(r.quoted(name))
	r.other = r.other || !ok
	return at
}

// parseTime reads a time in the form of TimeFormat. It leaves the last days of months to
// package time, which knows which of them exist.
func parseTime(text string) (time.Time, bool) {
	const layout = "0000-00-00T00:00:00.000Z"
	if len(text) != len(layout) {
		return time.Time{}, false
	}
	for i := range len(layout) {
		if isDigit := text[i] >= '0' && text[i] <= '9'; isDigit != (layout[i] == '0') || !isDigit && text[i] != layout[i] {
			return time.Time{}, false
		}
	}
	digits := func(from, to int) (n int) {
		for _, c := range []byte(text[from:to]) {
			n = 10*n + int(c-'0')
		}
		return n
	}
	month, day, hour, minute, second := digits(5, 7), digits(8, 10), digits(11, 13), digits(14, 16), digits(17, 19)
	if month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59 {
		at, err := time.Parse(TimeFormat, text)
		return at, err == nil
	}
	return time.Date(digits(0, 4), time.Month(month), day, hour, minute, second, digits(20, 23)*int(time.Millisecond), time.UTC), true
}
