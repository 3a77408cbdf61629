package statefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/statefile"
)

// A file has the last content, and nothing else is left beside it.
func TestReplaceLeavesTheNewContentAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	for _, content := range []string{"first", "second"} {
		if err := statefile.Replace(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("it has %q, %v", got, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("there are %v, %v", files, err)
	}
	if err := statefile.Replace(filepath.Join(dir, "none", "state"), nil); err == nil {
		t.Error("a file was written to a directory that does not exist")
	}
}
