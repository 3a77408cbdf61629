package linefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/values/fault"
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
	colScope        = "scope"
	colFirstHolder  = "firstHolder"
	colChurnAt      = "churnAt"
	colVoids        = "voids"
	colNote         = "note"
	colSince        = "since"
	colExternalID   = "externalId"
)

// Indexes of snapshotColumns.
const (
	snapNumber = iota
	snapState
	snapStateSince
	snapTenureStart
	snapSIMChangedAt
	snapChurnAt
)

// Indexes of eventColumns.
const (
	eventID = iota
	eventNumber
	eventType
	eventEffectiveAt
	eventNetwork
	eventLevel
	eventReason
	eventScope
	eventFirstHolder
	eventChurnAt
	eventVoids
	eventNote
)

// Indexes of questionColumns.
const (
	questionNumber = iota
	questionSince
	questionExternalID
)

// The required columns are first.
var (
	snapshotColumns = []string{colNumber, colState, colStateSince, colTenureStart, colSIMChangedAt, colChurnAt}
	eventColumns    = []string{
		colID, colNumber, colType, colEffectiveAt, colNetwork, colLevel, colReason, colScope, colFirstHolder, colChurnAt, colVoids, colNote,
	}
	questionColumns = []string{colNumber, colSince, colExternalID}
)

func columnsOf(k Kind) []string {
	switch k {
	case Snapshot:
		return snapshotColumns
	case Questions:
		return questionColumns
	case Events:
	}
	return eventColumns
}

// requiredColumns is how many columns of columnsOf, from the first on, a file must
// have.
func (k Kind) requiredColumns() int {
	switch k {
	case Snapshot:
		return snapStateSince + 1
	case Questions:
		return questionNumber + 1
	case Events:
	}
	return eventEffectiveAt + 1
}

// header is the positions of the columns in this file.
type header struct {
	at    []int // by the index in columnsOf; -1 if the file has no such column
	width int   // columns of the file
}

// byteOrderMark is put in front of UTF-8 text by some programs.
var byteOrderMark = []byte("\ufeff")

// readHeader checks the format of the file and reads its first line.
func (r *Reader) readHeader() (header, error) {
	for r.in.err == nil && r.in.end <= maxLine+len("\r") { // enough for the longest first line
		r.in.fill()
	}
	if r.in.err != nil && !errors.Is(r.in.err, io.EOF) && r.in.end == 0 {
		return header{}, r.readError(r.in.err)
	}
	if f := checkFormat(r.in.buf[:r.in.end]); f != nil {
		return header{}, f
	}
	if r.in.end > maxLine && bytes.IndexByte(r.in.buf[:r.in.end], '\n') < 0 {
		return header{}, badHeader(r.opts.Kind, hint(r.in.buf[:maxLine], true)) // without reading to its end
	}
	first, long, err := r.in.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return header{}, r.readError(err)
	}
	first = bytes.TrimPrefix(first, byteOrderMark)
	r.unquoted = make([]byte, 0, maxLine)
	r.header.width = maxLine // the header itself may have any number of columns
	p := r.splitCells(first)
	if err != nil || long || p.reason != "" {
		return header{}, badHeader(r.opts.Kind, hint(first, long))
	}
	names := make([]string, 0, len(r.cells))
	for _, cell := range r.cells {
		names = append(names, string(cell))
	}
	return findColumns(r.opts.Kind, names, hint(first, long))
}

// findColumns finds the positions of the columns. Hint is added to the error.
func findColumns(k Kind, names []string, hint string) (header, error) {
	known := columnsOf(k)
	h := header{at: slices.Repeat([]int{-1}, len(known)), width: len(names)}
	var form fault.Form
	unknown := 0
	for i, name := range names {
		at := slices.Index(known, name)
		switch {
		case at < 0:
			// The message does not quote the name: if the header is missing it is data.
			unknown++
			if unknown <= len(known) {
				form.Check(false, fmt.Sprintf("column %d", i+1), fault.Unknown, "There is no column of this name in "+k.describe()+".")
			}
		case h.at[at] >= 0:
			form.Once(name, fault.Repeated, "Name each column once.")
		default:
			h.at[at] = i
		}
	}
	for at, name := range known[:k.requiredColumns()] {
		form.Check(h.at[at] >= 0, name, fault.Required, "The file needs this column.")
	}
	if len(form.Violations()) == 0 {
		return h, nil
	}
	if other := k.other(); hint == "" && other != "" && isHeaderOf(other, names) {
		hint = "These are the columns of " + other.describe() + ". Send the file as that kind."
	}
	return header{}, badHeader(k, hint).With(form.Violations()...)
}

// isHeaderOf reports whether names has all required columns of the kind.
func isHeaderOf(k Kind, names []string) bool {
	for _, name := range columnsOf(k)[:k.requiredColumns()] {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// other returns the kind with which a file of an operator can be confused.
func (k Kind) other() Kind {
	switch k {
	case Snapshot:
		return Events
	case Events:
		return Snapshot
	case Questions:
	}
	return ""
}

func (k Kind) describe() string {
	switch k {
	case Snapshot:
		return "a snapshot"
	case Questions:
		return "a file of numbers"
	case Events:
	}
	return "an events file"
}

func badHeader(k Kind, hint string) *fault.Error {
	message := "The first line of " + k.describe() + " must name its columns, in any order and separated by commas: " +
		strings.Join(columnsOf(k)[:k.requiredColumns()], ",")
	if rest := columnsOf(k)[k.requiredColumns():]; len(rest) > 0 {
		message += "; optionally " + strings.Join(rest, ",")
	}
	return fault.New(fault.InvalidArgument, strings.TrimSpace(message+". "+hint))
}

// hint returns what is probably wrong with a first line that looks like this.
func hint(first []byte, long bool) string {
	has := func(b string) bool { return bytes.Contains(first, []byte(b)) }
	switch {
	case has("\r"):
		return "The lines of this file end with CR only; use LF, or CR and LF."
	case long:
		return fmt.Sprintf("The first line of this file has more than %d bytes; its line breaks may have been lost.", maxLine)
	case len(first) == 0:
		return "This file is empty or begins with an empty line. If there is nothing to report, send only the line with the column names."
	case has(";"):
		return "The columns of this file are separated by semicolons; use commas."
	case has("\t"):
		return "The columns of this file are separated by tabs; use commas."
	case has("|"):
		return "The columns of this file are separated by vertical bars; use commas."
	case first[0] == '+' || first[0] >= '0' && first[0] <= '9':
		return "This file begins with data; add a first line with the column names."
	}
	return ""
}
