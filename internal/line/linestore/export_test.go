package linestore

import "github.com/lineproof/lineproof/internal/line"

// AfterStoring returns a row as it comes back from the table.
func AfterStoring(r *line.Row) line.Row {
	s := stored(r)
	restore(&s)
	return s
}
