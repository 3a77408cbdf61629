package registry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

func newRegistry(t *testing.T) *registry.Registry {
	t.Helper()
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	peppers, err := secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"})
	if err != nil {
		t.Fatal(err)
	}
	return &registry.Registry{
		Pool: pgtest.NewAnyTime(t), Region: region, Passwords: secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 64),
		PasswordMin: 8, Now: time.Now,
	}
}

// form returns a valid form, changed by edit, so that every case states only
// its difference.
func form(edit func(*registry.ApplicationForm)) registry.ApplicationForm {
	f := registry.ApplicationForm{
		Name: "Harmattan Telecom", CAC: "RC-100200", AdminName: "Ada Obi",
		AdminEmail: "ada@harmattan.example", AdminPhone: "+2348012345678", AdminPassword: "correct horse battery",
	}
	if edit != nil {
		edit(&f)
	}
	return f
}

func onboard(ctx context.Context, r *registry.Registry, f registry.ApplicationForm, by registry.Onboarder) (e registry.Entity, err error) {
	app, err := r.Prepare(ctx, f)
	if err != nil {
		return e, err
	}
	err = pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		e, _, err = r.Onboard(ctx, tx, app, by)
		return err
	})
	return e, err
}

// sponsor creates a client that onboards entities.
func sponsor(t *testing.T, pool *pgxpool.Pool) registry.Onboarder {
	t.Helper()
	s := registry.Onboarder{Client: uuid.New(), Token: uuid.New()}
	if _, err := pool.Exec(t.Context(), `INSERT INTO client (id, name, scopes, created_at) VALUES ($1, 'c', '{}', now())`, s.Client); err != nil {
		t.Fatal(err)
	}
	return s
}

func counts(t *testing.T, pool *pgxpool.Pool) (c [3]int) {
	t.Helper()
	err := pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM entity), (SELECT count(*) FROM account), (SELECT count(*) FROM audit)`).Scan(&c[0], &c[1], &c[2])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fieldsOf(err error) (fields []string) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		for _, v := range f.Violations {
			fields = append(fields, v.Field)
		}
	}
	slices.Sort(fields)
	return fields
}

// Onboarding rejects an application that reuses a unique value of the admin with one
// error, whichever value it is, and stores nothing.
func TestOnboardDoesNotSayWhichValueIsTakenAndStoresNothing(t *testing.T) {
	t.Parallel()
	other := func(f *registry.ApplicationForm) {
		f.AdminEmail, f.AdminPhone = "bola@monsoon.example", "+2348098765432"
	}
	for name, tc := range map[string]struct {
		second func(*registry.ApplicationForm)
		want   error
	}{
		"nothing shared": {other, nil},
		"same e-mail":    {func(f *registry.ApplicationForm) { other(f); f.AdminEmail = "ADA@Harmattan.EXAMPLE" }, registry.ErrAdminTaken},
		"same phone":     {func(f *registry.ApplicationForm) { other(f); f.AdminPhone = "0801 234 5678" }, registry.ErrAdminTaken},
		"both":           {func(f *registry.ApplicationForm) { f.AdminPhone = "2348012345678" }, registry.ErrAdminTaken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry(t)
			by := sponsor(t, r.Pool)
			if _, err := onboard(t.Context(), r, form(nil), by); err != nil {
				t.Fatal(err)
			}
			_, err := onboard(t.Context(), r, form(tc.second), by)
			if diff := cmp.Diff(tc.want, err, cmpopts.EquateErrors()); diff != "" || fieldsOf(err) != nil {
				t.Errorf("clash %v (-want +got):\n%s", err, diff)
			}
			want := [3]int{1, 1, 1}
			if tc.want == nil {
				want = [3]int{2, 2, 2}
			}
			if got := counts(t, r.Pool); got != want {
				t.Errorf("entities, accounts, audit entries: %v, want %v", got, want)
			}
		})
	}
}

// A second entity with the same CAC number is accepted, unless the setting
// forbids it; then its other spellings conflict too.
func TestCACNumberIsUniqueOnlyBySetting(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	by := sponsor(t, r.Pool)
	next := 0
	again := func(cac string) error {
		next++
		_, err := onboard(t.Context(), r, form(func(f *registry.ApplicationForm) {
			f.CAC, f.AdminEmail, f.AdminPhone = cac, string(rune('a'+next))+"@x.example", "+23480100000"+string(rune('0'+next/10))+string(rune('0'+next%10))
		}), by)
		return err
	}
	if err := errors.Join(again("RC-100200"), again("RC-100200")); err != nil {
		t.Fatal(err)
	}
	r.CACUnique = true
	for _, spelling := range []string{"RC-100200", "rc 100200", "RC/0100200", "100200"} {
		if err := again(spelling); !errors.Is(err, registry.ErrTaken) || !slices.Equal(fieldsOf(err), []string{"cac"}) {
			t.Errorf("%s: %v, want a clash of cac", spelling, err)
		}
	}
	for _, other := range []string{"BN-100200", "RC-100201"} {
		if err := again(other); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
}

func TestPrepareReportsEveryField(t *testing.T) {
	t.Parallel()
	_, err := newRegistry(t).Prepare(t.Context(), registry.ApplicationForm{AdminPassword: "vq7-z"})
	want := []string{"adminEmail", "adminName", "adminPassword", "adminPhone", "cac", "name"}
	if diff := cmp.Diff(want, fieldsOf(err)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// The admins of an organisation change the secrets of a client that is theirs alone, so it
// must never onboard another: neither later nor at the same moment.
func TestAClientOfOneOrganisationOnboardsNoOther(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.Onboardings = 0
	by := sponsor(t, r.Pool)
	by.Sole = true
	var admitted atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, err := onboard(t.Context(), r, form(func(f *registry.ApplicationForm) {
				f.AdminEmail, f.AdminPhone = fmt.Sprintf("a%d@x.example", i), fmt.Sprintf("+23480987654%02d", i)
			}), by)
			switch {
			case err == nil:
				admitted.Add(1)
			case !errors.Is(err, registry.ErrSole):
				t.Errorf("the client got %v, want ErrSole", err)
			}
		})
	}
	all.Wait()
	if n := admitted.Load(); n != 1 {
		t.Errorf("%d organisations were onboarded, want 1", n)
	}
}

// An upload of a client concerns the entity that it names, if it is its own;
// else the last one of the token; else the only one of the client.
func TestEntityForFindsTheRightEntity(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	by, stranger := sponsor(t, r.Pool), sponsor(t, r.Pool)
	if _, err := registry.EntityFor(t.Context(), r.Pool, by, uuid.Nil); !slices.Equal(fieldsOf(err), []string{"entityUid"}) {
		t.Errorf("a client without entities: %v, want a complaint about entityUid", err)
	}
	first, err := onboard(t.Context(), r, form(nil), by)
	if err != nil {
		t.Fatal(err)
	}
	renewed := registry.Onboarder{Client: by.Client, Token: uuid.New()}
	if id, err := registry.EntityFor(t.Context(), r.Pool, renewed, uuid.Nil); err != nil || id != first.ID {
		t.Errorf("the only entity: %v, %v", id, err)
	}
	second, err := onboard(t.Context(), r, form(func(f *registry.ApplicationForm) { f.AdminEmail, f.AdminPhone = "b@x.example", "+2348098765432" }), by)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := registry.EntityFor(t.Context(), r.Pool, by, uuid.Nil); err != nil || id != second.ID {
		t.Errorf("the token's last entity: %v, %v; want the second", id, err)
	}
	if _, err := registry.EntityFor(t.Context(), r.Pool, renewed, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("two entities and another token: %v, want INVALID_ARGUMENT", err)
	}
	if id, err := registry.EntityFor(t.Context(), r.Pool, renewed, first.ID); err != nil || id != first.ID {
		t.Errorf("a named entity: %v, %v", id, err)
	}
	if _, err := registry.EntityFor(t.Context(), r.Pool, stranger, first.ID); !errors.Is(err, registry.ErrNoEntity) {
		t.Errorf("another's entity: %v, want ErrNoEntity", err)
	}
}
