package linefile

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// rowWriter writes the rows of a file.
type rowWriter struct {
	w   io.Writer
	buf []byte
}

func newRowWriter(w io.Writer, columns []string) *rowWriter {
	buf := make([]byte, 0, bufferSize+maxLine)
	return &rowWriter{w: w, buf: append(buf, strings.Join(columns, ",")+"\n"...)}
}

// text adds a cell that needs no quotes.
func (w *rowWriter) text(s string) {
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, ',')
}

func (w *rowWriter) number(n phone.Number) {
	w.buf = append(w.buf, '+')
	w.buf = strconv.AppendInt(w.buf, n.Int(), 10)
	w.buf = append(w.buf, ',')
}

// time adds a time, or only its date, or nothing for Never.
func (w *rowWriter) time(at line.Instant, date bool) {
	if at != line.Never {
		w.buf = appendTime(w.buf, at, date)
	}
	w.buf = append(w.buf, ',')
}

// end ends the row.
func (w *rowWriter) end() error {
	w.buf[len(w.buf)-1] = '\n' // replaces the last comma
	if len(w.buf) < bufferSize {
		return nil
	}
	return w.flush()
}

func (w *rowWriter) flush() error {
	if _, err := w.w.Write(w.buf); err != nil {
		return fmt.Errorf("linefile: write the file: %w", err)
	}
	w.buf = w.buf[:0]
	return nil
}

// appendTime appends a time of the years 1990 to 2087 in the form that parseTimeFast
// parses, or only its date.
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

// leapDay is how many leap days are before the month with that index.
func leapDay(month, leap int) int {
	if month < 2 {
		return 0
	}
	return leap
}

func appendPair(to []byte, n int) []byte {
	return append(to, byte('0'+n/10), byte('0'+n%10)) //nolint:gosec // two digits
}
