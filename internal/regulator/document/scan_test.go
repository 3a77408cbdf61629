package document_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/platform/inspect"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/testing/clamtest"
	"github.com/lineproof/lineproof/internal/testing/corpus"
)

// The content determines the result of a scan, with a reason for the uploader.
func TestScanSettlesADocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, tc := range map[string]struct {
		content []byte
		state   document.State
		reason  string
		words   string
		action  audit.Action
	}{
		"honest":   {honest(), document.Clean, "", "", audit.DocumentScanned},
		"infected": {infected(), document.Infected, document.Virus, clamtest.Signature, audit.DocumentInfected},
		"broken":   {broken(), document.Refused, inspect.Unreadable.Code, inspect.Unreadable.Message, audit.DocumentRefused},
	} {
		id := w.upload(t, licence, tc.content)
		if state, err := w.Scan(t.Context(), id); err != nil || state != tc.state {
			t.Errorf("%s: Scan = %s, %v; want %s", name, state, err, tc.state)
		}
		d := w.is(t, id, tc.state)
		if d.Reason != tc.reason || !strings.Contains(d.Note, tc.words) || (tc.words == "") != (d.Note == "") {
			t.Errorf("%s: %q, %q", name, d.Reason, d.Note)
		}
		if got := w.actions(t, id); !slices.Equal(got, []audit.Action{audit.DocumentUploaded, tc.action}) {
			t.Errorf("%s: the audit trail says %v", name, got)
		}
	}
	if len(w.queued) != 3 {
		t.Errorf("%d scans were queued for 3 uploads", len(w.queued))
	}
	if left := filesIn(t, w.Spool); left != 0 {
		t.Errorf("%d temporary files are left", left)
	}
}

// A file that unpacks to more than the scanner scans is refused, and does not wait,
// because no retry would scan all of it.
func TestWhatTheScannerCannotSeeWholeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for s := range corpus.Hostile() {
		if _, err := w.Scanner.Scan(t.Context(), bytes.NewReader(s.Data)); !errors.Is(err, clamd.ErrDeep) {
			continue
		}
		id := w.upload(t, licence, s.Data)
		if state, err := w.Scan(t.Context(), id); err != nil || state != document.Refused {
			t.Errorf("%s: Scan = %s, %v", s.Name, state, err)
		}
		return
	}
	t.Error("the corpus has no file of that kind")
}

// After any failure of a scan the document waits; later it is scanned as usual.
func TestNothingIsCleanWithoutAWholeScan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	whole, plain := w.Scanner, w.Pictures
	server := clamtest.New(t)
	own := &clamd.Scanner{Address: server.Address(), Timeout: time.Minute}

	waits := func(name string, id uuid.UUID, want error) {
		t.Helper()
		state, err := w.Scan(t.Context(), id)
		if err == nil || (want != nil && !errors.Is(err, want)) || state.Settled() {
			t.Errorf("%s: Scan = %s, %v; want %v", name, state, err, want)
		}
		if d := must(w.Find(t.Context(), id))(t); d.State.Settled() {
			t.Errorf("%s: the document is %s", name, d.State)
		}
		if _, err := w.read(id); !errors.Is(err, document.ErrNotClean) {
			t.Errorf("%s: the content of a document that waits: %v", name, err)
		}
	}
	content := honest()
	id := w.upload(t, licence, content)
	w.Scanner = nil
	waits("no scanner", id, clamd.ErrUnavailable)
	w.Scanner = own
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	waits("a scanner that was killed", id, clamd.ErrUnavailable)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	w.Scanner = &clamd.Scanner{Address: server.Address(), Timeout: 200 * time.Millisecond}
	waits("a scanner that hangs", id, clamd.ErrUnavailable)
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	w.Scanner = whole
	w.Pictures = pageimage.Drawer{Tools: "/usr/bin/../share"} // where there is no poppler
	paper := w.upload(t, licence, []byte("%PDF-1.4\n"))
	waits("a PDF that nothing here can draw", paper, pageimage.ErrNone)
	w.Pictures = plain

	path := w.pathOf(t, id)
	for name, damage := range map[string][]byte{
		"a bit":   flipped(content),
		"shorter": content[:len(content)-1],
		"longer":  append(bytes.Clone(content), 0),
		"empty":   {},
		"another": honest(),
	} {
		write(t, path, damage)
		waits("content that is not what was uploaded, by "+name, id, document.ErrDamaged)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	waits("no content", id, document.ErrDamaged)

	write(t, path, content)
	if state, err := w.Scan(t.Context(), id); err != nil || state != document.Clean {
		t.Errorf("after all that: %s, %v", state, err)
	}
	if n := len(must(w.History(t.Context(), id))(t)); n != 3 {
		t.Errorf("%d moves are in the history, want received, scanning, clean", n)
	}
}

// pathOf finds the file of a document.
func (w *fixture) pathOf(t *testing.T, id uuid.UUID) string {
	t.Helper()
	found := must(filepath.Glob(filepath.Join(w.dir, "*", "*", id.String())))(t)
	if len(found) != 1 {
		t.Fatalf("the document has %d files", len(found))
	}
	return found[0]
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func flipped(content []byte) []byte {
	b := bytes.Clone(content)
	b[len(b)/2] ^= 1
	return b
}

// A job may run twice, and at the same time: a document is settled once.
func TestADocumentIsSettledOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.upload(t, licence, honest())
	var g sync.WaitGroup
	for range 6 {
		g.Go(func() {
			if state, err := w.Scan(t.Context(), id); err != nil || state != document.Clean {
				t.Errorf("Scan = %s, %v", state, err)
			}
		})
	}
	g.Wait()
	var way []document.State
	for _, m := range must(w.History(t.Context(), id))(t) {
		way = append(way, m.To)
	}
	if want := []document.State{document.Received, document.Scanning, document.Clean}; !slices.Equal(way, want) {
		t.Errorf("the way is %v, want %v", way, want)
	}
	if _, err := w.Scan(t.Context(), uuid.New()); !errors.Is(err, document.ErrNoDocument) {
		t.Errorf("Scan of nothing: %v", err)
	}
}

// The waiting time counts from the upload or the last rescan, and no waiting
// document is missed.
func TestWaitingFindsWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if ids, oldest, n, err := w.Waiting(t.Context(), 0); err != nil || len(ids) != 0 || n != 0 || !oldest.IsZero() {
		t.Errorf("Waiting of nothing = %v, %v, %d, %v", ids, oldest, n, err)
	}
	first := w.upload(t, licence, honest())
	since := must(w.Find(t.Context(), first))(t).Created
	w.move(time.Minute)
	scanning := w.upload(t, licence, honest())
	away := w.Scanner
	w.Scanner = &clamd.Scanner{Address: "unix:/nonexistent", Timeout: time.Second}
	if _, err := w.Scan(t.Context(), scanning); !errors.Is(err, clamd.ErrUnavailable) {
		t.Fatal(err)
	}
	w.Scanner = away
	refused := w.settled(t, licence, broken())
	w.move(10 * time.Minute)
	w.settled(t, licence, honest())
	last := w.upload(t, certificate, honest())

	ids, oldest, n, err := w.Waiting(t.Context(), 5*time.Minute)
	if err != nil || !slices.Equal(ids, []uuid.UUID{first, scanning}) || n != 3 || !oldest.Equal(since) {
		t.Errorf("Waiting = %v, %v, %d, %v", ids, oldest, n, err)
	}
	for _, id := range []uuid.UUID{first, scanning, last} {
		must(w.Scan(t.Context(), id))(t)
	}
	// One that was replaced is over; this one was not.
	w.Queue = nil
	lone := w.settled(t, "A letter", broken())
	if err := w.Rescan(t.Context(), lone, "the tool was wrong", operator); err != nil {
		t.Fatal(err)
	}
	sent := must(w.Find(t.Context(), lone))(t).Moved
	if ids, oldest, n, err = w.Waiting(t.Context(), 5*time.Minute); err != nil || len(ids) != 0 || n != 1 || !oldest.Equal(sent) {
		t.Errorf("Waiting after a document was sent back = %v, %v, %d, %v; want since %v", ids, oldest, n, err, sent)
	}
	if err := w.Rescan(t.Context(), refused, "again", operator); !errors.Is(err, document.ErrNotRefused) {
		t.Errorf("Rescan of a document that was replaced: %v", err)
	}
}

// The record and its scan are created together, or neither is.
func TestNoRecordWithoutItsScan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	full := errors.New("the queue is full")
	w.Queue = func(context.Context, pg.Tx, uuid.UUID) error { return full }
	f := must(w.Receive(t.Context(), "a.png", bytes.NewReader(honest())))(t)
	if err := w.record(f, licence); !errors.Is(err, full) {
		t.Errorf("Record = %v", err)
	}
	if _, err := w.Find(t.Context(), f.ID); !errors.Is(err, document.ErrNoDocument) {
		t.Errorf("there is a record all the same: %v", err)
	}
}
