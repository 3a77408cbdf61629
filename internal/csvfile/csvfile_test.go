package csvfile_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/csvfile"
)

// No cell is a formula, and what is none stays as it is.
func TestSafeCells(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"": "", "Bank of Lagos": "Bank of Lagos", "2026-11": "2026-11", "a=b": "a=b", "12": "12",
		"=1+1": "'=1+1", "+234": "'+234", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "  =1": "'  =1", "\t=1": "'\t=1", "|cmd": "'|cmd", "%0": "'%0", "＝1": "'＝1",
	} {
		if got := csvfile.SafeCells([]string{"x", cell})[1]; got != want {
			t.Errorf("%q becomes %q, want %q", cell, got, want)
		}
	}
}

// Lines end as RFC 4180 says.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	w := csvfile.NewWriter(&text)
	if err := w.Write([]string{"a", `b"c`}); err != nil {
		t.Fatal(err)
	}
	if w.Flush(); text.String() != "a,\"b\"\"c\"\r\n" {
		t.Errorf("%q", text.String())
	}
}
