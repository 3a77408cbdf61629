package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/blob"
)

// Whatever is not plainly a UUID is refused by every operation before it can
// become a path, and is not repeated.
func TestOddKeysAreRefused(t *testing.T) {
	t.Parallel()
	d, dir := open(t)
	good := newKey(t)
	for _, key := range []string{
		"", ".", "..", "../" + good[3:], "/etc/passwd", "tmp", good + "0", good[1:], strings.ToUpper("0192f0a0-aaaa-7bbb-8ccc-ddddeeeeffff"),
		"{" + good[1:35] + "}", "urn:uuid:" + good, strings.ReplaceAll(good, "-", ""), strings.ReplaceAll(good, "-", "/"), good[:35] + "\x00",
		good[:35] + "\n", good[:34] + "..", good[:34] + "é", strings.Repeat("-", 36), strings.Repeat("0", 36),
	} {
		_, put := d.Put(t.Context(), key, strings.NewReader("x"))
		_, opened := d.Open(t.Context(), key)
		for _, err := range []error{put, opened, d.Delete(t.Context(), key)} {
			if !errors.Is(err, blob.ErrKey) || err.Error() != blob.ErrKey.Error() {
				t.Errorf("key %q: %v, want ErrKey", key, err)
			}
		}
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("files = %q", left)
	}
}

// A directory that somebody replaced by a link does not lead out of the store.
func TestLinksDoNotLeadOut(t *testing.T) {
	t.Parallel()
	d, dir := open(t)
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
// process left, and leaves younger ones and documents of any age alone.
func TestOldLeftoversAreSwept(t *testing.T) {
	t.Parallel()
	d, dir := open(t)
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
	reopened := reopen(t, dir)
	want := []string{kept, "tmp/young"}
	slices.Sort(want)
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("files = %q, want %q", got, want)
	}
	if got := read(t, reopened, key); string(got) != "kept" {
		t.Errorf("content = %q", got)
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
