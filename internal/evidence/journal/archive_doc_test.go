package journal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/blob"
)

// The archive on the page is what this package writes for the record of the page's
// example. The compressed bytes, and with them the hash and the key, depend on the
// compressor and are not compared.
func TestPageShowsTheArchive(t *testing.T) {
	t.Parallel()
	files, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	lines, made, err := journal.ArchiveLines(t.Context(), files, "node-1", 57, 4711, "81234", exampleEntry(t))
	if err != nil {
		t.Fatal(err)
	}
	archive := section(t, "The archive")
	for _, line := range lines {
		if !strings.Contains(archive, "\n"+line+"\n") {
			t.Errorf("the page does not show the line %s", line)
		}
	}
	_, text, _ := strings.Cut(archive, "\n```json\n")
	text, _, _ = strings.Cut(text, "```")
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	var shown archivefile.Manifest
	if err := decoder.Decode(&shown); err != nil || len(shown.Parts) != 1 {
		t.Fatalf("the manifest of the page: %v", err)
	}
	if bytes := shown.Parts[0].Bytes; bytes < 300 || bytes > 1000 || len(shown.Parts[0].Key) != 36 || len(shown.Parts[0].SHA256) != 64 {
		t.Errorf("the file of the page is not one: %+v", shown.Parts[0])
	}
	made.Parts[0].Key, made.Parts[0].SHA256, made.Parts[0].Bytes = shown.Parts[0].Key, shown.Parts[0].SHA256, shown.Parts[0].Bytes
	if diff := cmp.Diff(made, shown); diff != "" {
		t.Errorf("the manifest (-written +page):\n%s", diff)
	}
}
