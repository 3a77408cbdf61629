package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/testing/s3test"
)

// between opens a bucket behind a proxy in which a test may damage the traffic.
func between(t *testing.T, s *s3test.Server, hurt func(w http.ResponseWriter, r *http.Request, pass http.Handler)) (*blob.Bucket, blob.BucketOptions) {
	t.Helper()
	target, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hurt(w, r, pass) }))
	t.Cleanup(proxy.Close)
	o := bucketOptions(t, s)
	o.Endpoint, o.Timeout, o.Idle = proxy.URL, 2*time.Second, time.Second
	return openBucket(t, o), o
}

// hangUp closes the connection without a response.
func hangUp() { panic(http.ErrAbortHandler) }

func isPut(r *http.Request) bool { return r.Method == http.MethodPut }

// damaged is content with one altered byte.
type damaged struct {
	io.ReadCloser

	at int
}

func (d *damaged) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if d.at >= 0 && d.at < n {
		p[d.at] ^= 1
	}
	d.at -= n
	return n, err
}

// A file that was altered during the upload is not stored: it is sent again, and if
// that does not help, the Put fails and stores nothing.
func TestDamageOnTheWayInIsRefused(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	for _, size := range []int{100_000, large} {
		for _, often := range []int64{1, 1 << 40} {
			var hurt atomic.Int64
			b, _ := between(t, s, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
				if isPut(r) && hurt.Add(1) <= often {
					r.Body = &damaged{r.Body, 5000}
				}
				pass.ServeHTTP(w, r)
			})
			key, content := newKey(t), pattern(size)
			_, err := b.Put(t.Context(), key, bytes.NewReader(content))
			if often > 1 {
				if !errors.Is(err, blob.ErrUnavailable) {
					t.Errorf("size %d: Put = %v, want ErrAway", size, err)
				}
				if _, err := b.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
					t.Errorf("size %d: Open = %v, want ErrNotFound", size, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(read(t, b, key), content) || hurt.Load() < 2 {
				t.Errorf("size %d: other content was kept, after %d tries", size, hurt.Load())
			}
		}
	}
}

// A file that is altered in the bucket or during the download does not end with
// io.EOF, and is not returned completely.
func TestDamageOnTheWayOutIsNoticed(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	b, o := between(t, s, func(w http.ResponseWriter, r *http.Request, pass http.Handler) { pass.ServeHTTP(w, r) })
	key := newKey(t)
	if _, err := b.Put(t.Context(), key, bytes.NewReader(pattern(100_000))); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(s.Data(), o.Prefix, key[34:], key[32:34], key)
	kept, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	if _, err := kept.WriteAt([]byte("X"), 77_777); err != nil {
		t.Fatal(err)
	}
	f, err := b.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := io.Copy(io.Discard, f); !errors.Is(err, blob.ErrDamaged) || n >= 100_000 {
		t.Errorf("%d bytes were read, and %v, want fewer than there are, and ErrDamaged", n, err)
	}
}

// If a connection is cut while a file is read, reading continues at the same
// offset; if it is cut every time, reading fails and does not end early.
func TestCutOffReadsAreTakenUp(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	var cutting, cuts, after atomic.Int64
	b, _ := between(t, s, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		if r.Method != http.MethodGet || cutting.Load() == 0 {
			pass.ServeHTTP(w, r)
			return
		}
		cuts.Add(1)
		rec := httptest.NewRecorder()
		pass.ServeHTTP(rec, r)
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()[:min(after.Load(), int64(rec.Body.Len()))])
		if after.Load() < int64(rec.Body.Len()) {
			_ = http.NewResponseController(w).Flush()
			hangUp()
		}
	})
	key, content := newKey(t), pattern(1<<20)
	if _, err := b.Put(t.Context(), key, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	cutting.Store(1)
	after.Store(100_000)
	if got := read(t, b, key); !bytes.Equal(got, content) || cuts.Load() < 10 {
		t.Errorf("%d bytes came back over %d cuts, want the %d that were put over 10", len(got), cuts.Load(), len(content))
	}
	after.Store(0)
	f, err := b.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); !errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("%d bytes were read, and %v, want ErrAway", len(got), err)
	}
}

// If the response is lost after the server has stored the file, Put succeeds, and
// the file is not mistaken for another one.
func TestALostAnswerIsLookedInto(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	var lost atomic.Int64
	b, _ := between(t, s, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		final := isPut(r) && !r.URL.Query().Has("partNumber") || r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
		if !final {
			pass.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		pass.ServeHTTP(rec, r)
		lost.Add(1)
		hangUp()
	})
	for _, size := range []int{1000, large} {
		lost.Store(0)
		key, content := newKey(t), pattern(size)
		if _, err := b.Put(t.Context(), key, bytes.NewReader(content)); err != nil {
			t.Errorf("size %d: Put, of which the server lost %d answers: %v", size, lost.Load(), err)
		}
		if !bytes.Equal(read(t, b, key), content) {
			t.Errorf("size %d: other content came back", size)
		}
		if _, err := b.Put(t.Context(), key, bytes.NewReader(content)); !errors.Is(err, blob.ErrExists) && !errors.Is(err, blob.ErrUnavailable) {
			t.Errorf("size %d: a second Put: %v", size, err)
		}
	}
}

// A Put waits for a server that comes back soon, and fails within its timeout if it
// does not, or is frozen.
func TestPutsOutliveAnOutage(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	o := bucketOptions(t, s)
	patient := openBucket(t, o)
	o.Timeout, o.Idle = 500*time.Millisecond, 200*time.Millisecond
	hasty := openBucket(t, o)
	key, content := newKey(t), pattern(3<<20)

	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := hasty.Put(t.Context(), newKey(t), bytes.NewReader(content)); !errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("Put = %v, want ErrAway", err)
	}
	done := make(chan error)
	go func() {
		_, err := patient.Put(t.Context(), key, bytes.NewReader(content))
		done <- err
	}()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !bytes.Equal(read(t, patient, key), content) {
		t.Error("other content came back")
	}

	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	frozen := newKey(t)
	if _, err := hasty.Put(t.Context(), frozen, bytes.NewReader(content)); !errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("Put = %v, want ErrAway", err)
	}
	if err := s.Thaw(); err != nil {
		t.Fatal(err)
	}
	switch f, err := patient.Open(t.Context(), frozen); {
	case err == nil:
		got, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil || !bytes.Equal(got, content) {
			t.Errorf("half a file: %d bytes, %v", len(got), err)
		}
	case !errors.Is(err, blob.ErrNotFound):
		t.Error(err)
	}
}

// Reading from a frozen server fails within its timeout, and continues if the
// server does.
func TestReadsOutliveAFrozenServer(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	o := bucketOptions(t, s)
	o.Timeout, o.Idle = 500*time.Millisecond, 200*time.Millisecond
	b := openBucket(t, o)
	key, content := newKey(t), pattern(32<<20)
	if _, err := openBucket(t, bucketOptions(t, s)).Put(t.Context(), key, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	for _, thaws := range []bool{false, true} {
		f, err := b.Open(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 1000)
		if _, err := io.ReadFull(f, head); err != nil {
			t.Fatal(err)
		}
		if err := s.Freeze(); err != nil {
			t.Fatal(err)
		}
		thawed := make(chan struct{})
		time.AfterFunc(400*time.Millisecond, func() {
			defer close(thawed)
			if thaws {
				_ = s.Thaw()
			}
		})
		rest, err := io.ReadAll(f)
		if thaws && (err != nil || !bytes.Equal(slices.Concat(head, rest), content)) {
			t.Errorf("%d bytes were read, and %v, want all %d", len(head)+len(rest), err, len(content))
		}
		if !thaws && !errors.Is(err, blob.ErrUnavailable) {
			t.Errorf("%d bytes were read, and %v, want ErrAway", len(head)+len(rest), err)
		}
		<-thawed // nothing may touch the server after the test
		if err := errors.Join(f.Close(), s.Thaw()); err != nil {
			t.Fatal(err)
		}
	}
}

// A file whose Put was cancelled when the server had stored it is removed.
func TestAPutThatIsGivenUpIsTidied(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	b, _ := between(t, s, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(w, r)
		if isPut(r) {
			cancel()
			hangUp()
		}
	})
	key := newKey(t)
	if _, err := b.Put(ctx, key, bytes.NewReader(pattern(1000))); !errors.Is(err, context.Canceled) {
		t.Errorf("Put = %v, want the end of its context", err)
	}
	if _, err := b.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Open = %v, want ErrNotFound", err)
	}
}

// A permanent error of the server is reported at once, without a secret.
func TestARefusalIsNotRepeated(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	good := bucketOptions(t, s)
	for name, change := range map[string]func(*blob.BucketOptions){
		"SignatureDoesNotMatch": func(o *blob.BucketOptions) { o.SecretKey = "wrong" },
		"No user exists":        func(o *blob.BucketOptions) { o.AccessKey = "nobody" },
		"NoSuchBucket":          func(o *blob.BucketOptions) { o.Bucket = "missing" },
	} {
		o := good
		change(&o)
		b := openBucket(t, o)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, put := b.Put(ctx, newKey(t), strings.NewReader("x"))
		for what, err := range map[string]error{"Put": put, "List": b.List(ctx, func(blob.Item) error { return nil }), "Check": b.Check(ctx)} {
			if err == nil || errors.Is(err, blob.ErrUnavailable) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), o.SecretKey) {
				t.Errorf("%s: %s = %v", name, what, err)
			}
		}
		cancel()
	}
}

// The request for encryption follows the settings, and Check reports a server that
// ignores it.
func TestEncryptionIsAskedFor(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	for _, tc := range []struct{ sse, key, want, wantKey string }{
		{blob.SSENone, "", "", ""}, {blob.SSES3, "", "AES256", ""}, {blob.SSEKMS, "", "aws:kms", ""}, {blob.SSEKMS, "key-1", "aws:kms", "key-1"},
	} {
		const header = "X-Amz-Server-Side-Encryption"
		var asked atomic.Value
		var heeds atomic.Bool
		_, o := between(t, s, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if isPut(r) {
				asked.Store([2]string{r.Header.Get(header), r.Header.Get(header + "-Aws-Kms-Key-Id")})
			}
			if heeds.Load() {
				w.Header().Set(header, tc.want)
			}
			pass.ServeHTTP(w, r)
		})
		o.SSE, o.KMSKey = tc.sse, tc.key
		b := openBucket(t, o)
		if err := b.Check(t.Context()); (err == nil) != (tc.want == "") {
			t.Errorf("%s: Check of a server that does not encrypt = %v", tc.sse, err)
		}
		if got := asked.Load(); got != [2]string{tc.want, tc.wantKey} {
			t.Errorf("%s: the server was asked for %q", tc.sse, got)
		}
		heeds.Store(true)
		if err := b.Check(t.Context()); err != nil {
			t.Errorf("%s: Check of a server that encrypts = %v", tc.sse, err)
		}
	}
}

// Check reports a server that silently replaces files.
func TestCheckNoticesAServerThatReplaces(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	b, _ := between(t, s, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		if isPut(r) { // what is gone cannot stand in the way
			_ = os.RemoveAll(filepath.Join(s.Data(), "documents"))
		}
		pass.ServeHTTP(w, r)
	})
	if err := b.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "not replaced") {
		t.Errorf("Check = %v", err)
	}
}

// A list continues over more than one page.
func TestListGoesOnOverPages(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	want := map[string]bool{}
	for i := range 1100 {
		key := uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i)).String()
		name := filepath.Join(s.Data(), "documents", key[34:], key[32:34], key)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
		want[key] = true
	}
	err := openBucket(t, bucketOptions(t, s)).List(t.Context(), func(i blob.Item) error {
		if !want[i.Key] {
			t.Errorf("%s is not there or was named before", i.Key)
		}
		delete(want, i.Key)
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("%v; %d were not named", err, len(want))
	}
}
