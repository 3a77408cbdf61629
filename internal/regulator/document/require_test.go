package document_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The state of a requirement follows the documents submitted for it, and only an
// accepted one meets it. Until all are met, no live key can be created.
func TestRequirementsFollowTheDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var none uuid.UUID
	wants := func(step, state string, id uuid.UUID) {
		t.Helper()
		list := must(w.Requirements(t.Context(), w.entity))(t)
		want := []document.Requirement{{Type: certificate, State: document.RequirementMissing}, {Type: licence, State: state, Document: pg.ID(id)}}
		if !slices.Equal(list, want) {
			t.Errorf("%s: %v, want %v", step, list, want)
		}
		err := w.CheckNewKey(t.Context(), w.Pool, w.entity)
		f, _ := errors.AsType[*fault.Error](err)
		if !errors.Is(err, document.ErrRestricted) || f.Code != fault.IncompatibleState || !strings.Contains(f.Message, "Upload: "+certificate) ||
			strings.Contains(f.Message, licence) != (state != document.RequirementAccepted) {
			t.Errorf("%s: a key may be made: %v", step, err)
		}
	}
	wants("at first", document.RequirementMissing, none)
	first := w.upload(t, licence, broken())
	wants("uploaded", document.RequirementWaiting, first)
	must(w.Scan(t.Context(), first))(t)
	wants("refused", document.RequirementRejected, first)
	second := w.settled(t, licence, infected())
	wants("infected", document.RequirementRejected, second)
	third := w.settled(t, licence, honest())
	wants("clean", document.RequirementWaiting, third)
	must(w.Review(t.Context(), document.Review{Document: third, Reason: "no seal", Actor: reviewer}))(t)
	wants("rejected", document.RequirementRejected, third)
	fourth := w.reviewed(t, licence, true)
	wants("accepted", document.RequirementAccepted, fourth)
	fifth := w.reviewed(t, licence, false)
	wants("a later one was rejected", document.RequirementAccepted, fourth)
	sixth := w.reviewed(t, licence, true)
	wants("a later one was accepted", document.RequirementAccepted, sixth)
	for _, id := range []uuid.UUID{fourth, sixth} {
		if err := w.Delete(t.Context(), id, "forged", operator); err != nil {
			t.Fatal(err)
		}
	}
	wants("the accepted ones were deleted", document.RequirementRejected, fifth)
	for _, id := range []uuid.UUID{first, second, third, fifth} {
		if err := w.Delete(t.Context(), id, "forged", operator); err != nil {
			t.Fatal(err)
		}
	}
	wants("all were deleted", document.RequirementMissing, none)

	w.reviewed(t, licence, true)
	w.reviewed(t, certificate, true)
	if err := w.CheckNewKey(t.Context(), w.Pool, w.entity); err != nil {
		t.Errorf("all is there, and: %v", err)
	}
}

// An entity that need not submit documents has no requirements and no restriction;
// a required type may be any word.
func TestRequirementsAreByPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, entity := range []uuid.UUID{w.newEntity(t, false), uuid.New()} {
		if list, err := w.Requirements(t.Context(), entity); err != nil || len(list) != 0 {
			t.Errorf("of an entity that need not: %v, %v", list, err)
		}
		if err := w.CheckNewKey(t.Context(), w.Pool, entity); err != nil {
			t.Errorf("restricted: %v", err)
		}
	}
	w.Required = nil
	if list, err := w.Requirements(t.Context(), w.entity); err != nil || len(list) != 0 {
		t.Errorf("where nothing is required: %v, %v", list, err)
	}
	w.Required = []string{"Spectrum licence"}
	w.reviewed(t, document.Other, true)
	id := w.reviewed(t, "Spectrum licence", true)
	if list := must(w.Requirements(t.Context(), w.entity))(t); list[0].Document != pg.ID(id) {
		t.Errorf("a label: %v", list)
	}
	if err := w.CheckPolicy(); err != nil {
		t.Errorf("CheckPolicy: %v", err)
	}
	w.Strict = true
	if err := w.CheckPolicy(); err == nil || !strings.Contains(err.Error(), "Spectrum licence") {
		t.Errorf("a required type that cannot be uploaded: %v", err)
	}
}

// Documents are deleted when their retention has passed, and no others are.
func TestRetentionTakesOnlyWhatIsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const week = 7 * 24 * time.Hour
	w.Retention = map[string]time.Duration{certificate: week, document.Other: week, "Passport": 52 * week}
	mine, revoked, free := w.entity, w.newEntity(t, true), w.newEntity(t, false)

	superseded := w.reviewed(t, certificate, true)
	inForce := w.reviewed(t, certificate, true)
	rejected := w.reviewed(t, certificate, false)
	refused := w.settled(t, certificate, broken())
	virus := w.settled(t, certificate, infected())
	undecided := w.settled(t, certificate, honest())
	held := w.reviewed(t, certificate, false)
	if err := w.Hold(t.Context(), held, true, "Suit 12/2026", operator); err != nil {
		t.Fatal(err)
	}
	forever := w.reviewed(t, licence, false)
	letter := w.reviewed(t, "A letter", true)
	passport := w.reviewed(t, "Passport", true)
	w.entity = revoked
	former := w.reviewed(t, certificate, true)
	w.sql(t, `UPDATE entity SET status = 'Revoked' WHERE id = $1`, revoked)
	w.entity = free
	voluntary := w.reviewed(t, certificate, true)
	w.entity = mine

	w.move(week - time.Minute)
	if n, err := w.DeleteExpired(t.Context()); err != nil || n != 0 {
		t.Errorf("before the time is over: %d, %v", n, err)
	}
	late := w.reviewed(t, certificate, false)
	waiting := w.upload(t, certificate, honest())
	w.move(2 * time.Minute)
	if n, err := w.DeleteExpired(t.Context()); err != nil || n != 7 {
		t.Errorf("Retain = %d, %v; want 7", n, err)
	}
	for _, id := range []uuid.UUID{superseded, rejected, refused, virus, letter, former, voluntary} {
		d := w.is(t, id, document.Deleted)
		if d.Reason != document.Retention || d.Note == "" {
			t.Errorf("deleted for %q, %q", d.Reason, d.Note)
		}
		last := must(w.History(t.Context(), id))(t)
		if m := last[len(last)-1]; m.Actor.Kind != "system" || m.To != document.Deleted {
			t.Errorf("the history ends with %+v", m)
		}
	}
	for name, id := range map[string]uuid.UUID{
		"in force": inForce, "undecided": undecided, "held": held, "for ever": forever, "passport": passport, "late": late, "waiting": waiting,
	} {
		if d := must(w.Find(t.Context(), id))(t); d.State == document.Deleted {
			t.Errorf("%s: deleted", name)
		}
		w.pathOf(t, id)
	}
	if n := filesIn(t, w.dir); n != 7 {
		t.Errorf("%d files are kept, want 7", n)
	}
}
