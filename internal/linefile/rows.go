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
	// maxWord is longer than every word that a column takes.
	maxWord = 16
	// maxNumber is the longest spelling of a number that is read.
	maxNumber = 32
)

// snapshot reads a row of a snapshot.
func (r *Reader) snapshot(row *Row) wrong {
	if w := r.number(row, snapNumber); w.reason != "" {
		return w
	}
	s := &row.Snap
	var w wrong
	if s.Tenure, w = r.time(snapTenureStart, true); w.reason != "" {
		return w
	}
	if s.SIM, w = r.time(snapSIMChangedAt, false); w.reason != "" {
		return w
	}
	if s.State, w = r.state(); w.reason != "" {
		return w
	}
	if s.StateSince, w = r.time(snapStateSince, s.State != line.StateActive); w.reason != "" {
		return w
	}
	if s.StateSince == line.Never {
		s.StateSince = s.Tenure
	}
	if s.SIM != line.Never && s.SIM < s.Tenure {
		return wrong{colSIMChangedAt, BeforeTenure}
	}
	if s.StateSince < s.Tenure {
		return wrong{colStateSince, BeforeTenure}
	}
	return wrong{}
}

// event reads a row of an events file.
func (r *Reader) event(row *Row) wrong {
	e := &row.Event
	for c, to := range [...]*string{
		eventID: &e.ID, eventNetwork: &e.Network, eventLevel: &e.Level, eventReason: &e.Reason, eventVoids: &e.Voids, eventNote: &e.Note,
	} {
		if to == nil {
			continue
		}
		cell := r.cell(c)
		if w := text(c, cell); w.reason != "" {
			return w
		}
		*to = string(cell)
	}
	if w := r.number(row, eventNumber); w.reason != "" {
		return w
	}
	var w wrong
	if e.Kind, w = r.kind(); w.reason != "" {
		return w
	}
	if e.Effective, w = r.time(eventEffectiveAt, true); w.reason != "" {
		return w
	}
	e.ChurnAt, w = r.time(eventChurnAt, false)
	return w
}

// cell returns the cell of a column, which is empty when the file has no such
// column.
func (r *Reader) cell(column int) []byte {
	if at := r.header.at[column]; at >= 0 {
		return r.cells[at]
	}
	return nil
}

func (r *Reader) number(row *Row, column int) wrong {
	cell := r.cell(column)
	if len(cell) == 0 {
		return wrong{colNumber, Missing}
	}
	if len(cell) > maxNumber {
		return wrong{colNumber, BadFormat}
	}
	n, err := r.o.Region.ParseMobile(string(cell)) // the text is short and stays on the stack
	switch {
	case err == nil:
		row.Number = n
		return wrong{}
	case errors.Is(err, phone.ErrNotMobile):
		return wrong{colNumber, NotMobile}
	}
	return wrong{colNumber, BadFormat}
}

// time reads the time in a column, which is Never when it is empty.
func (r *Reader) time(column int, needed bool) (line.Instant, wrong) {
	field := columnsOf(r.o.Kind)[column]
	cell := r.cell(column)
	if len(cell) == 0 {
		if needed {
			return line.Never, wrong{field, Missing}
		}
		return line.Never, wrong{}
	}
	at, reason := readTime(cell)
	if reason == "" && at > r.limit && field != colChurnAt {
		reason = Future
	}
	if reason != "" {
		return line.Never, wrong{field, reason}
	}
	return at, wrong{}
}

func (r *Reader) state() (line.State, wrong) {
	cell := r.cell(snapState)
	if len(cell) == 0 {
		return 0, wrong{colState, Missing}
	}
	if len(cell) <= maxWord {
		if s, ok := line.ParseState(string(cell)); ok && s != line.StateNone {
			return s, wrong{}
		}
	}
	return 0, wrong{colState, NotAllowed}
}

func (r *Reader) kind() (line.Kind, wrong) {
	cell := r.cell(eventType)
	if len(cell) == 0 {
		return 0, wrong{colType, Missing}
	}
	if len(cell) <= maxWord {
		if k, ok := line.ParseKind(string(cell)); ok {
			return k, wrong{}
		}
	}
	return 0, wrong{colType, NotAllowed}
}

// text judges a cell that is taken as it stands.
func text(column int, cell []byte) wrong {
	field := eventColumns[column]
	if column == eventID && len(cell) == 0 {
		return wrong{field, Missing}
	}
	if !printable(cell) {
		return wrong{field, BadFormat}
	}
	if (column == eventID || column == eventVoids) && len(cell) > maxID && utf8.RuneCount(cell) > maxID {
		return wrong{field, TooLong}
	}
	return wrong{}
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
