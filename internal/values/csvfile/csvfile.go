// Package csvfile writes all CSV files of the service. Whatever a cell has, no spreadsheet
// runs it as a formula.
package csvfile

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"
)

// Writer writes CSV.
type Writer struct {
	out     *csv.Writer
	numbers []int
}

// NewWriter returns a writer of files for people, with the line ends of RFC 4180.
func NewWriter(w io.Writer) *Writer {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	return &Writer{out: out}
}

// NewProgramWriter returns a writer of files that programs read as well, whose lines end with
// a line feed. The columns of numbers have phone numbers as a program sent them: those that
// are nothing else stay as they are, so that the program finds them again.
func NewProgramWriter(w io.Writer, numbers ...int) *Writer {
	return &Writer{csv.NewWriter(w), numbers}
}

// Write writes a line. A cell that a spreadsheet would run as a formula begins with an
// apostrophe then. Programs that need the exact text use JSON.
func (w *Writer) Write(cells []string) error {
	line := make([]string, len(cells))
	for i, cell := range cells {
		if line[i] = cell; !slices.Contains(w.numbers, i) || strings.Trim(cell, "+0123456789 -.()") != "" {
			line[i] = safeCell(cell)
		}
	}
	return w.out.Write(line)
}

// Flush writes what is buffered. Error returns what failed.
func (w *Writer) Flush() { w.out.Flush() }

// Error returns the first error of Write and Flush.
func (w *Writer) Error() error { return w.out.Error() }

// safeCell puts an apostrophe before a cell that a spreadsheet would run as a formula.
func safeCell(cell string) string {
	if strings.IndexAny(strings.TrimLeft(cell, " \u00a0"), "=+-@\t\r\n|%＝＋－＠") == 0 {
		return "'" + cell
	}
	return cell
}
