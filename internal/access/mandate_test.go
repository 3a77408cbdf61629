package access_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// mandated reports whether a key may be used on behalf of a principal, at a node.
func mandated(t *testing.T, node *access.Service, key secret.Text, principal string) bool {
	t.Helper()
	who, err := node.Authenticate(t.Context(), key.Reveal(), here)
	if err != nil {
		t.Fatal(err)
	}
	err = node.CheckMandate(&who, principal)
	if err != nil && !errors.Is(err, access.ErrNotMandated) {
		t.Fatal(err)
	}
	return err == nil
}

func (w *world) keyFor(t *testing.T, entity uuid.UUID, purpose string) secret.Text {
	t.Helper()
	key, err := w.CreateKey(t.Context(), access.KeyForm{Entity: entity, Name: "app", Mode: access.Live, Purpose: purpose}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	return key.Text
}

func (w *world) mandate(t *testing.T, f access.MandateForm) uuid.UUID {
	t.Helper()
	if f.Until.IsZero() {
		f.Until = w.clock.Add(time.Hour)
	}
	f.Document = "letter 7"
	id, err := w.AddMandate(t.Context(), f, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// An agent may ask for exactly the principal of a mandate, with keys of its purposes,
// until it expires. Other entities may not.
func TestMandateAllowsOnePrincipalForItsPurposesUntilItExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, plain := w.key(t)
	_, stranger := w.key(t)
	payment, credit := w.keyFor(t, agent.ID, "payment"), w.keyFor(t, agent.ID, "credit")
	w.mandate(t, access.MandateForm{Entity: agent.ID, Principal: " Harbour Bank "})
	w.mandate(t, access.MandateForm{Entity: agent.ID, Principal: "Ọ̀ṣun Savings", Purposes: []string{"payment", "collection"}, Until: w.clock.Add(2 * time.Hour)})
	for _, tc := range []struct {
		what      string
		key       secret.Text
		principal string
		want      bool
	}{
		{"all purposes", plain.Text, "Harbour Bank", true},
		{"all purposes, a code", credit, "Harbour Bank", true},
		{"its purpose", payment, "Ọ̀ṣun Savings", true},
		{"another purpose", credit, "Ọ̀ṣun Savings", false},
		{"the purpose other", plain.Text, "Ọ̀ṣun Savings", false},
		{"another spelling", plain.Text, "harbour bank", false},
		{"a part of the name", plain.Text, "Harbour", false},
		{"another principal", plain.Text, "Cove Bank", false},
		{"no principal", plain.Text, "", false},
		{"another entity", stranger.Text, "Harbour Bank", false},
	} {
		if got := mandated(t, w.Service, tc.key, tc.principal); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.what, got, tc.want)
		}
	}
	w.clock = w.clock.Add(time.Hour)
	if mandated(t, w.Service, plain.Text, "Harbour Bank") || !mandated(t, w.Service, payment, "Ọ̀ṣun Savings") {
		t.Error("a mandate does not end at its own time")
	}
}

// A new or ended mandate reaches the other nodes, although they answer from their
// caches; one that expires needs no notification.
func TestMandatesReachOtherNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	node := w.node(t)
	agent, key := w.key(t)
	if mandated(t, node, key.Text, "Harbour Bank") {
		t.Fatal("there is no mandate yet")
	}
	id := w.mandate(t, access.MandateForm{Entity: agent.ID, Principal: "Harbour Bank"})
	within(t, 5*time.Second, "the other node knows the mandate", func() bool { return mandated(t, node, key.Text, "Harbour Bank") })
	if err := w.EndMandate(t.Context(), id, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	within(t, 5*time.Second, "the other node knows that it has ended", func() bool { return !mandated(t, node, key.Text, "Harbour Bank") })
	if err := w.EndMandate(t.Context(), id, access.Operator, uuid.Nil); !errors.Is(err, access.ErrNoMandate) {
		t.Errorf("it was ended again: %v", err)
	}
	who, err := node.Authenticate(t.Context(), key.Text.Reveal(), here)
	w.mandate(t, access.MandateForm{Entity: agent.ID, Principal: "Cove Bank"})
	within(t, 5*time.Second, "the other node knows the second mandate", func() bool { return mandated(t, node, key.Text, "Cove Bank") })
	if err != nil || node.CheckMandate(&who, "Cove Bank") == nil {
		t.Errorf("a caller of before has the mandate, or %v", err)
	}
	cached, err := node.Authenticate(t.Context(), key.Text.Reveal(), here)
	if w.clock = w.clock.Add(time.Hour); err != nil || node.CheckMandate(&cached, "Cove Bank") == nil {
		t.Errorf("an expired mandate is valid while its key is cached, or %v", err)
	}
}

// Staff see every mandate, with those that have ended, and the audit trail has who
// recorded and ended them.
func TestMandatesAreListedAndAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, _ := w.key(t)
	other, _ := w.key(t)
	first := w.mandate(t, access.MandateForm{Entity: agent.ID, Principal: "Harbour Bank", Purposes: []string{"credit"}})
	w.mandate(t, access.MandateForm{Entity: other.ID, Principal: "Cove Bank"})
	if err := w.EndMandate(t.Context(), first, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	own, err := w.Mandates(t.Context(), agent.ID)
	if err != nil || len(own) != 1 || own[0].ID != first || own[0].Active(w.clock) || own[0].EndedAt.IsZero() || own[0].Document != "letter 7" || own[0].Entity != "Bank" {
		t.Errorf("the mandates of the agent are %+v, %v", own, err)
	}
	if diff := cmp.Diff([]string{"credit"}, own[0].Purposes); diff != "" {
		t.Error(diff)
	}
	if all, err := w.Mandates(t.Context(), uuid.Nil); err != nil || len(all) != 2 || !all[1].Active(w.clock) || len(all[1].Purposes) != 0 {
		t.Errorf("all mandates are %+v, %v", all, err)
	}
	var actions string
	err = w.Pool.QueryRow(t.Context(), `SELECT string_agg(action || ' ' || coalesce(after ->> 'principal', ''), ', ' ORDER BY id) FROM audit WHERE subject_id = $1 AND entity_id = $2`, first, agent.ID).Scan(&actions)
	if err != nil || actions != "mandate.added Harbour Bank, mandate.ended " {
		t.Errorf("the audit trail has %q, %v", actions, err)
	}
}

// Everything that is wrong with a mandate is reported at once, and only its end can be
// changed.
func TestInvalidMandatesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, _ := w.key(t)
	good := access.MandateForm{Entity: agent.ID, Principal: "P", Until: w.clock.Add(time.Hour), Document: "d"}
	for field, change := range map[string]func(f *access.MandateForm){
		"principal":                         func(f *access.MandateForm) { f.Principal = " " },
		"principal ":                        func(f *access.MandateForm) { f.Principal = strings.Repeat("ọ", 101) },
		"principal  ":                       func(f *access.MandateForm) { f.Principal = "a\nb" },
		"principal   ":                      func(f *access.MandateForm) { f.Principal = "a\xff" },
		"purposes":                          func(f *access.MandateForm) { f.Purposes = []string{"payment", "marketing", "payment"} },
		"until":                             func(f *access.MandateForm) { f.Until = w.clock },
		"document":                          func(f *access.MandateForm) { f.Document = "" },
		"principal purposes until document": func(f *access.MandateForm) { *f = access.MandateForm{Entity: agent.ID, Purposes: []string{""}} },
	} {
		f := good
		change(&f)
		_, err := w.AddMandate(t.Context(), f, access.Operator, uuid.Nil)
		var got []string
		if invalid, ok := errors.AsType[*fault.Error](err); ok {
			for _, v := range invalid.Violations {
				got = append(got, v.Field)
			}
		}
		if strings.Join(got, " ") != strings.TrimSpace(field) {
			t.Errorf("%s: %v, %v", field, got, err)
		}
	}
	good.Entity = uuid.New()
	if _, err := w.AddMandate(t.Context(), good, access.Operator, uuid.Nil); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an unknown entity: %v", err)
	}
	w.mandate(t, access.MandateForm{Entity: agent.ID, Principal: "P"})
	for _, sql := range []string{"UPDATE mandate SET until = until", "DELETE FROM mandate"} {
		if _, err := w.Pool.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
