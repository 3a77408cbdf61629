package registry_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// founders enrols two founders and returns them as actors.
func founders(t *testing.T, r *registry.Registry) (ada, bola audit.Actor) {
	t.Helper()
	ids, err := r.Found(t.Context(), []registry.StaffForm{staffForm(""), staffForm("")}, operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	return audit.Actor{Kind: audit.Account, ID: ids[0]}, audit.Actor{Kind: audit.Account, ID: ids[1]}
}

// Founders are administrators, independent of each other and of the operator, and each
// has an entry in the trail that says so. Once there are founders, the operator no
// longer acts alone, even if only one of them is left.
func TestFoundersAreIndependent(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	ada, bola := founders(t, r)
	for _, pair := range [][2]audit.Actor{{ada, bola}, {operator, ada}, {bola, operator}} {
		if err := registry.CheckIndependent(t.Context(), r.Pool, pair[0], pair[1]); err != nil {
			t.Errorf("%s and %s: %v", pair[0].Kind, pair[1].Kind, err)
		}
	}
	list, err := audit.List(t.Context(), r.Pool, audit.Filter{Subject: ada.ID})
	if err != nil || len(list) != 1 || list[0].Action != audit.StaffCreated || list[0].After["founder"] != true || roleOf(t, r, ada.ID) != "administrator" {
		t.Errorf("the trail says %+v, %v", list, err)
	}
	if _, err := r.Pool.Exec(t.Context(), `UPDATE account SET disabled_at = now() WHERE id = $1`, bola.ID); err != nil {
		t.Fatal(err)
	}
	made, err := r.CreateStaff(t.Context(), staffForm("administrator"), operator, uuid.Nil)
	if err != nil || made.Pending == uuid.Nil || made.Role != "auditor" {
		t.Fatalf("the operator alone: %+v, %v", made, err)
	}
	puppet := staffBy(t, r, operator, "auditor")
	if err := registry.CheckIndependent(t.Context(), r.Pool, operator, puppet); !errors.Is(err, approval.ErrNotIndependent) {
		t.Errorf("the operator and a later account: %v", err)
	}
	if _, err := desk(r).Confirm(t.Context(), made.Pending, ada, uuid.Nil); err != nil {
		t.Errorf("the operator and a founder: %v", err)
	}
}

// Founders are enrolled once, before anybody else, two to five together, and every
// mistake is reported at once.
func TestFoundersAreEnrolledOnce(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	form := func(n int) (list []registry.StaffForm) {
		for range n {
			list = append(list, staffForm(""))
		}
		return list
	}
	for _, n := range []int{0, 1, 6} {
		if _, err := r.Found(t.Context(), form(n), operator, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%d founders: %v", n, err)
		}
	}
	wrong := form(2)
	wrong[0].Email, wrong[1].Name, wrong[1].Password = "nobody", "", "short"
	_, err := r.Found(t.Context(), wrong, operator, uuid.Nil)
	var fields []string
	if f, ok := errors.AsType[*fault.Error](err); ok {
		for _, v := range f.Violations {
			fields = append(fields, v.Field)
		}
	}
	if want := []string{"founders[0].email", "founders[1].name", "founders[1].password"}; !slices.Equal(slices.Compact(fields), want) {
		t.Errorf("violations of %v, want %v", fields, want)
	}
	same := form(2)
	same[1].Email = same[0].Email
	if _, err := r.Found(t.Context(), same, operator, uuid.Nil); fault.CodeOf(err) != fault.AlreadyExists {
		t.Errorf("one address for two: %v", err)
	}
	if _, err := r.Found(t.Context(), form(5), operator, uuid.Nil); err != nil {
		t.Errorf("five founders: %v", err)
	}
	if _, err := r.Found(t.Context(), form(2), operator, uuid.Nil); !errors.Is(err, registry.ErrHasStaff) {
		t.Errorf("a second time: %v", err)
	}
}
