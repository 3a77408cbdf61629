package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/blob"
)

// open returns a store in a new directory, and the directory.
func open(t *testing.T) (store *blob.Dir, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data", "documents")
	return reopen(t, dir), dir
}

func reopen(t *testing.T, dir string) *blob.Dir {
	t.Helper()
	d, err := blob.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// files lists every file under dir, with slashes.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t *testing.T, d *blob.Dir, key string) []byte {
	t.Helper()
	f, err := d.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return content
}

func newKey(t *testing.T) string {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// What was put comes back byte for byte, also after a restart, with the right
// size and hash; only its owner can read the file; then it can be deleted.
func TestPutOpenDelete(t *testing.T) {
	t.Parallel()
	d, dir := open(t)
	for _, size := range []int{0, 1, 32 << 10, 1<<20 + 7} {
		key, content := newKey(t), bytes.Repeat([]byte{'a', 0, 0xff}, size/3+1)[:size]
		info, err := d.Put(t.Context(), key, iotest.HalfReader(bytes.NewReader(content)))
		if err != nil {
			t.Fatal(err)
		}
		if info.Size != int64(size) || info.SHA256 != sha256.Sum256(content) {
			t.Errorf("size %d: info = %d bytes, %x", size, info.Size, info.SHA256)
		}
		if !bytes.Equal(read(t, reopen(t, dir), key), content) {
			t.Errorf("size %d: other content came back", size)
		}
		name := key[34:] + "/" + key[32:34] + "/" + key
		if got := files(t, dir); !slices.Equal(got, []string{name}) {
			t.Errorf("files = %q, want %q alone", got, name)
		}
		if stat, err := os.Stat(filepath.Join(dir, name)); err != nil || stat.Mode() != 0o600 {
			t.Errorf("stat = %v, %v, want mode 0600", stat, err)
		}
		if err := d.Delete(t.Context(), key); err != nil {
			t.Error(err)
		}
		if _, err := d.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("Open after Delete: %v", err)
		}
		if err := d.Delete(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("second Delete: %v", err)
		}
	}
}

// A Put that is cut off, by its reader or by its context, leaves nothing and
// says why.
func TestInterruptedPutLeavesNothing(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("connection reset")
	half := strings.NewReader(strings.Repeat("x", 100_000))
	ended, end := context.WithCancel(t.Context())
	end()
	midway, stop := context.WithCancel(t.Context())
	atEnd, stopAtEnd := context.WithCancel(t.Context())

	for name, tc := range map[string]struct {
		ctx  context.Context
		r    io.Reader
		want error
	}{
		"reader breaks":    {t.Context(), io.MultiReader(half, iotest.ErrReader(errBroken)), errBroken},
		"cancelled before": {ended, strings.NewReader("x"), context.Canceled},
		"cancelled midway": {midway, io.MultiReader(strings.NewReader("x"), readFunc(func(p []byte) (int, error) {
			stop()
			return copy(p, "y"), nil
		})), context.Canceled},
		"cancelled at the end": {atEnd, readFunc(func([]byte) (int, error) {
			stopAtEnd()
			return 0, io.EOF
		}), context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, dir := open(t)
			key := newKey(t)
			info, err := d.Put(tc.ctx, key, tc.r)
			if !errors.Is(err, tc.want) || info != (blob.Info{}) {
				t.Errorf("Put = %v, %v, want %v", info, err, tc.want)
			}
			if left := files(t, dir); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			if _, err := d.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("Open: %v", err)
			}
		})
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// Of many that put one key at the same moment exactly one wins, the others are
// told, and the content is the winner's, whole.
func TestOneOfConcurrentPutsWins(t *testing.T) {
	t.Parallel()
	_, dir := open(t)
	key := newKey(t)
	const writers = 16
	var (
		wg   sync.WaitGroup
		errs [writers]error
	)
	content := func(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%02d", i), 10_000) }
	start := make(chan struct{})
	for i := range writers {
		d := reopen(t, dir) // as if by another process
		wg.Go(func() {
			<-start
			_, errs[i] = d.Put(t.Context(), key, bytes.NewReader(content(i)))
		})
	}
	close(start)
	wg.Wait()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner < 0:
			winner = i
		case !errors.Is(err, blob.ErrExists):
			t.Errorf("writer %d: %v, want ErrExists", i, err)
		}
	}
	if winner < 0 {
		t.Fatal("nobody won")
	}
	if !bytes.Equal(read(t, reopen(t, dir), key), content(winner)) {
		t.Error("the content is not the winner's")
	}
	if left := files(t, dir); len(left) != 1 {
		t.Errorf("files = %q, want one", left)
	}
}
