package linefile

import (
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/values/phone"
)

const (
	// maxID is the longest id of an event, in characters.
	maxID = 64
	// maxWord is longer than every value of state and type.
	maxWord = 16
	// maxNumber is the longest spelling of a number that is parsed, in bytes.
	maxNumber = 32
)

// The words that a time of a snapshot may be.
const (
	wordUnknown = "UNKNOWN"
	wordNever   = "NEVER"
)

// snapshot parses a row of a snapshot.
func (r *Reader) snapshot(row *Row) problem {
	if p := r.number(row, snapNumber); p.reason != "" {
		return p
	}
	s := &row.Snap
	if p := r.tenure(s); p.reason != "" {
		return p
	}
	if p := r.sim(s); p.reason != "" {
		return p
	}
	var p problem
	if s.State, p = r.state(); p.reason != "" {
		return p
	}
	if p := r.stateSince(s); p.reason != "" {
		return p
	}
	return r.churn(s)
}

// tenure parses when the tenure started.
func (r *Reader) tenure(s *line.Baseline) problem {
	if s.Tenure = line.Never; string(r.cell(snapTenureStart)) == wordUnknown {
		return problem{}
	}
	var bare bool
	var p problem
	if s.Tenure, bare, p = r.pastTime(snapTenureStart); bare {
		s.Bits |= line.TenureDay
	}
	return p
}

// sim parses when the SIM last changed.
func (r *Reader) sim(s *line.Baseline) problem {
	s.SIM = line.Never
	switch string(r.cell(snapSIMChangedAt)) {
	case "", wordUnknown:
		s.Bits |= line.SIMUnknown
		return problem{}
	case wordNever:
		return problem{}
	}
	var bare bool
	var p problem
	if s.SIM, bare, p = r.pastTime(snapSIMChangedAt); bare {
		s.Bits |= line.SIMDay
	}
	if p.reason == "" && r.beforeTenure(s, s.SIM) {
		p = problem{colSIMChangedAt, BeforeTenure}
	}
	return p
}

// stateSince parses since when the line has its state. Of the end of a tenure a bare
// date is ordered at its first second, so that the next holder of that day comes
// after it.
func (r *Reader) stateSince(s *line.Baseline) problem {
	since, bare, p := r.pastTime(snapStateSince)
	switch {
	case p.reason != "":
		return p
	case since == line.Never && s.State != line.StateActive:
		return problem{colStateSince, Missing}
	case since == line.Never:
		since = s.Tenure
	case r.beforeTenure(s, since):
		return problem{colStateSince, BeforeTenure}
	case bare && s.State == line.StateEnded:
		s.Bits |= line.EndDay
		since = r.days.start(since)
	}
	s.StateSince = since
	return problem{}
}

// churn parses the announced churn date. From a bare date on the line counts as
// ended, so it is the first second of that day.
func (r *Reader) churn(s *line.Baseline) problem {
	if s.Until = line.Never; len(r.cell(snapChurnAt)) == 0 {
		return problem{}
	}
	if s.State != line.StateNoticed {
		return problem{colChurnAt, NotAllowed}
	}
	var bare bool
	var p problem
	if s.Until, bare, p = r.time(snapChurnAt); bare {
		s.Until = r.days.start(s.Until)
	}
	return p
}

// beforeTenure reports whether a time is before the tenure, whose start is known to
// the second, to the day, or not at all. A bare date is passed by its last second:
// it is before the tenure only if all of that day is.
func (r *Reader) beforeTenure(s *line.Baseline, at line.Instant) bool {
	return at < s.Tenure && (s.Bits&line.TenureDay == 0 || at < r.days.start(s.Tenure))
}

// event parses a row of an events file.
func (r *Reader) event(row *Row) problem {
	e := &row.Event
	for c, to := range [...]*string{
		eventID: &e.ID, eventNetwork: &e.Network, eventLevel: &e.Level, eventReason: &e.Reason, eventScope: &e.Scope,
		eventVoids: &e.Voids, eventNote: &e.Note,
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
	if e.Effective, e.Day, p = r.pastTime(eventEffectiveAt); p.reason != "" {
		return p
	}
	if e.Effective == line.Never {
		return problem{colEffectiveAt, Missing}
	}
	if e.FirstHolder, p = r.firstHolder(); p.reason != "" {
		return p
	}
	e.ChurnAt, _, p = r.time(eventChurnAt)
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

// time parses the time in a column. Of a bare date the time is the last second of its
// day, and bare is true. An empty cell is Never.
func (r *Reader) time(column int) (at line.Instant, bare bool, p problem) {
	cell := r.cell(column)
	if len(cell) == 0 {
		return line.Never, false, problem{}
	}
	at, bare, reason := r.days.parseTime(cell)
	if reason != "" {
		return line.Never, false, problem{columnsOf(r.opts.Kind)[column], reason}
	}
	return at, bare, problem{}
}

// pastTime is time for a column whose time must not be in the future. A bare date is
// not if its day has begun. In a snapshot its time is then not later than asOf.
func (r *Reader) pastTime(column int) (at line.Instant, bare bool, p problem) {
	cell := r.cell(column)
	if len(cell) == 0 {
		return line.Never, false, problem{}
	}
	if at, bare, ok := r.days.parseTimeFast(cell); ok && at <= r.limit {
		return at, bare, problem{} // nearly every time
	}
	return r.limitedTime(column)
}

// limitedTime is pastTime for every time.
func (r *Reader) limitedTime(column int) (at line.Instant, bare bool, p problem) {
	at, bare, p = r.time(column)
	if at <= r.limit {
		return at, bare, p
	}
	if !bare || r.days.start(at) > r.limit {
		return line.Never, false, problem{columnsOf(r.opts.Kind)[column], Future}
	}
	if r.opts.Kind == Snapshot {
		at = r.limit
	}
	return at, true, p
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

func (r *Reader) firstHolder() (first bool, p problem) {
	switch string(r.cell(eventFirstHolder)) {
	case "true":
		return true, problem{}
	case "", "false":
		return false, problem{}
	}
	return false, problem{colFirstHolder, NotAllowed}
}

func (r *Reader) kind() (line.Kind, problem) {
	cell := r.cell(eventType)
	if len(cell) == 0 {
		return 0, problem{colType, Missing}
	}
	if len(cell) <= maxWord {
		if k, ok := line.ParseKind(string(cell)); ok && isReported(k) {
			return k, problem{}
		}
	}
	return 0, problem{colType, NotAllowed}
}

// isReported reports whether suppliers report events of the kind. The others are made
// by staff, or by the import of a snapshot.
func isReported(k line.Kind) bool {
	return k != line.Confirm && k != line.Restate
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
