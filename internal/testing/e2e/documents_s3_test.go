package e2e_test

import (
	"bytes"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/testing/clamtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/s3test"
)

const (
	uploaders = 6
	readers   = 2
	slowRate  = 128 << 10 // bytes a second, for all connections together
)

// Every upload that was answered while the bucket was killed, frozen and slowed
// down is stored with the same hash from then on; neither the service nor the
// bucket ever serves an incomplete file; every answered upload is scanned in the
// end; and verifications are answered all the time.
func TestDocumentsS3(t *testing.T) {
	s3, scanner := s3test.New(t), clamtest.New(t)
	w := newFixture(t, pgtest.URL(t))
	line := newThrottle(t, s3.URL())
	p := start(t, w, append(bucketSettings(s3, line.url()), "LINEPROOF_CLAMD_ADDR="+scanner.Address())...)
	kills := size(t, "LINEPROOF_E2E_KILLS", 3)

	crowd := &documentTest{t: t, w: w, client: &client.Client{BaseURL: "http://" + p.public, Retries: -1}, sent: map[string]bool{}, kept: map[string]string{}, seen: map[string]string{}}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range uploaders {
		wg.Go(func() { crowd.upload(stop) })
	}
	for range readers {
		wg.Go(func() { crowd.read(stop) })
	}
	for i := range kills {
		pause(200*time.Millisecond + rand.N(600*time.Millisecond))
		switch i % 3 {
		case 0: // unavailable for a moment
			if err := s3.Kill(); err != nil {
				t.Fatal(err)
			}
			pause(rand.N(300 * time.Millisecond))
		case 1: // first frozen during an operation
			if err := s3.Freeze(); err != nil {
				t.Fatal(err)
			}
			pause(200*time.Millisecond + rand.N(800*time.Millisecond))
			if err := s3.Kill(); err != nil {
				t.Fatal(err)
			}
		case 2: // so slow that it is killed in the middle of a file
			line.rate.Store(slowRate)
			pause(200*time.Millisecond + rand.N(800*time.Millisecond))
			if err := s3.Kill(); err != nil {
				t.Fatal(err)
			}
			line.rate.Store(0)
		}
		if err := s3.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	line.rate.Store(slowRate) // slowed and not killed
	pause(time.Second)
	line.rate.Store(0)
	outage := time.Duration(size(t, "LINEPROOF_E2E_OUTAGE", 1)) * time.Second
	if err := s3.Kill(); err != nil {
		t.Fatal(err)
	}
	crowd.verify(outage)
	if err := s3.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(stop)
	wg.Wait()

	meanwhile := crowd.whole.Load()
	crowd.scanned()
	crowd.objects(s3)
	t.Logf("%d kills and %s away: %d uploads were answered and %d refused with 503; %d files were read meanwhile, and %d readings could not be; %d questions were answered in the outage",
		kills, outage, len(crowd.kept), crowd.failed.Load(), meanwhile, crowd.broken.Load(), crowd.asked)
	if longer := 40 * time.Second; outage >= longer && crowd.failed.Load() == 0 {
		t.Errorf("the bucket was away for %s, and no upload was answered with 503 meanwhile", outage)
	}
	if len(crowd.kept) < kills {
		t.Error("the kills met no load, so they prove nothing")
	}
	if s := p.output(t); bytes.Contains([]byte(s), []byte(s3.SecretKey)) {
		t.Error("the log holds the secret of the bucket")
	}
}

// bucketSettings are the settings of a server that stores its files in the bucket.
func bucketSettings(s *s3test.Server, url string) []string {
	return []string{
		"LINEPROOF_S3_ENDPOINT=" + url, "LINEPROOF_S3_BUCKET=" + s3test.Bucket, "LINEPROOF_S3_ACCESS_KEY=" + s.AccessKey, "LINEPROOF_S3_SECRET_KEY=" + s.SecretKey,
	}
}

// pause waits while the clients continue.
func pause(d time.Duration) { <-time.After(d) }

// documentTest has clients that upload documents and read them back.
type documentTest struct {
	t      *testing.T
	w      *fixture
	client *client.Client

	mu   sync.Mutex
	sent map[string]bool   // the hashes of all documents sent
	kept map[string]string // the hash of each upload that was answered, by its id
	seen map[string]string // the hash of its pictures when they were first read
	ids  []string

	asked                 int // verifications while the bucket was unavailable
	failed, whole, broken atomic.Int64
}

// upload sends one document after the other.
func (c *documentTest) upload(stop <-chan struct{}) {
	for !closed(stop) {
		content := noisePNG(c.t, 100+rand.N(500))
		hash := hashOf(content)
		c.mu.Lock()
		c.sent[hash] = true
		c.mu.Unlock()
		id, err := c.client.UploadDocument(c.t.Context(), client.Secret(c.w.token), client.Document{
			Type: client.DocumentOther, EntityUID: c.w.telco.ID.String(), FileName: "noise.png", Content: bytes.NewReader(content),
		})
		if err != nil {
			if e, ok := errors.AsType[*client.Error](err); ok && e.StatusCode != http.StatusServiceUnavailable {
				c.t.Errorf("an upload was answered with %d: %v", e.StatusCode, err)
			}
			c.failed.Add(1)
			continue
		}
		c.mu.Lock()
		c.kept[id] = hash
		c.ids = append(c.ids, id)
		c.mu.Unlock()
	}
}

// read reads documents whose upload was answered.
func (c *documentTest) read(stop <-chan struct{}) {
	for !closed(stop) {
		c.mu.Lock()
		if len(c.ids) == 0 {
			c.mu.Unlock()
			pause(10 * time.Millisecond)
			continue
		}
		id := c.ids[rand.N(len(c.ids))]
		c.mu.Unlock()
		c.check(id)
	}
}

// check reads the pictures of one document over the API. That they are unavailable at the
// moment is no finding; other pictures than before are. The service compares the file with
// its hash before it draws it, and objects compares what is stored with what was sent.
func (c *documentTest) check(id string) bool {
	h := sha256.New()
	err := c.client.DocumentContent(c.t.Context(), client.Secret(c.w.session), id, h)
	if err != nil {
		if e, ok := errors.AsType[*client.Error](err); ok && e.StatusCode != http.StatusServiceUnavailable && e.StatusCode != http.StatusConflict {
			c.t.Errorf("document %s was answered with %d: %v", id, e.StatusCode, err)
		}
		c.broken.Add(1)
		return false
	}
	c.whole.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	got := hex.EncodeToString(h.Sum(nil))
	if first, seen := c.seen[id]; seen && got != first {
		c.t.Errorf("the pictures of document %s are others than before: %s, not %s", id, got, first)
	}
	c.seen[id] = got
	return true
}

// verify sends verifications repeatedly: they must not depend on the bucket.
func (c *documentTest) verify(d time.Duration) {
	c.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); c.asked++ {
		if _, err := c.client.Verify(c.t.Context(), client.Secret(c.w.key.Text.Reveal()), "+"+strconv.Itoa(firstLine)); err != nil {
			c.t.Fatalf("a question was not answered while the bucket was away: %v", err)
		}
	}
}

// scanned waits until all answered uploads are clean, and reads all of them.
func (c *documentTest) scanned() {
	c.t.Helper()
	deadline := time.Now().Add(2*time.Minute + time.Duration(len(c.ids))*time.Second)
	for _, id := range c.ids {
		for !c.check(id) {
			if time.Now().After(deadline) || c.t.Failed() {
				record, err := c.client.Document(c.t.Context(), client.Secret(c.w.token), id)
				c.t.Fatalf("document %s of %d cannot be read in the end: %+v, %v", id, len(c.ids), record, err)
			}
			pause(50 * time.Millisecond)
		}
	}
}

// objects checks the bucket itself: every answered upload is stored, and no object
// is incomplete.
func (c *documentTest) objects(s3 *s3test.Server) {
	c.t.Helper()
	store := must(blob.OpenBucket(blob.BucketOptions{
		Endpoint: s3.URL(), Bucket: s3test.Bucket, Prefix: "documents/", Region: s3test.Region, AccessKey: s3.AccessKey, SecretKey: s3.SecretKey, Spool: c.t.TempDir(),
	}))(c.t)
	var found []string
	err := store.List(c.t.Context(), func(i blob.Item) error {
		found = append(found, i.Key)
		f, err := store.Open(c.t.Context(), i.Key)
		if err != nil {
			return err
		}
		content, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			c.t.Errorf("the object of %s cannot be read: %v", i.Key, err)
		}
		if hash := hashOf(content); !c.sent[hash] || int64(len(content)) != i.Size {
			c.t.Errorf("the object of %s, %d bytes, is nothing that was sent", i.Key, len(content))
		}
		return nil
	})
	if err := errors.Join(err, store.Close()); err != nil {
		c.t.Fatal(err)
	}
	for _, id := range c.ids {
		if !slices.Contains(found, id) {
			c.t.Errorf("document %s was answered and has no object", id)
		}
	}
	c.t.Logf("%d objects in the bucket, %d of them of uploads that were not answered", len(found), len(found)-len(c.ids))
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// noisePNG returns a new random image with the given side in pixels.
func noisePNG(t *testing.T, pixels int) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, pixels, pixels))
	_, _ = cryptorand.Read(picture.Pix) // it never fails
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
