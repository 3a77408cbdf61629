package whoasked

import (
	"fmt"
	"io"
	"strconv"

	"github.com/lineproof/lineproof/internal/values/csvfile"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var csvHeader = []string{"organisation", "purpose", "purpose_text", "on_behalf_of", "month", "status", "reason", "network", "answers"}

// WriteCSV writes the rows of the report. A cell that a spreadsheet would run as a formula
// starts with an apostrophe.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csvfile.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return fmt.Errorf("whoasked: write CSV: %w", err)
	}
	for _, row := range r.Rows {
		if err := out.Write(row.cells()); err != nil {
			return fmt.Errorf("whoasked: write CSV: %w", err)
		}
	}
	out.Flush()
	return fault.Wrap(out.Error(), "whoasked: write CSV")
}

// cells returns the row in the order of csvHeader.
func (r Row) cells() []string {
	return []string{r.Organisation, r.Purpose, r.PurposeText, r.OnBehalfOf, r.Month, r.Status, r.Reason, r.Network, strconv.Itoa(r.Answers)}
}
