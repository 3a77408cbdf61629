package document_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Staff can open a document only if it is clean, complete and not deleted, and the
// access is audited.
func TestContentIsShownOnlyWhenClean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := honest()
	id := w.upload(t, licence, content)
	closed := func(id uuid.UUID, word string) {
		t.Helper()
		_, err := w.read(id)
		f, _ := errors.AsType[*fault.Error](err)
		if !errors.Is(err, document.ErrNotClean) || f.Code != fault.IncompatibleState || !strings.Contains(f.Message, "state "+word) {
			t.Errorf("%s: %v", word, err)
		}
	}
	shown := func() {
		t.Helper()
		c, err := w.Content(t.Context(), id, reviewer, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.File.Close()
		got := must(w.read(id))(t)
		if sum(got) != c.SHA256 || int64(len(got)) != c.Size || !bytes.HasPrefix(got, []byte("%PDF-1.4\n3 0 obj\n<</Type/XObject/Subtype/Image")) {
			t.Errorf("in state %s something else than pictures is shown: %.80q", c.State, got)
		}
		if bytes.Contains(got, content[:64]) || bytes.Contains(got, content[len(content)-64:]) {
			t.Errorf("in state %s bytes of the file are shown", c.State)
		}
	}
	closed(id, "received")
	must(w.Scan(t.Context(), id))(t)
	shown()
	must(w.Review(t.Context(), document.Review{Document: id, Accept: true, Actor: reviewer}))(t)
	shown()
	closed(w.settled(t, certificate, infected()), "infected")
	closed(w.settled(t, certificate, broken()), "refused")

	path := w.pathOf(t, id)
	write(t, path, flipped(content))
	if b, err := w.read(id); !errors.Is(err, document.ErrDamaged) || len(b) != 0 {
		t.Errorf("of content that was changed on disk %d bytes are shown: %v", len(b), err)
	}
	write(t, path, content[:len(content)/2])
	if b, err := w.read(id); !errors.Is(err, document.ErrDamaged) || len(b) != 0 {
		t.Errorf("of content that was cut off %d bytes are shown: %v", len(b), err)
	}
	if err := w.Delete(t.Context(), id, "sent by mistake", operator); err != nil {
		t.Fatal(err)
	}
	closed(id, "deleted")
	if _, err := w.read(uuid.New()); !errors.Is(err, document.ErrNoDocument) {
		t.Errorf("content of nothing: %v", err)
	}
	opened := 0
	for _, e := range must(audit.List(t.Context(), w.Pool, audit.Filter{Subject: id, Action: "document.opened"}))(t) {
		if opened++; !e.Actor.Same(reviewer) || e.Entity != w.entity {
			t.Errorf("the audit trail says %+v", e)
		}
	}
	if opened != 4 {
		t.Errorf("the audit trail tells of %d openings, want 4", opened)
	}
}

// A document is reviewed once, in state clean, and a rejection has a reason.
func TestADocumentIsDecidedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.upload(t, licence, honest())
	review := func(id uuid.UUID, accept bool, reason string) error {
		_, err := w.Review(context.Background(), document.Review{Document: id, Accept: accept, Reason: reason, Actor: reviewer})
		return err
	}
	if err := review(id, true, ""); !errors.Is(err, document.ErrNotWaiting) {
		t.Errorf("a document that was not scanned: %v", err)
	}
	must(w.Scan(t.Context(), id))(t)
	for _, reason := range []string{"", " ", "a\nb", "\xff", strings.Repeat("x", 501)} {
		if err := review(id, false, reason); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("rejected for %.10q: %v", reason, err)
		}
	}
	var done atomic.Int32
	var g sync.WaitGroup
	for i := range 6 {
		g.Go(func() {
			switch err := review(id, i%2 == 0, "the seal is missing"); {
			case err == nil:
				done.Add(1)
			case !errors.Is(err, document.ErrNotWaiting):
				t.Error(err)
			}
		})
	}
	g.Wait()
	if done.Load() != 1 {
		t.Errorf("%d reviewers decided", done.Load())
	}
	if n := len(must(w.History(t.Context(), id))(t)); n != 4 {
		t.Errorf("%d moves in the history", n)
	}
	for _, content := range [][]byte{infected(), broken()} {
		if err := review(w.settled(t, certificate, content), true, ""); !errors.Is(err, document.ErrNotWaiting) {
			t.Errorf("a document that is not clean: %v", err)
		}
	}
	if err := review(uuid.New(), true, ""); !errors.Is(err, document.ErrNoDocument) {
		t.Errorf("nothing: %v", err)
	}
	d, err := w.Review(t.Context(), document.Review{Document: w.settled(t, licence, honest()), Reason: "the seal is missing", Actor: reviewer})
	if err != nil || d.State != document.Rejected || d.Note != "the seal is missing" {
		t.Errorf("Review = %+v, %v", d, err)
	}
	last := must(w.History(t.Context(), d.ID))(t)[3]
	if !last.Actor.Same(reviewer) || last.From != document.Clean || last.To != document.Rejected || last.Note != d.Note || !last.At.Equal(d.Moved) {
		t.Errorf("the history says %+v", last)
	}
}

// A document replaces the last one of its label that was rejected, refused or
// infected, whose history stays as it was.
func TestReplacingKeepsTheOldHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linked := func(old, successor uuid.UUID) {
		t.Helper()
		a, b := must(w.Find(t.Context(), old))(t), must(w.Find(t.Context(), successor))(t)
		if a.ReplacedBy != pg.ID(successor) || b.Replaces != pg.ID(old) {
			t.Errorf("replaced by %v, replaces %v", a.ReplacedBy, b.Replaces)
		}
	}
	rejected := w.reviewed(t, licence, false)
	before := must(w.History(t.Context(), rejected))(t)
	other := w.upload(t, certificate, honest())
	refused := w.settled(t, licence, broken())
	linked(rejected, refused)
	virus := w.settled(t, licence, infected())
	linked(refused, virus)
	good := w.reviewed(t, licence, true)
	linked(virus, good)
	renewed := w.upload(t, licence, honest())
	for _, id := range []uuid.UUID{other, renewed} {
		if d := must(w.Find(t.Context(), id))(t); d.Replaces.Valid {
			t.Errorf("%s replaces %s", d.Label, d.Replaces.UUID)
		}
	}
	if after := must(w.History(t.Context(), rejected))(t); !slices.Equal(before, after) {
		t.Errorf("the history was %v and is %v", before, after)
	}
	// Labels of the type OTHER are kinds of their own.
	letter := w.settled(t, "Letter of the chairman", broken())
	photo := w.upload(t, "Photo", honest())
	if d := must(w.Find(t.Context(), photo))(t); d.Replaces.Valid || d.Type != document.Other {
		t.Errorf("a photo replaces %v", d.Replaces)
	}
	linked(letter, w.upload(t, "Letter of the chairman", honest()))
}

// Of two uploads at once the first replaces the old document, and the second none.
func TestADocumentHasOneSuccessor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.reviewed(t, licence, false)
	first := must(w.Receive(t.Context(), "1.png", bytes.NewReader(honest())))(t)
	second := must(w.Receive(t.Context(), "2.png", bytes.NewReader(honest())))(t)
	done := make(chan error, 1)
	err := pg.InTx(t.Context(), w.Pool, func(tx pg.Tx) error {
		if err := w.Record(t.Context(), tx, first, document.Upload{Entity: w.entity, Label: licence, Actor: uploader}); err != nil {
			return err
		}
		go func() { done <- w.record(second, licence) }()
		w.until(t, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`)
		return nil
	})
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	if d := must(w.Find(t.Context(), old))(t); d.ReplacedBy != pg.ID(first.ID) {
		t.Errorf("replaced by %v, want %s", d.ReplacedBy, first.ID)
	}
	if d := must(w.Find(t.Context(), second.ID))(t); d.Replaces.Valid {
		t.Errorf("the second replaces %s", d.Replaces.UUID)
	}
}

// A document under a legal hold cannot be deleted by anyone; a deleted document
// leaves a record of who deleted it and why.
func TestHoldAndDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	id := w.upload(t, licence, honest())
	if err := w.Delete(ctx, id, "over", operator); !errors.Is(err, document.ErrUnsettled) {
		t.Errorf("Delete before the scan: %v", err)
	}
	must(w.Scan(ctx, id))(t)
	if err := w.Hold(ctx, id, false, "over", operator); !errors.Is(err, document.ErrNotHeld) {
		t.Errorf("Release of what is not held: %v", err)
	}
	for _, reason := range []string{"Suit 12/2026", "Suit 13/2026"} {
		if err := w.Hold(ctx, id, true, reason, operator); err != nil {
			t.Fatal(err)
		}
		if d := must(w.Find(ctx, id))(t); !d.Held || d.HeldFor != reason {
			t.Errorf("held %v for %q", d.Held, d.HeldFor)
		}
	}
	if err := w.Delete(ctx, id, "over", operator); !errors.Is(err, document.ErrHeld) {
		t.Errorf("Delete of what is held: %v", err)
	}
	must(w.read(id))(t)
	if err := w.Hold(ctx, id, false, "withdrawn", operator); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(ctx, id, "", operator); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("Delete without a reason: %v", err)
	}
	w.move(time.Hour)
	for range 2 { // again is harmless
		if err := w.Delete(ctx, id, "asked by the entity", operator); err != nil {
			t.Fatal(err)
		}
	}
	d := w.is(t, id, document.Deleted)
	if d.Note != "asked by the entity" || filesIn(t, w.dir) != 0 || d.SHA256 == [32]byte{} {
		t.Errorf("%+v, with %d files", d, filesIn(t, w.dir))
	}
	want := []audit.Action{
		audit.DocumentUploaded, audit.DocumentScanned, audit.DocumentHeld, audit.DocumentHeld, audit.DocumentOpened,
		audit.DocumentReleased, audit.DocumentDeleted,
	}
	if got := w.actions(t, id); !slices.Equal(got, want) {
		t.Errorf("the audit trail says %v, want %v", got, want)
	}
	if err := w.Hold(ctx, id, true, "too late", operator); !errors.Is(err, document.ErrDeleted) {
		t.Errorf("Hold of what is deleted: %v", err)
	}
	for _, err := range []error{w.Hold(ctx, uuid.New(), true, "x", operator), w.Delete(ctx, uuid.New(), "x", operator), w.Rescan(ctx, uuid.New(), "x", operator)} {
		if !errors.Is(err, document.ErrNoDocument) {
			t.Errorf("of nothing: %v", err)
		}
	}
}

// A list shows every document once, in order, whatever the size of its pages.
func TestListGoesThroughAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger := w.newEntity(t, false)
	mine := w.entity
	var all, clean []uuid.UUID
	for i := range 7 {
		if w.entity = mine; i == 3 {
			w.entity = stranger
		}
		id := w.upload(t, []string{licence, certificate}[i%2], honest())
		all = append(all, id)
		if i > 1 {
			must(w.Scan(t.Context(), id))(t)
			clean = append(clean, id)
		}
	}
	for name, tc := range map[string]struct {
		filter document.Filter
		want   []uuid.UUID
	}{
		"all, newest first":       {document.Filter{}, []uuid.UUID{all[6], all[5], all[4], all[3], all[2], all[1], all[0]}},
		"of one entity":           {document.Filter{Entity: stranger}, []uuid.UUID{all[3]}},
		"the queue, oldest first": {document.Filter{States: []document.State{document.Clean}}, clean},
		"by type":                 {document.Filter{Entity: mine, Type: certificate}, []uuid.UUID{all[5], all[1]}},
		"by states":               {document.Filter{States: []document.State{document.Received, document.Rejected}}, []uuid.UUID{all[1], all[0]}},
	} {
		for _, limit := range []int{0, 1, 2, 3, 7} {
			f := tc.filter
			f.Limit = limit
			var got []uuid.UUID
			for range 10 {
				docs, next, err := w.List(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range docs {
					got = append(got, d.ID)
				}
				if f.After = next; next == "" {
					break
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s, %d at a time: %v, want %v", name, limit, got, tc.want)
			}
		}
	}
	if _, _, err := w.List(t.Context(), document.Filter{After: "next"}); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a cursor that is none: %v", err)
	}
}
