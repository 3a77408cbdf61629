package blob_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/blob"
)

// Only its owner can read a file in the directory.
func TestFilesAreTheOwnersOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "documents")
	key := newKey(t)
	if _, err := openDir(t, dir).Put(t.Context(), key, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t, dir) {
		if stat, err := os.Stat(filepath.Join(dir, name)); err != nil || stat.Mode() != 0o600 {
			t.Errorf("stat = %v, %v, want mode 0600", stat, err)
		}
	}
}

// A directory that was replaced by a link does not lead out of the store.
func TestLinksDoNotLeadOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openDir(t, dir)
	key, outside := newKey(t), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, key[34:])); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Put(t.Context(), key, strings.NewReader("x")); err == nil {
		t.Error("Put followed the link")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

// Opening the store removes temporary files older than a day, which a killed
// process left, and leaves younger ones and documents of any age alone. A list
// names neither.
func TestOldLeftoversAreSwept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openDir(t, dir)
	key := newKey(t)
	if _, err := d.Put(t.Context(), key, strings.NewReader("kept")); err != nil {
		t.Fatal(err)
	}
	kept := key[34:] + "/" + key[32:34] + "/" + key
	for name, age := range map[string]time.Duration{"tmp/old": 25 * time.Hour, "tmp/young": 23 * time.Hour, kept: 1000 * time.Hour} {
		full := filepath.Join(dir, name)
		if name != kept {
			if err := os.WriteFile(full, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(full, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	reopened := openDir(t, dir)
	want := []string{kept, "tmp/young"}
	slices.Sort(want)
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("files = %q, want %q", got, want)
	}
	if got := read(t, reopened, key); string(got) != "kept" {
		t.Errorf("content = %q", got)
	}
	if err := reopened.List(t.Context(), func(i blob.Item) error {
		if i.Key != key {
			t.Errorf("the list names %q", i.Key)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// A path that cannot be a store is an error at once, not at the first upload.
func TestOpenDirRefusesAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), ""} {
		if d, err := blob.OpenDir(dir); err == nil {
			t.Errorf("OpenDir took %q", dir)
			_ = d.Close()
		}
	}
}
