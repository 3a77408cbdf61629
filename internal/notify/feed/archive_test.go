package feed_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

type archiveEnv struct {
	*feed.Archive

	t     *testing.T
	dir   string
	serve *pgxpool.Pool
	feed  *feed.Service
}

func newArchiveEnv(t *testing.T) *archiveEnv {
	t.Helper()
	url, dir := pgtest.URL(t), t.TempDir()
	files, err := blob.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	serve := pgtest.Open(t, url, pg.Serve)
	return &archiveEnv{&feed.Archive{Pool: pgtest.Open(t, url, pg.Owner), Files: files, Now: time.Now}, t, dir, serve, &feed.Service{Pool: serve, Now: time.Now}}
}

func (e *archiveEnv) exec(sql string, args ...any) {
	e.t.Helper()
	if _, err := e.Pool.Exec(e.t.Context(), sql, args...); err != nil {
		e.t.Fatal(err)
	}
}

func (e *archiveEnv) bank() feed.Owner {
	e.t.Helper()
	id := uuid.Must(uuid.NewV7())
	e.exec(`INSERT INTO entity (id, name, cac, status, document_required, asks, supplies, created_at) VALUES ($1, 'A Bank', 'RC 1', 'Approved', false, true, false, '2020-01-01')`, id)
	return feed.Owner{Entity: id, Mode: "live"}
}

const secret = 2348030000042

// told adds events about numbers to a feed, as if it had been so many days ago.
func (e *archiveEnv) told(o feed.Owner, daysAgo int, numbers ...int64) time.Time {
	e.t.Helper()
	var events []feed.Event
	for _, i := range numbers {
		n, _ := phone.FromInt(i)
		events = append(events, feed.Event{Type: "line.v1.swapped", Number: n, Time: time.Now(), Data: map[string]string{"phoneNumber": n.E164()}})
	}
	if err := pg.InTx(e.t.Context(), e.serve, func(tx pg.Tx) error { return feed.Append(e.t.Context(), tx, o, events...) }); err != nil {
		e.t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -daysAgo)
	e.exec(`SELECT journal_make_day($1)`, at)
	e.exec(`UPDATE feed_entry SET at = $1 WHERE entity_id = $2 AND at > $3`, at.Add(time.Hour), o.Entity, time.Now().Add(-23*time.Hour))
	return at
}

func (e *archiveEnv) archive(before time.Time) (days int) {
	e.t.Helper()
	due, err := e.Due(e.t.Context(), before)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, day := range due {
		if _, err := e.Archive.Archive(e.t.Context(), day); err != nil {
			e.t.Fatal(err)
		}
	}
	return len(due)
}

func (e *archiveEnv) rows(day time.Time) (all []feed.Row) {
	e.t.Helper()
	if err := e.Read(e.t.Context(), day, func(r *feed.Row) error { all = append(all, *r); return nil }); err != nil {
		e.t.Fatal(err)
	}
	return all
}

// files returns everything that is in the files of the store.
func (e *archiveEnv) files() (all []byte) {
	e.t.Helper()
	err := filepath.Walk(e.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, text...)
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return all
}

// An old day leaves the database for an encrypted file that has the same entries and chains.
// A cursor before it gets 410, one after it goes on. When its key lapses, nobody can read it.
func TestOldDaysAreArchivedAndLapse(t *testing.T) {
	t.Parallel()

	e := newArchiveEnv(t)
	o, other := e.bank(), e.bank()
	first := e.told(o, 100, 2348030000001, 2348030000002)
	e.told(other, 100, 2348030000001)
	second := e.told(o, 95, 2348030000003)
	e.told(o, 1, 2348030000004)
	before, err := e.feed.After(t.Context(), o, 0, 10)
	if err != nil || len(before) != 4 {
		t.Fatalf("%d entries, %v", len(before), err)
	}
	limit := time.Now().AddDate(0, 0, -90)
	if days := e.archive(limit); days != 2 {
		t.Errorf("%d days were due", days)
	}
	if days := e.archive(limit); days != 0 {
		t.Errorf("%d days are still due", days)
	}
	if got := e.rows(first); len(got) != 3 {
		t.Errorf("the first day has %d entries", len(got))
	}
	if got := e.rows(second); len(got) != 1 || !bytes.Equal(got[0].Body, before[2].Body) || !bytes.Equal(got[0].Hash, before[2].Hash[:]) {
		t.Errorf("the second day has %+v", got)
	}
	if bytes.Contains(e.files(), []byte("234803")) {
		t.Error("a number can be read in the files")
	}
	after, err := e.feed.After(t.Context(), o, 0, 10)
	if err != nil || len(after) != 1 || after[0].ID() != before[3].ID() {
		t.Errorf("the database has %+v, %v", after, err)
	}
	if _, err := e.feed.Resume(t.Context(), o, before[1].Cursor()); !errors.Is(err, feed.ErrCursorTooOld) {
		t.Errorf("a cursor before the oldest day: %v", err)
	}
	if seq, err := e.feed.Resume(t.Context(), o, before[2].Cursor()); seq != 3 || err != nil {
		t.Errorf("a cursor right before the oldest entry: %d, %v", seq, err)
	}

	if lapsed, err := e.Lapse(t.Context(), second); lapsed != 1 || err != nil {
		t.Fatalf("%d days lapsed, %v", lapsed, err)
	}
	if err := e.Read(t.Context(), first, func(*feed.Row) error { return nil }); !errors.Is(err, feed.ErrLapsed) {
		t.Errorf("a lapsed day: %v", err)
	}
	if got := e.rows(second); len(got) != 1 {
		t.Errorf("the other day has %d entries", len(got))
	}
}

// failing is a store that fails while a file is written, or after.
type failing struct {
	blob.Store

	after bool
}

func (f *failing) Put(ctx context.Context, key string, r io.Reader) (blob.Info, error) {
	if f.after {
		if _, err := f.Store.Put(ctx, key, r); err != nil {
			return blob.Info{}, err
		}
	}
	return blob.Info{}, errors.New("the store is away")
}

// A day whose file could not be stored stays in the database, and is archived the next time.
func TestADayStaysUntilItsFileIsStored(t *testing.T) {
	t.Parallel()

	e := newArchiveEnv(t)
	o := e.bank()
	day := e.told(o, 100, 2348030000001, 2348030000002)
	store := e.Files
	for _, after := range []bool{false, true} {
		e.Files = &failing{store, after}
		if _, err := e.Archive.Archive(t.Context(), day); err == nil {
			t.Error("a file that was not stored is taken")
		}
		if entries, err := e.feed.After(t.Context(), o, 0, 10); len(entries) != 2 || err != nil {
			t.Fatalf("the database has %d entries, %v", len(entries), err)
		}
	}
	e.Files = store
	e.archive(time.Now().AddDate(0, 0, -90))
	if got := e.rows(day); len(got) != 2 {
		t.Errorf("%d entries", len(got))
	}
}

// A file that was cut, altered or exchanged is not read.
func TestAlteredSegmentsAreNotRead(t *testing.T) {
	t.Parallel()

	e := newArchiveEnv(t)
	o := e.bank()
	var many []int64
	for i := range int64(2000) { // several chunks
		many = append(many, 2348030000000+i)
	}
	day := e.told(o, 100, many...)
	e.archive(time.Now().AddDate(0, 0, -90))
	if got := e.rows(day); len(got) != len(many) {
		t.Fatalf("%d entries", len(got))
	}
	var path string
	_ = filepath.Walk(e.dir, func(p string, info os.FileInfo, _ error) error {
		if info != nil && !info.IsDir() && info.Size() > 1000 {
			path = p
		}
		return nil
	})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const chunk = 64<<10 + 16
	if len(good) < 2*chunk {
		t.Fatalf("the file has %d bytes, which is too few chunks for this test", len(good))
	}
	for name, bad := range map[string][]byte{
		"cut at a chunk": good[:chunk], "cut": good[:len(good)-1], "empty": {}, "altered": append([]byte{good[0] ^ 1}, good[1:]...),
		"moved": append(append(bytes.Clone(good[chunk:2*chunk]), good[:chunk]...), good[2*chunk:]...),
	} {
		_ = os.Chmod(path, 0o600)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := e.Read(t.Context(), day, func(*feed.Row) error { return nil }); err == nil {
			t.Errorf("a file that was %s is read", name)
		}
	}
}

// An erased number is neither in the feeds nor in the segments, and the chains can still be
// checked. What is done again changes nothing.
func TestErasedNumbersAreGone(t *testing.T) {
	t.Parallel()

	e := newArchiveEnv(t)
	o, other := e.bank(), e.bank()
	day := e.told(o, 100, 2348030000001, secret, 2348030000002)
	kept := e.told(other, 99, 2348030000005)
	e.archive(time.Now().AddDate(0, 0, -90))
	e.told(o, 1, secret, 2348030000003)
	places, err := e.Find(t.Context(), secret)
	if err != nil || len(places) != 2 {
		t.Fatalf("found %v, %v", places, err)
	}
	untouched := e.rows(kept)[0].Hash
	for range 2 {
		if err := e.Erase(t.Context(), places); err != nil {
			t.Fatal(err)
		}
	}
	got := e.rows(day) // reading checks the chain
	if len(got) != 3 || len(got[1].Body) != 0 || len(got[1].Digest) != 32 || len(got[0].Body) == 0 || got[1].Number != 0 {
		t.Errorf("the segment has %+v", got)
	}
	if again := e.rows(kept); !bytes.Equal(again[0].Hash, untouched) {
		t.Error("another day has changed")
	}
	entries, err := e.feed.After(t.Context(), o, 0, 10)
	if err != nil || len(entries) != 2 || !entries[0].Erased || entries[1].Erased {
		t.Fatalf("the feed has %+v, %v", entries, err)
	}
	if strings.Contains(string(entries[0].JSON()), "0000042") {
		t.Error("the number is still told")
	}
	if left, err := e.Find(t.Context(), secret); len(left) != 0 || err != nil {
		t.Errorf("found %v, %v", left, err)
	}
}
