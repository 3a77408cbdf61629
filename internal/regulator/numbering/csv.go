package numbering

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/values/csvfile"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// header is the required first line of a file.
var header = []string{"prefix", "network", "name", "allocated", "withdrawn"}

// maxBytes is the maximum size of a file. The largest plan with the longest names
// fits.
const maxBytes = 16 << 20

// ReadCSV reads a plan from a file whose first line is
// prefix,network,name,allocated,withdrawn. The error lists all mistakes in the
// file, each with its line and column.
func ReadCSV(r io.Reader) ([]Row, error) {
	limited := &io.LimitedReader{R: r, N: maxBytes + 1}
	br := bufio.NewReader(limited)
	if mark, err := br.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = br.Discard(3) // the byte order mark that spreadsheets write
	}
	in := csv.NewReader(br)
	in.FieldsPerRecord, in.ReuseRecord = -1, true
	var wrong violations
	first, err := in.Read()
	if broken := readError(err); broken != nil {
		return nil, broken
	}
	if err != nil || !slices.Equal(first, header) {
		wrong.check(false, "line 1", fault.BadFormat, "The first line must be: "+strings.Join(header, ",")+" (in lower case, as text in UTF-8).")
		return nil, wrong.err()
	}
	rows, lines, err := readRows(in, &wrong)
	if err != nil {
		return nil, err
	}
	if limited.N == 0 {
		return nil, fault.New(fault.PayloadTooLarge, fmt.Sprintf("The file is larger than %d MiB, the maximum for a plan. Check that it is the right file.", maxBytes>>20))
	}
	wrong.rows(rows, func(i int) string { return fmt.Sprintf("line %d", lines[i]) })
	if err := wrong.err(); err != nil {
		return nil, err
	}
	return rows, nil
}

// readRows reads the lines after the header. It skips lines that are not rows and
// adds a violation for each.
func readRows(in *csv.Reader, wrong *violations) (rows []Row, lines []int, err error) {
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, lines, nil
		}
		if broken := readError(err); broken != nil {
			return nil, nil, broken
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			wrong.check(false, fmt.Sprintf("line %d", parse.StartLine), fault.BadFormat,
				"The quotes are not balanced. Put a field that contains a quote in quotes, and double the quote inside it.")
			continue
		}
		line, _ := in.FieldPos(0)
		if len(fields) != len(header) {
			wrong.check(false, fmt.Sprintf("line %d", line), fault.BadFormat, fmt.Sprintf("The line has %d columns instead of %d.", len(fields), len(header)))
			continue
		}
		if len(rows) > maxRows {
			continue // violations.rows reports that there are too many
		}
		rows, lines = append(rows, parse(fields)), append(lines, line)
	}
}

// readError returns err if it is a failure to read, and nil if it is a mistake in
// the file.
func readError(err error) error {
	if _, parse := errors.AsType[*csv.ParseError](err); err == nil || parse || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("numbering: read the file: %w", err)
}

// parse returns one row. An invalid date becomes invalidDate, which the check of
// the row reports.
func parse(fields []string) Row {
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	// ReuseRecord shares one array among lines; the texts themselves are not shared.
	r := Row{Prefix: fields[0], Network: fields[1], Name: fields[2], Allocated: parseDate(fields[3])}
	if fields[4] != "" {
		r.Withdrawn = parseDate(fields[4])
	}
	return r
}

// invalidDate stands for text that is not a date: it is not at midnight.
var invalidDate = time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)

func parseDate(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.IsZero() {
		return invalidDate
	}
	return t
}

// WriteCSV writes the plan in the format that [ReadCSV] reads.
func (p *Plan) WriteCSV(w io.Writer) error {
	out := csvfile.NewProgramWriter(w)
	_ = out.Write(header) // the writer keeps its first error
	for _, r := range p.ranges {
		withdrawn := ""
		if !r.Withdrawn.IsZero() {
			withdrawn = r.Withdrawn.Format(time.DateOnly)
		}
		_ = out.Write([]string{r.Prefix, p.Code(r.Network), p.Name(r.Network), r.Allocated.Format(time.DateOnly), withdrawn})
	}
	out.Flush()
	return fault.Wrap(out.Error(), "numbering: write the file")
}
