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
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/clamd"
	"github.com/lineproof/lineproof/internal/clamtest"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/inspect"
	"github.com/lineproof/lineproof/internal/jobs"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/tally"
)

func TestMain(m *testing.M) {
	inspect.Main()
	os.Exit(m.Run())
}

// papers is a desk where papers are handed in: a database, a directory, and
// a scanner, if there is one.
type papers struct {
	*document.Store

	pool    *pgxpool.Pool
	dir     string
	scanner *clamd.Scanner
	entity  uuid.UUID
	log     *lockedBuffer

	mu     sync.Mutex
	counts map[string]int
}

func newPapers(t *testing.T, clam *clamtest.Server) *papers {
	t.Helper()
	p := &papers{pool: pgtest.New(t), dir: t.TempDir(), entity: uuid.New(), log: &lockedBuffer{}, counts: map[string]int{}}
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
		Pool: p.pool, Files: files, Scanner: p.scanner, Inspector: &inspect.Inspector{}, MaxBytes: 1 << 20, Queue: queue, Now: time.Now,
	}
	if _, err := p.pool.Exec(t.Context(), `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at)
		VALUES ($1, 'Ada Limited', 'RC1', 'Approved', true, false, true, now())`, p.entity); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *papers) count(what string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[what] += n
}

func (p *papers) counted(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[what]
}

// start runs the jobs until the function that it returns is called.
func (p *papers) start(t *testing.T) (stop func()) {
	t.Helper()
	c, err := jobs.New(&jobs.Jobs{
		Pool: p.pool, Keeper: &access.Keeper{Pool: p.pool, Now: time.Now}, Answers: &idempotency.Store{Pool: p.pool, Now: time.Now},
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

// picture is an honest file; a text after it is a file that is not.
func picture(after string) io.Reader {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		panic(err)
	}
	return io.MultiReader(&b, strings.NewReader(after))
}

// hand hands a file in. What fails in its transaction afterwards undoes it.
func (p *papers) hand(t *testing.T, content io.Reader, fail error) uuid.UUID {
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

func (p *papers) is(t *testing.T, id uuid.UUID, want document.State) func() bool {
	t.Helper()
	return func() bool {
		d, err := p.Find(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return d.State == want
	}
}

// queued says how many scans there are, and in which states.
func (p *papers) queued(t *testing.T) (n int, states string) {
	t.Helper()
	err := p.pool.QueryRow(t.Context(), `SELECT count(*), coalesce(string_agg(DISTINCT state::text || ' in ' || queue, ', '), '') FROM river_job WHERE kind = 'scan_document'`).Scan(&n, &states)
	if err != nil {
		t.Fatal(err)
	}
	return n, states
}

// A scan is queued with its document or not at all, and takes each document to
// the end of its way.
func TestScanIsQueuedWithItsDocument(t *testing.T) {
	t.Parallel()
	p := newPapers(t, clamtest.New(t))
	p.hand(t, picture(""), errors.New("changed my mind"))
	if n, _ := p.queued(t); n != 0 {
		t.Errorf("%d scans of a document that was not recorded", n)
	}
	clean, infected, refused := p.hand(t, picture(""), nil), p.hand(t, picture(clamtest.Virus), nil), p.hand(t, picture("<script>"), nil)
	if n, states := p.queued(t); n != 3 || states != "available in documents" {
		t.Errorf("%d scans are queued: %s", n, states)
	}
	defer p.start(t)()
	eventually(t, "a clean document", p.is(t, clean, document.Clean))
	eventually(t, "an infected document", p.is(t, infected, document.Infected))
	eventually(t, "a refused document", p.is(t, refused, document.Refused))
	eventually(t, "each to be counted", func() bool { return p.counted("clean") == 1 && p.counted("infected") == 1 && p.counted("refused") == 1 })
	if log := p.log.String(); strings.Count(log, "not fit to be opened") != 2 || !strings.Contains(log, infected.String()) {
		t.Errorf("the log:\n%s", log)
	}
}

// While the scanner is away a document waits, is never given up, and goes on its
// way soon after the scanner is back.
func TestDocumentWaitsForTheScanner(t *testing.T) {
	t.Parallel()
	clam := clamtest.New(t)
	p := newPapers(t, clam)
	clam.Kill()
	defer p.start(t)()
	id := p.hand(t, picture(""), nil)
	eventually(t, "two tries in vain", func() bool { return p.counted("waiting") >= 2 })
	if _, states := p.queued(t); !strings.HasPrefix(states, "scheduled") && !strings.HasPrefix(states, "running") && !strings.HasPrefix(states, "available") {
		t.Errorf("the scan is %s", states)
	}
	if p.is(t, id, document.Clean)() {
		t.Error("clean, and nobody has looked")
	}
	if err := clam.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a clean document", p.is(t, id, document.Clean))
}

// A scanner that passes what every scanner finds is not asked about anything
// else.
func TestDocumentWaitsWhileTheScannerIsBlind(t *testing.T) {
	t.Parallel()
	clam := clamtest.New(t)
	p := newPapers(t, clam)
	if err := clam.Blind(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer p.start(t)()
	id := p.hand(t, picture(clamtest.Virus), nil)
	eventually(t, "two tries in vain", func() bool { return p.counted("waiting") >= 2 })
	if p.counted("clean")+p.counted("refused")+p.counted("failed") > 0 {
		t.Errorf("a blind scanner was believed: %v", p.counts)
	}
	if err := clam.Sight(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the virus to be found", p.is(t, id, document.Infected))
}

// Without a scanner documents wait, and that is said once.
func TestDocumentsWaitWithoutAScanner(t *testing.T) {
	t.Parallel()
	p := newPapers(t, nil)
	defer p.start(t)()
	for range 3 {
		id := p.hand(t, picture(""), nil)
		eventually(t, "the scan to wait", func() bool { n, states := p.queued(t); return n > 0 && states == "scheduled in documents" })
		if !p.is(t, id, document.Received)() {
			t.Error("the document has moved")
		}
	}
	if n := strings.Count(p.log.String(), "LINEPROOF_CLAMD_ADDR is not set"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
}

// A document that waits and is not queued, because an older version took it in
// or its scan was given up, is found; one that is queued is not queued twice.
func TestForgottenDocumentIsFound(t *testing.T) {
	t.Parallel()
	p := newPapers(t, clamtest.New(t))
	queued := p.hand(t, picture(""), nil)
	queue := p.Queue
	p.Queue, p.Now = nil, func() time.Time { return time.Now().Add(-time.Hour) }
	id := p.hand(t, picture(""), nil)
	p.Queue, p.Now = queue, time.Now
	if err := pg.InTx(t.Context(), p.pool, func(tx pg.Tx) error { return queue(t.Context(), tx, queued) }); err != nil {
		t.Fatal(err)
	}
	if n, _ := p.queued(t); n != 1 {
		t.Errorf("%d scans are queued, want that of the one", n)
	}
	defer p.start(t)()
	eventually(t, "the forgotten document to be clean", p.is(t, id, document.Clean))
	eventually(t, "the other, too", p.is(t, queued, document.Clean))
}

// A file that belongs to no document is removed after a day, at the start of a
// node or on the next day.
func TestStrayFileIsRemoved(t *testing.T) {
	t.Parallel()
	p := newPapers(t, nil)
	kept := p.hand(t, picture(""), nil)
	stray, err := p.Receive(t.Context(), "a.png", picture(""))
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
	eventually(t, "the stray to be removed", func() bool { return p.counted("orphan") == 1 })
	if _, err := p.Files.Open(t.Context(), stray.ID.String()); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the stray: %v", err)
	}
	f, err := p.Files.Open(t.Context(), kept.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}
