package linefile

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
)

// rows writes the rows of a file.
type rows struct {
	w   io.Writer
	buf []byte
}

func newRows(w io.Writer, columns []string) *rows {
	buf := make([]byte, 0, bufferSize+maxLine)
	return &rows{w: w, buf: append(buf, strings.Join(columns, ",")+"\n"...)}
}

// text adds a cell, which needs no quotes.
func (r *rows) text(s string) {
	r.buf = append(r.buf, s...)
	r.buf = append(r.buf, ',')
}

func (r *rows) number(n phone.Number) {
	r.buf = append(r.buf, '+')
	r.buf = strconv.AppendInt(r.buf, n.Int(), 10)
	r.buf = append(r.buf, ',')
}

// time adds a time, or a date if that is enough, or nothing for Never.
func (r *rows) time(at line.Instant, date bool) {
	if at != line.Never {
		r.buf = appendTime(r.buf, at, date)
	}
	r.buf = append(r.buf, ',')
}

// end ends the row.
func (r *rows) end() error {
	r.buf[len(r.buf)-1] = '\n' // instead of the comma
	if len(r.buf) < bufferSize {
		return nil
	}
	return r.flush()
}

func (r *rows) flush() error {
	if _, err := r.w.Write(r.buf); err != nil {
		return fmt.Errorf("linefile: write the file: %w", err)
	}
	r.buf = r.buf[:0]
	return nil
}

// appendTime writes a time of the years 1990 to 2087 in the form that quickTime
// reads, or its date only.
func appendTime(to []byte, at line.Instant, date bool) []byte {
	// Days and years are counted from 1988, a leap year like every fourth one since.
	seconds := int64(at) + 32*365*day + 8*day
	days := int(seconds / day)
	y, left := 4*(days/1461), days%1461
	if left >= 366 {
		y += 1 + (left-366)/365
		left = (left - 366) % 365
	}
	leap := 0
	if y%4 == 0 {
		leap = 1
	}
	m := left / 31
	for m < 11 && left >= monthDays[m+1]+leapDay(m+1, leap) {
		m++
	}
	left -= monthDays[m] + leapDay(m, leap)
	to = appendPair(to, (1988+y)/100)
	to = appendPair(to, (1988+y)%100)
	to = append(to, '-')
	to = appendPair(to, m+1)
	to = append(to, '-')
	to = appendPair(to, left+1)
	if date {
		return to
	}
	left = int(seconds % day)
	to = append(to, 'T')
	to = appendPair(to, left/3600)
	to = append(to, ':')
	to = appendPair(to, left/60%60)
	to = append(to, ':')
	to = appendPair(to, left%60)
	return append(to, 'Z')
}

// leapDay is the day that a leap year has before the month with that index.
func leapDay(month, leap int) int {
	if month < 2 {
		return 0
	}
	return leap
}

func appendPair(to []byte, n int) []byte {
	return append(to, byte('0'+n/10), byte('0'+n%10)) //nolint:gosec // two digits
}
