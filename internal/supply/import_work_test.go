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
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/supply"
)

// office is an intake that receives files and keeps them in a directory.
type office struct {
	*intake

	dir string
	log *slog.Logger
	out *bytes.Buffer
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{intake: newIntake(t), dir: filepath.Join(t.TempDir(), "imports"), out: &bytes.Buffer{}}
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

// receive takes a file in from a network.
func (o *office) receive(network string, f supply.ImportForm, content string) supply.Import {
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

// kept returns the paths of all files that are kept.
func (o *office) kept() []string {
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

// stands checks how an import stands.
func (o *office) stands(im supply.Import, want string) {
	o.t.Helper()
	if got := o.state(im); got != want {
		o.t.Errorf("the import is %s, want %s", got, want)
	}
}

func (o *office) state(im supply.Import) string {
	o.t.Helper()
	now, err := o.Import(o.t.Context(), im.ID)
	if err != nil {
		o.t.Fatal(err)
	}
	return now.State
}

// keeps checks how many files are kept.
func (o *office) keeps(want int) {
	o.t.Helper()
	if got := o.kept(); len(got) != want {
		o.t.Errorf("%d files are kept, want %d", len(got), want)
	}
}

// works looks for imports once.
func (o *office) works() {
	o.t.Helper()
	if err := errors.Join(supply.WorkOnce(o.Desk, o.t.Context(), o.log), supply.Tidy(o.Desk, o.t.Context(), o.clock, map[uuid.UUID]bool{})); err != nil {
		o.t.Fatal(err)
	}
}

// Files that are received are worked off in the background, by whichever of
// several processes comes first, and are removed when they are done with.
func TestReceivedFilesAreWorkedOff(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	good := o.receive("MTN", asOf(march), zipped(of(actives(0, 30)...)))
	events := o.receive("AIRTEL", supply.ImportForm{Kind: linefile.Events}, told("a1,"+airtel(0)+",USED,2026-05-10,,,,,,"))
	useless := o.receive("GLO", asOf(march), "%PDF-1.7\n")
	o.keeps(3)

	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() { o.Work(ctx, slog.New(slog.DiscardHandler)) })
	}
	want := map[string]string{good.ID.String(): supply.Finished, events.ID.String(): supply.Finished, useless.ID.String(): supply.Rejected}
	for deadline := time.After(time.Minute); ; {
		got := map[string]string{}
		for _, im := range []supply.Import{good, events, useless} {
			got[im.ID.String()] = o.state(im)
		}
		if cmp.Equal(want, got) && len(o.kept()) == 0 {
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
	o.sound()
}

// What a killed process left half done goes on, and a file that is held waits
// with its import.
func TestFilesWaitForTheirImport(t *testing.T) {
	t.Parallel()
	s := scenes()["snapshot"]
	o := newOffice(t)
	o.lenient()
	o.cancel(o.set(s)) // for the lines; its own import makes room
	o.run(o.begin(s.form), s.content, supply.Finished)
	want := o.dump(tables)

	o.cancel(o.set(s))
	im := o.receive("MTN", s.form, s.content)
	from := supply.Source{Open: func() (io.ReadCloser, error) { return o.Files.Open(t.Context(), im.ID.String()) }}.InChunks(4)
	for looks := 1; o.count(`SELECT place FROM supply_import WHERE uid = $1`, im.ID) == 0; looks++ {
		if _, stopped := o.stoppedAt(im, from, looks); !stopped {
			t.Fatal("the import did not stop")
		}
	}
	o.stands(im, supply.Applying)
	o.keeps(1)
	o.works()
	o.stands(im, supply.Finished)
	o.keeps(0)
	if diff := cmp.Diff(want, o.dump(tables)); diff != "" {
		t.Errorf("-undisturbed +killed:\n%s", diff)
	}

	held := o.receive("MTN", asOf(o.at(1)), of())
	o.works()
	o.stands(held, supply.Held)
	o.works()
	o.keeps(1)
	if _, err := o.Confirm(t.Context(), held.ID, console); err != nil {
		t.Fatal(err)
	}
	o.works()
	o.stands(held, supply.Finished)
	o.keeps(0)
	o.sound()
}

// Nothing is left of a file that no import needs.
func TestFilesThatNobodyNeedsAreRemoved(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	// It breaks off.
	broken := errors.New("the line went dead")
	body := io.MultiReader(strings.NewReader(snapshotHeader), iotest.ErrReader(broken))
	if _, err := o.Receive(t.Context(), operator("MTN"), asOf(march), body); !errors.Is(err, broken) {
		t.Errorf("a file that breaks off: %v", err)
	}
	o.keeps(0)
	// It is refused at once.
	if _, err := o.Receive(t.Context(), operator("MTN"), asOf(o.clock.AddDate(1, 0, 0)), strings.NewReader(of())); err == nil {
		t.Error("a snapshot of the future is received")
	}
	first := o.receive("MTN", asOf(march), of(actives(0, 30)...))
	if _, err := o.Receive(t.Context(), operator("MTN"), asOf(may), strings.NewReader(of())); !errors.Is(err, supply.ErrImportOpen) {
		t.Errorf("two imports are open: %v", err)
	}
	o.keeps(1)
	// It was cancelled, at another node.
	o.cancel(first)
	o.works()
	o.keeps(0)
	// The process was killed before it could remove the file.
	second := o.receive("MTN", asOf(march), of(actives(0, 30)...))
	from := supply.Source{Open: func() (io.ReadCloser, error) { return o.Files.Open(t.Context(), second.ID.String()) }}
	if im, err := o.Run(t.Context(), second.ID, from, nil); err != nil || im.State != supply.Finished {
		t.Fatalf("%s, %v", im.State, err)
	}
	o.keeps(1)
	o.works()
	o.keeps(0)
}

// A file that cannot be read keeps nobody else's waiting.
func TestOneFileKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	stuck := o.receive("MTN", asOf(march), of(actives(0, 30)...))
	path := o.kept()[0]
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	elsewhere := o.receive("GLO", supply.ImportForm{Kind: linefile.Events}, eventsHeader)
	if err := o.Files.Delete(t.Context(), elsewhere.ID.String()); err != nil { // another node has it
		t.Fatal(err)
	}
	fine := o.receive("AIRTEL", asOf(march), of(airtels(0, 30)...))
	if err := supply.WorkOnce(o.Desk, t.Context(), o.log); err == nil {
		t.Error("nobody is told that a file cannot be read")
	}
	o.stands(stuck, supply.Checking)
	o.stands(elsewhere, supply.Checking)
	o.stands(fine, supply.Finished)
	o.sound()
}
