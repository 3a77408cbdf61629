package linefile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
)

// A refusal quotes the number and the value of its column as they stand in the file, in
// whatever order the columns are; where the cells cannot be told apart it quotes nothing.
func TestRefusalsQuoteTheirCells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ row, number, value string }{
		"a wrong time":        {"never,ASSIGNED,+2348030000001,a", "+2348030000001", "never"},
		"a wrong number":      {"2026-01-01,ASSIGNED,0803 12,a", "0803 12", "0803 12"},
		"an empty cell":       {",ASSIGNED,08030000001,a", "08030000001", ""},
		"a long cell":         {"2026-01-01," + strings.Repeat("x", 200) + ",08030000001,a", "08030000001", strings.Repeat("x", 64) + "…"},
		"cut in a character":  {"2026-01-01," + strings.Repeat("x", 63) + "ééé,08030000001,a", "08030000001", strings.Repeat("x", 63) + "…"},
		"a control character": {"2026-01-01,A\x1b[1mB,08030000001,a", "08030000001", "A·[1mB"},
		"too few columns":     {"2026-01-01,ASSIGNED,08030000001", "", ""},
		"an open quote":       {`2026-01-01,ASSIGNED,"08030000001,a`, "", ""},
		"no text":             {"2026-01-01,ASSIGNED,0803000000\xff,a", "", ""},
	} {
		o := linefile.Options{Kind: linefile.Events, Region: region(t), Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
		_, got := readRow(t, o, "effectiveAt,type,number,id", c.row)
		if got.Reason == "" || got.Number != c.number || got.Value != c.value {
			t.Errorf("%s: quoted as %q and %q (%s), want %q and %q", name, got.Number, got.Value, got.Reason, c.number, c.value)
		}
	}
}

// A row that is refused after it was read quotes the number and the value of the column, too.
func TestReadRowsAreRefusedWithTheirValue(t *testing.T) {
	t.Parallel()
	o := linefile.Options{Kind: linefile.Events, Region: region(t), Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
	row, _ := readRow(t, o, "id,number,type,effectiveAt,network,voids", "a-1,08030000001,VOIDED,2026-01-01T08:00:00+01:00,GLO,b-2")
	if row.Event.Kind != line.Void {
		t.Fatalf("%+v", row)
	}
	for field, want := range map[string]string{
		"id": "a-1", "number": "+2348030000001", "type": "VOIDED", "effectiveAt": "2026-01-01T07:00:00Z", "network": "GLO", "voids": "b-2",
		"churnAt": "", "firstHolder": "false", "note": "", "": "",
	} {
		if diff := cmp.Diff(linefile.Refusal{Place: 2, Field: field, Reason: "X", Number: "+2348030000001", Value: want}, row.Refuse(field, "X")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
	}
}
