package supply_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/blob"
)

// receiveEnv is an importEnv that receives files and stores them in a directory.
type receiveEnv struct {
	*importEnv

	dir string
	log *slog.Logger
	out *bytes.Buffer
}

func newReceiveEnv(t *testing.T) *receiveEnv {
	t.Helper()
	o := &receiveEnv{importEnv: newImportEnv(t), dir: filepath.Join(t.TempDir(), "imports"), out: &bytes.Buffer{}}
	files, err := blob.OpenDir(o.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Files = files
	o.log = slog.New(slog.NewTextHandler(o.out, nil))
	return o
}

// receive receives a file of a network.
func (o *receiveEnv) receive(network string, f supply.ImportForm, content string) supply.Import {
	o.t.Helper()
	im, err := o.Receive(o.t.Context(), operator(network), f, strings.NewReader(content))
	if err != nil {
		o.t.Fatal(err)
	}
	if im.Source != "api" || im.Bytes != int64(len(content)) || im.State != supply.Checking {
		o.t.Errorf("received: %+v", im)
	}
	return im
}

// storedFiles returns the paths of all stored files.
func (o *receiveEnv) storedFiles() []string {
	o.t.Helper()
	var list []string
	err := filepath.WalkDir(o.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return list
}

// wantState checks the state of an import.
func (o *receiveEnv) wantState(im supply.Import, want string) {
	o.t.Helper()
	if got := o.state(im); got != want {
		o.t.Errorf("the import is %s, want %s", got, want)
	}
}

func (o *receiveEnv) state(im supply.Import) string {
	o.t.Helper()
	now, err := o.Import(o.t.Context(), im.ID)
	if err != nil {
		o.t.Fatal(err)
	}
	return now.State
}

// wantFiles checks how many files are stored.
func (o *receiveEnv) wantFiles(want int) {
	o.t.Helper()
	if got := o.storedFiles(); len(got) != want {
		o.t.Errorf("%d files are stored, want %d", len(got), want)
	}
}

// runOnce runs the waiting imports once, and deletes the files of finished ones.
func (o *receiveEnv) runOnce() {
	o.t.Helper()
	if err := o.RunOnce(o.t.Context(), o.log, o.clock); err != nil {
		o.t.Fatal(err)
	}
}

// Received files are imported in the background, by whichever of several processes
// is first, and deleted when their import is finished.
func TestReceivedFilesAreImported(t *testing.T) {
	t.Parallel()
	o := newReceiveEnv(t)
	good := o.receive("MTN", asOf(march), zipped(snapshotOf(actives(0, 30)...)))
	events := o.receive("AIRTEL", supply.ImportForm{Kind: linefile.Events}, eventsOf("a1,"+airtel(0)+",USED,2026-05-10,,,,,,"))
	useless := o.receive("GLO", asOf(march), "%PDF-1.7\n")
	o.wantFiles(3)

	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() { o.RunImports(ctx, slog.New(slog.DiscardHandler)) })
	}
	want := map[string]string{good.ID.String(): supply.Finished, events.ID.String(): supply.Finished, useless.ID.String(): supply.Rejected}
	for deadline := time.After(time.Minute); ; {
		got := map[string]string{}
		for _, im := range []supply.Import{good, events, useless} {
			got[im.ID.String()] = o.state(im)
		}
		if cmp.Equal(want, got) && len(o.storedFiles()) == 0 {
			break
		}
		select {
		case <-deadline:
			t.Fatalf("after a minute: %v", got)
		case <-time.After(10 * time.Millisecond):
		}
	}
	stop()
	workers.Wait()
	if lines := o.count(`SELECT count(*) FROM line_now`); lines != 31 {
		t.Errorf("%d lines, want 31", lines)
	}
	o.wantConsistent()
}

// An import that a killed process left unfinished is resumed, and the file of a held
// import is kept.
func TestFilesWaitForTheirImport(t *testing.T) {
	t.Parallel()
	s := importCases()["snapshot"]
	o := newReceiveEnv(t)
	o.raiseHoldLimit()
	o.cancel(o.start(s)) // for the lines; its own import makes room
	o.run(o.create(s.form), s.content, supply.Finished)
	want := o.dump(lineTables)

	o.cancel(o.start(s))
	im := o.receive("MTN", s.form, s.content)
	from := supply.Source{Open: func() (io.ReadCloser, error) { return o.Files.Open(t.Context(), im.ID.String()) }}.InChunks(4)
	for reads := 1; o.count(`SELECT place FROM supply_import WHERE uid = $1`, im.ID) == 0; reads++ {
		if _, stopped := o.stopAfter(im, from, reads); !stopped {
			t.Fatal("the import did not stop")
		}
	}
	o.wantState(im, supply.Applying)
	o.wantFiles(1)
	o.runOnce()
	o.wantState(im, supply.Finished)
	o.wantFiles(0)
	if diff := cmp.Diff(want, o.dump(lineTables)); diff != "" {
		t.Errorf("-undisturbed +killed:\n%s", diff)
	}

	held := o.receive("MTN", asOf(o.at(1)), snapshotOf())
	o.runOnce()
	o.wantState(held, supply.Held)
	o.runOnce()
	o.wantFiles(1)
	if _, err := o.Confirm(t.Context(), held.ID, console); err != nil {
		t.Fatal(err)
	}
	o.runOnce()
	o.wantState(held, supply.Finished)
	o.wantFiles(0)
	o.wantConsistent()
}

// A file that no import needs is deleted.
func TestUnneededFilesAreDeleted(t *testing.T) {
	t.Parallel()
	o := newReceiveEnv(t)
	// The upload is cut off.
	broken := errors.New("the line went dead")
	body := io.MultiReader(strings.NewReader(snapshotHeader), iotest.ErrReader(broken))
	if _, err := o.Receive(t.Context(), operator("MTN"), asOf(march), body); !errors.Is(err, broken) {
		t.Errorf("an upload that is cut off: %v", err)
	}
	o.wantFiles(0)
	// The import is refused at once.
	if _, err := o.Receive(t.Context(), operator("MTN"), asOf(o.clock.AddDate(1, 0, 0)), strings.NewReader(snapshotOf())); err == nil {
		t.Error("a snapshot of the future is received")
	}
	first := o.receive("MTN", asOf(march), snapshotOf(actives(0, 30)...))
	if _, err := o.Receive(t.Context(), operator("MTN"), asOf(may), strings.NewReader(snapshotOf())); !errors.Is(err, supply.ErrImportOpen) {
		t.Errorf("two imports are open: %v", err)
	}
	o.wantFiles(1)
	// The import was cancelled at another node.
	o.cancel(first)
	o.runOnce()
	o.wantFiles(0)
	// The process was killed before it could delete the file.
	second := o.receive("MTN", asOf(march), snapshotOf(actives(0, 30)...))
	from := supply.Source{Open: func() (io.ReadCloser, error) { return o.Files.Open(t.Context(), second.ID.String()) }}
	if im, err := o.Run(t.Context(), second.ID, from, nil); err != nil || im.State != supply.Finished {
		t.Fatalf("%s, %v", im.State, err)
	}
	o.wantFiles(1)
	o.runOnce()
	o.wantFiles(0)
}

// A file that cannot be read does not stop the imports of others.
func TestUnreadableFileDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	o := newReceiveEnv(t)
	stuck := o.receive("MTN", asOf(march), snapshotOf(actives(0, 30)...))
	path := o.storedFiles()[0]
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	elsewhere := o.receive("GLO", supply.ImportForm{Kind: linefile.Events}, eventsHeader)
	if err := o.Files.Delete(t.Context(), elsewhere.ID.String()); err != nil { // another node has it
		t.Fatal(err)
	}
	fine := o.receive("AIRTEL", asOf(march), snapshotOf(airtels(0, 30)...))
	o.runOnce()
	if !strings.Contains(o.out.String(), "an import failed") || !strings.Contains(o.out.String(), stuck.ID.String()) {
		t.Errorf("that a file cannot be read is not logged:\n%s", o.out)
	}
	o.wantState(stuck, supply.Checking)
	o.wantState(elsewhere, supply.Checking)
	o.wantState(fine, supply.Finished)
	o.wantConsistent()
}
