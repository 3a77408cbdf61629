package inspect_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/inspect"
	"github.com/lineproof/lineproof/internal/testing/corpus"
)

func TestMain(m *testing.M) {
	inspect.Main()
	if path, ok := strings.CutPrefix(strings.Join(os.Args[1:min(2, len(os.Args))], ""), "-lineproof.measure="); ok {
		os.Exit(measured(path, os.Args[2:]))
	}
	os.Exit(m.Run())
}

// code returns the code of a refusal, "" for a file that passes, and the text
// of any other error.
func code(err error) string {
	var refusal *inspect.Refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal):
		return refusal.Code
	default:
		return err.Error()
	}
}

func inspectFile(s corpus.Sample) error {
	return inspect.File(bytes.NewReader(s.Data), int64(len(s.Data)), s.MediaType)
}

func TestNoHostileFilePasses(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	contents := map[string]string{}
	for s := range corpus.Hostile() {
		if seen[s.Name] {
			t.Errorf("%s: there are two of that name", s.Name)
		}
		if other, twice := contents[string(s.Data)]; twice {
			t.Errorf("%s has the content of %s", s.Name, other)
		}
		seen[s.Name], contents[string(s.Data)] = true, s.Name
		if got := code(inspectFile(s)); !slices.Contains(s.Codes, got) {
			t.Errorf("%s: %q, want one of %q", s.Name, got, s.Codes)
		}
	}
	if len(seen) < 400 {
		t.Errorf("there are %d hostile files, want 400", len(seen))
	}
	t.Logf("%d hostile files", len(seen))
}

func TestEveryHonestFilePasses(t *testing.T) {
	t.Parallel()
	seen, kinds := map[string]bool{}, map[string]int{}
	for s := range corpus.Honest() {
		if seen[s.Name] {
			t.Errorf("%s: there are two of that name", s.Name)
		}
		seen[s.Name] = true
		kinds[s.MediaType]++
		if err := inspectFile(s); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if len(seen) < 100 || len(kinds) != 6 {
		t.Errorf("there are %d honest files of %d kinds, want 100 of 6", len(seen), len(kinds))
	}
	t.Logf("%d honest files: %v", len(seen), kinds)
}
