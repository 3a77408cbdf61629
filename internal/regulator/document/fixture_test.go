package document_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/testing/clamtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The property below starts a process for most of its steps; the command line
// can ask for more.
func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main()
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const licence, certificate = "OPERATING_LICENCE", "CAC_CERTIFICATE"

var (
	operator = audit.Actor{Kind: audit.Operator}
	reviewer = audit.Actor{Kind: audit.Account, ID: uuid.MustParse("019a0000-0000-7000-8000-00000000000a")}
	uploader = audit.Actor{Kind: audit.Client, ID: uuid.MustParse("019a0000-0000-7000-8000-00000000000b")}
)

// scanner is the clamd of all tests that do not kill or change theirs. It ends with
// the process.
var scanner = sync.OnceValues(func() (*clamtest.Server, error) { return clamtest.Start(context.Background()) })

// fixture is a store on a database and a directory of its own, with an entity that
// must submit documents, and a clock that changes only when it is set.
type fixture struct {
	*document.Store

	dir    string
	entity uuid.UUID
	admin  *pgxpool.Pool // may do everything

	mu     sync.Mutex
	at     time.Time
	queued []uuid.UUID
}

func newWorld(t *testing.T) *fixture {
	t.Helper()
	url := pgtest.AnyTime(t, pgtest.URL(t))
	w := &fixture{dir: t.TempDir(), admin: pgtest.Open(t, url, ""), at: time.Now()}
	files := must(blob.OpenDir(w.dir))(t)
	t.Cleanup(func() { _ = files.Close() })
	server := must(scanner())(t)
	w.Store = &document.Store{
		Pool: pgtest.Open(t, url, pg.Serve), Files: files, Scanner: &clamd.Scanner{Address: server.Address(), Timeout: time.Minute},
		Spool: t.TempDir(), MaxBytes: 1 << 20, Required: []string{certificate, licence},
		Queue: func(_ context.Context, _ pg.Tx, id uuid.UUID) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.queued = append(w.queued, id)
			return nil
		},
		Now: func() time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.at
		},
	}
	w.entity = w.newEntity(t, true)
	return w
}

// failer is a test, or a check of rapid.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func must[T any](v T, err error) func(failer) T {
	return func(tb failer) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

// sql runs a statement as the owner of the whole database.
func (w *fixture) sql(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := w.admin.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

// until waits until a query returns true.
func (w *fixture) until(t *testing.T, question string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for yes := false; !yes; {
		if err := w.admin.QueryRow(ctx, question).Scan(&yes); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *fixture) newEntity(t *testing.T, required bool) uuid.UUID {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	w.sql(t, `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at)
		VALUES ($1, 'Harbour Telecom', 'RC 7', 'Approved', $2, $3, $3, now())`, id, required, true)
	return id
}

func (w *fixture) move(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// upload uploads a document as the API does.
func (w *fixture) upload(tb failer, label string, content []byte) uuid.UUID {
	tb.Helper()
	f := must(w.Receive(context.Background(), "scan.png", bytes.NewReader(content)))(tb)
	if err := w.record(f, label); err != nil {
		tb.Fatal(err)
	}
	w.move(time.Second) // so that no two documents are of one moment
	return f.ID
}

func (w *fixture) record(f document.File, label string) error {
	return pg.InTx(context.Background(), w.Pool, func(tx pg.Tx) error {
		return w.Record(context.Background(), tx, f, document.Upload{Entity: w.entity, Label: label, Actor: uploader})
	})
}

// settled uploads a document and scans it.
func (w *fixture) settled(tb failer, label string, content []byte) uuid.UUID {
	tb.Helper()
	id := w.upload(tb, label, content)
	must(w.Scan(context.Background(), id))(tb)
	return id
}

// reviewed uploads a valid document, scans it and decides about it.
func (w *fixture) reviewed(tb failer, label string, accept bool) uuid.UUID {
	tb.Helper()
	id := w.settled(tb, label, honest())
	must(w.Review(context.Background(), document.Review{Document: id, Accept: accept, Reason: "it is what it is", Actor: reviewer}))(tb)
	return id
}

// is fails the test unless the document is in that state.
func (w *fixture) is(t *testing.T, id uuid.UUID, want document.State) document.Document {
	t.Helper()
	d := must(w.Find(t.Context(), id))(t)
	if d.State != want {
		t.Fatalf("the document is %s (%s), want %s", d.State, d.Reason, want)
	}
	return d
}

// read returns the content as a reader gets it.
func (w *fixture) read(id uuid.UUID) ([]byte, error) {
	c, err := w.Content(context.Background(), id, reviewer, uuid.Nil)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(c.File)
	return b, errors.Join(err, c.File.Close())
}

// actions returns the audit actions on a document, the first one first.
func (w *fixture) actions(tb failer, id uuid.UUID) []audit.Action {
	tb.Helper()
	list := must(audit.List(context.Background(), w.Pool, audit.Filter{Subject: id}))(tb)
	var did []audit.Action
	for i := range list {
		did = append(did, list[len(list)-1-i].Action)
	}
	return did
}

// honest returns a valid, unique image.
func honest() []byte {
	m := image.NewGray(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		m.SetGray(i%8, i/8, color.Gray{Y: uint8(rand.Uint32())})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// infected returns a well-formed image with the test virus in a comment.
func infected() []byte {
	b := honest()
	chunk := append([]byte("tEXtComment\x00"), clamtest.Virus...)
	var c bytes.Buffer
	_ = binary.Write(&c, binary.BigEndian, uint32(len(chunk)-4))
	c.Write(chunk)
	_ = binary.Write(&c, binary.BigEndian, crc32.ChecksumIEEE(chunk))
	const header = 8 + 25 // the signature and IHDR
	return append(append(bytes.Clone(b[:header]), c.Bytes()...), b[header:]...)
}

// broken returns a truncated image.
func broken() []byte { b := honest(); return b[:len(b)-13] }

func sum(b []byte) [32]byte { return sha256.Sum256(b) }
