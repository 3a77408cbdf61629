package linefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/fault"
)

// The columns.
const (
	colNumber       = "number"
	colTenureStart  = "tenureStart"
	colSIMChangedAt = "simChangedAt"
	colState        = "state"
	colStateSince   = "stateSince"
	colID           = "id"
	colType         = "type"
	colEffectiveAt  = "effectiveAt"
	colNetwork      = "network"
	colLevel        = "level"
	colReason       = "reason"
	colChurnAt      = "churnAt"
	colVoids        = "voids"
	colNote         = "note"
)

// Where the columns of a snapshot stand in snapshotColumns.
const (
	snapNumber = iota
	snapTenureStart
	snapSIMChangedAt
	snapState
	snapStateSince
)

// Where the columns of events stand in eventColumns.
const (
	eventID = iota
	eventNumber
	eventType
	eventEffectiveAt
	eventNetwork
	eventLevel
	eventReason
	eventChurnAt
	eventVoids
	eventNote
)

var (
	snapshotColumns = []string{colNumber, colTenureStart, colSIMChangedAt, colState, colStateSince}
	eventColumns    = []string{
		colID, colNumber, colType, colEffectiveAt, colNetwork, colLevel, colReason, colChurnAt, colVoids, colNote,
	}
)

func columnsOf(k Kind) []string {
	if k == Snapshot {
		return snapshotColumns
	}
	return eventColumns
}

// needed is how many columns, from the first on, a file must have.
func (k Kind) needed() int {
	if k == Snapshot {
		return len(snapshotColumns)
	}
	return eventEffectiveAt + 1
}

// header says where the columns stand in this file.
type header struct {
	at    []int // by the order in columnsOf; -1 where the file has no such column
	width int
}

// byteOrderMark is what some programs put in front of UTF-8.
var byteOrderMark = []byte("\ufeff")

// readHeader looks at what the file is and reads its first line.
func (r *Reader) readHeader() (header, error) {
	for r.in.err == nil && r.in.end <= maxLine+len("\r") { // as much as the longest first line has
		r.in.fill()
	}
	if r.in.err != nil && !errors.Is(r.in.err, io.EOF) && r.in.end == 0 {
		return header{}, r.broken(r.in.err)
	}
	if f := foreign(r.in.buf[:r.in.end]); f != nil {
		return header{}, f
	}
	if r.in.end > maxLine && bytes.IndexByte(r.in.buf[:r.in.end], '\n') < 0 {
		return header{}, badHeader(r.o.Kind, hint(r.in.buf[:maxLine], true)) // without waiting for its end
	}
	first, long, err := r.in.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return header{}, r.broken(err)
	}
	first = bytes.TrimPrefix(first, byteOrderMark)
	r.unquoted = make([]byte, 0, maxLine)
	r.header.width = maxLine // of the header itself every column counts
	w := r.cut(first)
	if err != nil || long || w.reason != "" {
		return header{}, badHeader(r.o.Kind, hint(first, long))
	}
	names := make([]string, 0, len(r.cells))
	for _, cell := range r.cells {
		names = append(names, string(cell))
	}
	return placed(r.o.Kind, names, hint(first, long))
}

// placed finds the columns. Hint is what to say when there are others.
func placed(k Kind, names []string, hint string) (header, error) {
	known := columnsOf(k)
	h := header{at: slices.Repeat([]int{-1}, len(known)), width: len(names)}
	var form fault.Form
	strangers := 0
	for i, name := range names {
		at := slices.Index(known, name)
		switch {
		case at < 0:
			// The name is not repeated: where the header is missing it is data.
			strangers++
			if strangers <= len(known) {
				form.Check(false, fmt.Sprintf("column %d", i+1), fault.Unknown, "There is no column of this name in "+k.words()+".")
			}
		case h.at[at] >= 0:
			form.Once(name, fault.Repeated, "Name the column once.")
		default:
			h.at[at] = i
		}
	}
	for at, name := range known[:k.needed()] {
		form.Check(h.at[at] >= 0, name, fault.Required, "The file needs this column.")
	}
	if len(form.Violations()) == 0 {
		return h, nil
	}
	if other := k.other(); hint == "" && fits(other, names) {
		hint = "These are the columns of " + other.words() + ": send the file as one."
	}
	return header{}, badHeader(k, hint).With(form.Violations()...)
}

// fits reports whether names could be the header of a file of the kind.
func fits(k Kind, names []string) bool {
	for _, name := range columnsOf(k)[:k.needed()] {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

func (k Kind) other() Kind {
	if k == Snapshot {
		return Events
	}
	return Snapshot
}

func (k Kind) words() string {
	if k == Snapshot {
		return "a snapshot"
	}
	return "a file of events"
}

func badHeader(k Kind, hint string) *fault.Error {
	words := "The first line of " + k.words() + " names its columns, in any order and separated by commas: " +
		strings.Join(columnsOf(k)[:k.needed()], ",")
	if rest := columnsOf(k)[k.needed():]; len(rest) > 0 {
		words += ", and if wanted " + strings.Join(rest, ",")
	}
	return fault.New(fault.InvalidArgument, strings.TrimSpace(words+". "+hint))
}

// hint says what usually went wrong when the first line looks like this.
func hint(first []byte, long bool) string {
	has := func(b string) bool { return bytes.Contains(first, []byte(b)) }
	switch {
	case has("\r"):
		return "The line breaks of this file are carriage returns; use LF, or CR and LF."
	case long:
		return fmt.Sprintf("The first line of this file has more than %d bytes; its line breaks may be lost.", maxLine)
	case len(first) == 0:
		return "This file begins with an empty line or is empty. If there is nothing to report, send the first line alone."
	case has(";"):
		return "The columns of this file are separated by semicolons; use commas."
	case has("\t"):
		return "The columns of this file are separated by tabs; use commas."
	case has("|"):
		return "The columns of this file are separated by bars; use commas."
	case first[0] == '+' || first[0] >= '0' && first[0] <= '9':
		return "This file begins with data; put the names of the columns above it."
	}
	return ""
}
