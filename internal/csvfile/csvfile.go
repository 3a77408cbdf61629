// Package csvfile writes CSV files that people open in a spreadsheet.
package csvfile

import (
	"encoding/csv"
	"io"
	"strings"
)

// NewWriter returns a writer of CSV with the line ends of RFC 4180.
func NewWriter(w io.Writer) *csv.Writer {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	return out
}

// SafeCells puts an apostrophe before every cell that a spreadsheet would run as
// a formula. Programs that need the exact text use JSON.
func SafeCells(cells []string) []string {
	for i, cell := range cells {
		if strings.IndexAny(strings.TrimLeft(cell, " \u00a0"), "=+-@\t\r\n|%＝＋－＠") == 0 {
			cells[i] = "'" + cell
		}
	}
	return cells
}
