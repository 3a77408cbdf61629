package csvfile_test

import (
	"bytes"
	"encoding/csv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/values/csvfile"
)

// No cell is a formula, and what is none stays as it is. A phone number stays as it is in a
// column of numbers only, and nothing else does there.
func TestCellsAreNoFormulas(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string][2]string{
		"": {"", ""}, "Bank of Lagos": {"Bank of Lagos", "Bank of Lagos"}, "2026-11": {"2026-11", "2026-11"}, "a=b": {"a=b", "a=b"}, "12": {"12", "12"},
		"=1+1": {"'=1+1", "'=1+1"}, "+234": {"'+234", "+234"}, "-1": {"'-1", "-1"}, "@SUM(A1)": {"'@SUM(A1)", "'@SUM(A1)"}, "  =1": {"'  =1", "'  =1"},
		"\t=1": {"'\t=1", "'\t=1"}, "|cmd": {"'|cmd", "'|cmd"}, "%0": {"'%0", "'%0"}, "＝1": {"'＝1", "'＝1"}, "+234 (803) 1": {"'+234 (803) 1", "+234 (803) 1"}, "+A1": {"'+A1", "'+A1"},
	} {
		var text strings.Builder
		w := csvfile.NewProgramWriter(&text, 1)
		if err := w.Write([]string{cell, cell, "x"}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		got, err := csv.NewReader(strings.NewReader(text.String())).Read()
		if err != nil || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%q becomes %q (%v), want %q", cell, got, err, want)
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

// No package writes CSV by itself, so that every export has safe cells.
func TestEveryExportUsesTheWriter(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../../values/csvfile/") || strings.HasPrefix(path, "../../testing/") {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("csv.NewWriter(")) {
			t.Errorf("%s writes CSV without package csvfile", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
