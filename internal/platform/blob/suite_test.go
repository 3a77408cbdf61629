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
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/testing/s3test"
)

// place is where stores of one kind store their files.
type place struct {
	// open opens the place as one more process would.
	open func(t *testing.T) blob.Store
	// kept is the directory in which the files lie in the end.
	kept string
	// spool is where files lie on their way, if not among those.
	spool string
}

// kinds creates a new, empty place for each kind of store.
var kinds = map[string]func(t *testing.T) place{
	"directory": func(t *testing.T) place {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "data", "documents")
		return place{open: func(t *testing.T) blob.Store { t.Helper(); return openDir(t, dir) }, kept: dir, spool: filepath.Join(dir, "tmp")}
	},
	"bucket": func(t *testing.T) place {
		t.Helper()
		return bucketPlace(t, s3test.New(t))
	},
}

func bucketPlace(t *testing.T, s *s3test.Server) place {
	t.Helper()
	o := bucketOptions(t, s)
	return place{open: func(t *testing.T) blob.Store { t.Helper(); return openBucket(t, o) }, kept: filepath.Join(s.Data(), "documents"), spool: o.Spool}
}

func bucketOptions(t *testing.T, s *s3test.Server) blob.BucketOptions {
	t.Helper()
	return blob.BucketOptions{
		Endpoint: s.URL(), Bucket: s3test.Bucket, Prefix: "documents/", Region: s3test.Region, AccessKey: s.AccessKey, SecretKey: s.SecretKey,
		Spool: t.TempDir(), PartSize: 5 << 20,
	}
}

func openBucket(t *testing.T, o blob.BucketOptions) *blob.Bucket {
	t.Helper()
	b, err := blob.OpenBucket(o)
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, b)
	return b
}

func openDir(t *testing.T, dir string) *blob.Dir {
	t.Helper()
	d, err := blob.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, d)
	return d
}

func closeAfter(t *testing.T, c io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// eachKind runs a test over every kind of store.
func eachKind(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	for name, create := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, create(t))
		})
	}
}

// files lists every file under dir, with slashes.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// nothingLeft fails the test if there is any file in the place.
func (p place) nothingLeft(t *testing.T) {
	t.Helper()
	if left := append(files(t, p.kept), files(t, p.spool)...); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func read(t *testing.T, s blob.Store, key string) []byte {
	t.Helper()
	f, err := s.Open(t.Context(), key)
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

// large is the size of a file that is uploaded to a bucket in several parts.
const large = 11<<20 + 3

func pattern(size int) []byte { return bytes.Repeat([]byte{'a', 0, 0xff}, size/3+1)[:size] }

// A file is read back byte for byte, by another process too, with the right size
// and hash, be it empty or large; then it can be deleted. Both kinds
// give it the same name, so that files can be copied from one to the other.
func TestPutOpenDelete(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, p place) {
		s := p.open(t)
		for _, size := range []int{0, 1, 32 << 10, 1<<20 + 7, large} {
			key, content := newKey(t), pattern(size)
			info, err := s.Put(t.Context(), key, iotest.HalfReader(bytes.NewReader(content)))
			if err != nil {
				t.Fatal(err)
			}
			if info.Size != int64(size) || info.SHA256 != sha256.Sum256(content) {
				t.Errorf("size %d: info = %d bytes, %x", size, info.Size, info.SHA256)
			}
			if !bytes.Equal(read(t, p.open(t), key), content) {
				t.Errorf("size %d: other content came back", size)
			}
			name := key[34:] + "/" + key[32:34] + "/" + key
			if got := files(t, p.kept); !cmp.Equal(got, []string{name}) {
				t.Errorf("size %d: files = %q, want %q alone", size, got, name)
			}
			if err := s.Delete(t.Context(), key); err != nil {
				t.Error(err)
			}
			if _, err := s.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("Open after Delete: %v", err)
			}
			if err := s.Delete(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("second Delete: %v", err)
			}
		}
		p.nothingLeft(t)
	})
}

// A Put that is interrupted, by its reader or by its context, leaves nothing and
// returns the cause.
func TestInterruptedPutLeavesNothing(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("connection reset")
	eachKind(t, func(t *testing.T, p place) {
		ended, end := context.WithCancel(t.Context())
		end()
		midway, stop := context.WithCancel(t.Context())
		atEnd, stopAtEnd := context.WithCancel(t.Context())
		s := p.open(t)
		for name, tc := range map[string]struct {
			ctx  context.Context
			r    io.Reader
			want error
		}{
			"reader breaks":    {t.Context(), io.MultiReader(bytes.NewReader(pattern(100_000)), iotest.ErrReader(errBroken)), errBroken},
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
			key := newKey(t)
			info, err := s.Put(tc.ctx, key, tc.r)
			if !errors.Is(err, tc.want) || info != (blob.Info{}) {
				t.Errorf("%s: Put = %v, %v, want %v", name, info, err, tc.want)
			}
			if _, err := s.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("%s: Open: %v", name, err)
			}
		}
		p.nothingLeft(t)
	})
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// Of many concurrent Puts of one key exactly one succeeds, the others get
// ErrExists, and the content is that of the winner: even if all put the same.
func TestOneOfConcurrentPutsWins(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, p place) {
		for name, content := range map[string]func(i int) []byte{
			"different": func(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%02d", i), 10_000) },
			"the same":  func(int) []byte { return pattern(20_000) },
		} {
			const writers = 16
			var (
				key  = newKey(t)
				wg   sync.WaitGroup
				errs [writers]error
			)
			start := make(chan struct{})
			for i := range writers {
				s := p.open(t) // as if by another process
				wg.Go(func() {
					<-start
					_, errs[i] = s.Put(t.Context(), key, bytes.NewReader(content(i)))
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
					t.Errorf("%s: writer %d: %v, want ErrExists", name, i, err)
				}
			}
			if winner < 0 {
				t.Fatalf("%s: no Put succeeded", name)
			}
			if !bytes.Equal(read(t, p.open(t), key), content(winner)) {
				t.Errorf("%s: the content is not the winner's", name)
			}
		}
		if left := append(files(t, p.kept), files(t, p.spool)...); len(left) != 2 {
			t.Errorf("files = %q, want two", left)
		}
	})
}

// Every operation refuses a key that is not a UUID before it can become a path, and
// the error does not contain it.
func TestOddKeysAreRefused(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, p place) {
		s, good := p.open(t), newKey(t)
		for _, key := range []string{
			"", ".", "..", "../" + good[3:], "/etc/passwd", "tmp", good + "0", good[1:], strings.ToUpper("0192f0a0-aaaa-7bbb-8ccc-ddddeeeeffff"),
			"{" + good[1:35] + "}", "urn:uuid:" + good, strings.ReplaceAll(good, "-", ""), strings.ReplaceAll(good, "-", "/"), good[:35] + "\x00",
			good[:35] + "\n", good[:34] + "..", good[:34] + "é", strings.Repeat("-", 36), strings.Repeat("0", 36),
		} {
			_, put := s.Put(t.Context(), key, strings.NewReader("x"))
			_, opened := s.Open(t.Context(), key)
			for _, err := range []error{put, opened, s.Delete(t.Context(), key)} {
				if !errors.Is(err, blob.ErrKey) || err.Error() != blob.ErrKey.Error() {
					t.Errorf("key %q: %v, want ErrKey", key, err)
				}
			}
		}
		p.nothingLeft(t)
	})
}

// A list has every file that was put, once, with its size and approximate time, and
// no other files; it ends with an error of the callback.
func TestListNamesEveryFile(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, p place) {
		s := p.open(t)
		want := map[string]int64{}
		for i := range 12 {
			key := newKey(t)
			if _, err := s.Put(t.Context(), key, bytes.NewReader(pattern(i))); err != nil {
				t.Fatal(err)
			}
			want[key] = int64(i)
		}
		stray := newKey(t)
		for _, name := range []string{"README", stray, "ab/cd/" + stray} {
			if err := errors.Join(os.MkdirAll(filepath.Join(p.kept, filepath.Dir(name)), 0o700), os.WriteFile(filepath.Join(p.kept, name), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]int64{}
		err := s.List(t.Context(), func(i blob.Item) error {
			if _, twice := got[i.Key]; twice || time.Since(i.Modified).Abs() > 5*time.Minute {
				t.Errorf("%s is named twice or with a wrong time: %s", i.Key, i.Modified)
			}
			got[i.Key] = i.Size
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the list differs (-want +got):\n%s", diff)
		}
		enough := errors.New("enough")
		if err := s.List(t.Context(), func(blob.Item) error { return enough }); !errors.Is(err, enough) {
			t.Errorf("List = %v, want the error of its reader", err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := s.List(ended, func(blob.Item) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("List = %v, want the end of its context", err)
		}
	})
}

// Check of a working store reports nothing and leaves nothing behind.
func TestCheckLeavesNothing(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, p place) {
		if err := p.open(t).Check(t.Context()); err != nil {
			t.Error(err)
		}
		p.nothingLeft(t)
	})
}

// Reading an open file fails when its context ends, or continues to its end; it
// never ends early with io.EOF.
func TestOpenFilesAreReadWhole(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, p place) {
		s, key, content := p.open(t), newKey(t), pattern(4<<20)
		if _, err := s.Put(t.Context(), key, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		f, err := s.Open(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		head := make([]byte, 1000)
		if _, err := io.ReadFull(f, head); err != nil {
			t.Fatal(err)
		}
		cancel()
		rest, err := io.ReadAll(f)
		if err == nil && !bytes.Equal(slices.Concat(head, rest), content) {
			t.Errorf("%d bytes were read as if they were all %d", len(head)+len(rest), len(content))
		}
	})
}
