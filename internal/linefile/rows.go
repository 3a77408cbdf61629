package linefile

import (
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
)

const (
	// maxID is the longest id of an event, in characters.
	maxID = 64
	// maxWord is longer than every value of state and type.
	maxWord = 16
	// maxNumber is the longest spelling of a number that is parsed, in bytes.
	maxNumber = 32
)

// snapshot parses a row of a snapshot.
func (r *Reader) snapshot(row *Row) problem {
	if p := r.number(row, snapNumber); p.reason != "" {
		return p
	}
	s := &row.Snap
	var p problem
	if s.Tenure, p = r.time(snapTenureStart, true); p.reason != "" {
		return p
	}
	if s.SIM, p = r.time(snapSIMChangedAt, false); p.reason != "" {
		return p
	}
	if s.State, p = r.state(); p.reason != "" {
		return p
	}
	if s.StateSince, p = r.time(snapStateSince, s.State != line.StateActive); p.reason != "" {
		return p
	}
	if s.StateSince == line.Never {
		s.StateSince = s.Tenure
	}
	if s.SIM != line.Never && s.SIM < s.Tenure {
		return problem{colSIMChangedAt, BeforeTenure}
	}
	if s.StateSince < s.Tenure {
		return problem{colStateSince, BeforeTenure}
	}
	return problem{}
}

// event parses a row of an events file.
func (r *Reader) event(row *Row) problem {
	e := &row.Event
	for c, to := range [...]*string{
		eventID: &e.ID, eventNetwork: &e.Network, eventLevel: &e.Level, eventReason: &e.Reason, eventVoids: &e.Voids, eventNote: &e.Note,
	} {
		if to == nil {
			continue
		}
		cell := r.cell(c)
		if p := checkText(c, cell); p.reason != "" {
			return p
		}
		*to = string(cell)
	}
	if p := r.number(row, eventNumber); p.reason != "" {
		return p
	}
	var p problem
	if e.Kind, p = r.kind(); p.reason != "" {
		return p
	}
	if e.Effective, p = r.time(eventEffectiveAt, true); p.reason != "" {
		return p
	}
	e.ChurnAt, p = r.time(eventChurnAt, false)
	return p
}

// cell returns the cell of a column; it is empty if the file has no such column.
func (r *Reader) cell(column int) []byte {
	if at := r.header.at[column]; at >= 0 {
		return r.cells[at]
	}
	return nil
}

func (r *Reader) number(row *Row, column int) problem {
	cell := r.cell(column)
	if len(cell) == 0 {
		return problem{colNumber, Missing}
	}
	if len(cell) > maxNumber {
		return problem{colNumber, BadFormat}
	}
	n, err := r.opts.Region.ParseMobile(string(cell)) // short enough to stay on the stack
	switch {
	case err == nil:
		row.Number = n
		return problem{}
	case errors.Is(err, phone.ErrNotMobile):
		return problem{colNumber, NotMobile}
	}
	return problem{colNumber, BadFormat}
}

// time parses the time in a column. An empty cell is Never.
func (r *Reader) time(column int, required bool) (line.Instant, problem) {
	field := columnsOf(r.opts.Kind)[column]
	cell := r.cell(column)
	if len(cell) == 0 {
		if required {
			return line.Never, problem{field, Missing}
		}
		return line.Never, problem{}
	}
	at, reason := parseTime(cell)
	if reason == "" && at > r.limit && field != colChurnAt {
		reason = Future
	}
	if reason != "" {
		return line.Never, problem{field, reason}
	}
	return at, problem{}
}

func (r *Reader) state() (line.State, problem) {
	cell := r.cell(snapState)
	if len(cell) == 0 {
		return 0, problem{colState, Missing}
	}
	if len(cell) <= maxWord {
		if s, ok := line.ParseState(string(cell)); ok && s != line.StateNone {
			return s, problem{}
		}
	}
	return 0, problem{colState, NotAllowed}
}

func (r *Reader) kind() (line.Kind, problem) {
	cell := r.cell(eventType)
	if len(cell) == 0 {
		return 0, problem{colType, Missing}
	}
	if len(cell) <= maxWord {
		if k, ok := line.ParseKind(string(cell)); ok {
			return k, problem{}
		}
	}
	return 0, problem{colType, NotAllowed}
}

// checkText checks a cell whose text is used as it is.
func checkText(column int, cell []byte) problem {
	field := eventColumns[column]
	if column == eventID && len(cell) == 0 {
		return problem{field, Missing}
	}
	if !printable(cell) {
		return problem{field, BadFormat}
	}
	if (column == eventID || column == eventVoids) && len(cell) > maxID && utf8.RuneCount(cell) > maxID {
		return problem{field, TooLong}
	}
	return problem{}
}

func printable(cell []byte) bool {
	for i := 0; i < len(cell); {
		if c := cell[i]; c < utf8.RuneSelf {
			if c < ' ' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		c, size := utf8.DecodeRune(cell[i:])
		if c == utf8.RuneError && size == 1 || !unicode.IsPrint(c) {
			return false
		}
		i += size
	}
	return true
}
