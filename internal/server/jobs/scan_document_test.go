package jobs_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/server/jobs"
	"github.com/lineproof/lineproof/internal/testing/clamtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main()
	os.Exit(m.Run())
}

// documentTest is a document store with a database, a directory and, if there is
// one, a scanner.
type documentTest struct {
	*document.Store

	pool    *pgxpool.Pool
	dir     string
	scanner *clamd.Scanner
	entity  uuid.UUID
	log     *lockedBuffer

	mu     sync.Mutex
	counts map[string]int
}

func newDocumentTest(t *testing.T, clam *clamtest.Server) *documentTest {
	t.Helper()
	p := &documentTest{pool: pgtest.NewAnyTime(t), dir: t.TempDir(), entity: uuid.New(), log: &lockedBuffer{}, counts: map[string]int{}}
	if clam != nil {
		p.scanner = &clamd.Scanner{Address: clam.Address(), Timeout: 5 * time.Second}
	}
	files, err := blob.OpenDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	queue, err := jobs.Scans(p.pool)
	if err != nil {
		t.Fatal(err)
	}
	p.Store = &document.Store{
		Pool: p.pool, Files: files, Scanner: p.scanner, MaxBytes: 1 << 20, Queue: queue, Now: time.Now,
	}
	if _, err := p.pool.Exec(t.Context(), `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at)
		VALUES ($1, 'Ada Limited', 'RC1', 'Approved', true, false, true, now())`, p.entity); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *documentTest) count(what string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[what] += n
}

func (p *documentTest) counted(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[what]
}

// start runs the jobs until the function that it returns is called.
func (p *documentTest) start(t *testing.T) (stop func()) {
	t.Helper()
	c, err := jobs.New(&jobs.Jobs{
		Pool: p.pool, Access: &access.Service{Pool: p.pool, Now: time.Now}, Answers: &idempotency.Store{Pool: p.pool, Now: time.Now},
		People: &people.People{Pool: p.pool, Now: time.Now}, DaysAhead: 7, Ahead: func(int) {}, Now: time.Now, Log: slog.New(slog.NewTextHandler(p.log, nil)),
		Documents: p.Store, Scanner: p.scanner, Scanned: func(outcome string) { p.count(outcome, 1) }, Removed: p.count,
		Tally: &tally.Tally{Pool: p.pool, Now: time.Now}, Counted: func(time.Time) {},
		Supply: emptySupply(p.pool),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := jobs.Stop(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
}

// picture is a valid file; with a text after its end it is not.
func picture(after string) io.Reader {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		panic(err)
	}
	return io.MultiReader(&b, strings.NewReader(after))
}

// upload stores a file. The error fail rolls its transaction back.
func (p *documentTest) upload(t *testing.T, content io.Reader, fail error) uuid.UUID {
	t.Helper()
	f, err := p.Receive(t.Context(), "a.png", content)
	if err != nil {
		t.Fatal(err)
	}
	err = pg.InTx(t.Context(), p.pool, func(tx pg.Tx) error {
		return errors.Join(p.Record(t.Context(), tx, f, document.Upload{Entity: p.entity, Label: "TAX_ID", Actor: audit.Actor{Kind: audit.Client, ID: p.entity}, Request: uuid.New()}), fail)
	})
	if !errors.Is(err, fail) {
		t.Fatal(err)
	}
	return f.ID
}

func (p *documentTest) is(t *testing.T, id uuid.UUID, want document.State) func() bool {
	t.Helper()
	return func() bool {
		d, err := p.Find(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return d.State == want
	}
}

// queued returns how many scans there are, and in which states.
func (p *documentTest) queued(t *testing.T) (n int, states string) {
	t.Helper()
	err := p.pool.QueryRow(t.Context(), `SELECT count(*), coalesce(string_agg(DISTINCT state::text || ' in ' || queue, ', '), '') FROM river_job WHERE kind = 'scan_document'`).Scan(&n, &states)
	if err != nil {
		t.Fatal(err)
	}
	return n, states
}

// A scan is queued with its document or not at all, and each scan sets the final
// state of its document.
func TestScanIsQueuedWithItsDocument(t *testing.T) {
	t.Parallel()
	p := newDocumentTest(t, clamtest.New(t))
	p.upload(t, picture(""), errors.New("rolled back"))
	if n, _ := p.queued(t); n != 0 {
		t.Errorf("%d scans of a document that was not recorded", n)
	}
	clean, infected, refused := p.upload(t, picture(""), nil), p.upload(t, picture(clamtest.Virus), nil), p.upload(t, io.LimitReader(picture(""), 40), nil)
	if n, states := p.queued(t); n != 3 || states != "available in documents" {
		t.Errorf("%d scans are queued: %s", n, states)
	}
	defer p.start(t)()
	eventually(t, "a clean document", p.is(t, clean, document.Clean))
	eventually(t, "an infected document", p.is(t, infected, document.Infected))
	eventually(t, "a refused document", p.is(t, refused, document.Refused))
	eventually(t, "each to be counted", func() bool { return p.counted("clean") == 1 && p.counted("infected") == 1 && p.counted("refused") == 1 })
	if log := p.log.String(); strings.Count(log, "found infected or unsafe") != 2 || !strings.Contains(log, infected.String()) {
		t.Errorf("the log:\n%s", log)
	}
}

// While the scanner is unavailable a document waits, its scan is never discarded,
// and it is scanned soon after the scanner is available again.
func TestDocumentWaitsForTheScanner(t *testing.T) {
	t.Parallel()
	clam := clamtest.New(t)
	p := newDocumentTest(t, clam)
	if err := clam.Kill(); err != nil {
		t.Fatal(err)
	}
	defer p.start(t)()
	id := p.upload(t, picture(""), nil)
	eventually(t, "two failed attempts", func() bool { return p.counted("waiting") >= 2 })
	if _, states := p.queued(t); !strings.HasPrefix(states, "scheduled") && !strings.HasPrefix(states, "running") && !strings.HasPrefix(states, "available") {
		t.Errorf("the scan is %s", states)
	}
	if p.is(t, id, document.Clean)() {
		t.Error("clean without a scan")
	}
	if err := clam.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a clean document", p.is(t, id, document.Clean))
}

// A scanner that does not detect the test file gets no documents to scan.
func TestDocumentWaitsWhileTheScannerIsBlind(t *testing.T) {
	t.Parallel()
	clam := clamtest.New(t)
	p := newDocumentTest(t, clam)
	if err := clam.Blind(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer p.start(t)()
	id := p.upload(t, picture(clamtest.Virus), nil)
	eventually(t, "two failed attempts", func() bool { return p.counted("waiting") >= 2 })
	if p.counted("clean")+p.counted("refused")+p.counted("failed") > 0 {
		t.Errorf("the result of a blind scanner was used: %v", p.counts)
	}
	if err := clam.Sight(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the virus to be found", p.is(t, id, document.Infected))
}

// Without a scanner documents wait, and that is logged once.
func TestDocumentsWaitWithoutAScanner(t *testing.T) {
	t.Parallel()
	p := newDocumentTest(t, nil)
	defer p.start(t)()
	for range 3 {
		id := p.upload(t, picture(""), nil)
		eventually(t, "the scan to wait", func() bool { n, states := p.queued(t); return n > 0 && states == "scheduled in documents" })
		if !p.is(t, id, document.Received)() {
			t.Error("the state of the document has changed")
		}
	}
	if n := strings.Count(p.log.String(), "LINEPROOF_CLAMD_ADDR is not set"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

// A waiting document without a queued scan, because its scan was discarded, is
// queued; one that is queued is not queued twice.
func TestWaitingDocumentWithoutAScanIsQueued(t *testing.T) {
	t.Parallel()
	p := newDocumentTest(t, clamtest.New(t))
	queued := p.upload(t, picture(""), nil)
	queue := p.Queue
	p.Queue, p.Now = nil, func() time.Time { return time.Now().Add(-time.Hour) }
	id := p.upload(t, picture(""), nil)
	p.Queue, p.Now = queue, time.Now
	if err := pg.InTx(t.Context(), p.pool, func(tx pg.Tx) error { return queue(t.Context(), tx, queued) }); err != nil {
		t.Fatal(err)
	}
	if n, _ := p.queued(t); n != 1 {
		t.Errorf("%d scans are queued, want one", n)
	}
	defer p.start(t)()
	eventually(t, "the document without a scan to be clean", p.is(t, id, document.Clean))
	eventually(t, "the other document to be clean", p.is(t, queued, document.Clean))
}

// A file that belongs to no document is removed after a day, at the start of a
// node or on the next day.
func TestOrphanFileIsRemoved(t *testing.T) {
	t.Parallel()
	p := newDocumentTest(t, nil)
	kept := p.upload(t, picture(""), nil)
	orphan, err := p.Receive(t.Context(), "a.png", picture(""))
	if err != nil {
		t.Fatal(err)
	}
	yesterday := time.Now().Add(-25 * time.Hour)
	err = filepath.WalkDir(p.dir, func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = os.Chtimes(name, yesterday, yesterday)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.start(t)()
	eventually(t, "the orphan to be removed", func() bool { return p.counted("orphan") == 1 })
	if _, err := p.Files.Open(t.Context(), orphan.ID.String()); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the orphan: %v", err)
	}
	f, err := p.Files.Open(t.Context(), kept.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}
