package registry_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Whoever has the database login of the service and writes a signed column of an
// organisation gains nothing: every reader that decides by the row acts as if it were not
// there, whichever column it is, until the column is as it was.
func TestForgedOrganisationIsRefusedByEveryReader(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	ctx, stolen, by := t.Context(), pgtest.Stolen(t, r.Pool), sponsor(t, r.Pool)
	entity, err := onboard(ctx, r, form(nil), by)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := r.AccountByEmail(ctx, r.Pool, form(nil).AdminEmail)
	if err != nil {
		t.Fatal(err)
	}
	readers := map[string]func() (uuid.UUID, error){
		"Entity":           func() (uuid.UUID, error) { e, err := r.Entity(ctx, entity.ID); return e.ID, err },
		"EntityFor, named": func() (uuid.UUID, error) { return registry.EntityFor(ctx, r.Pool, by, entity.ID) },
		"EntityFor, token": func() (uuid.UUID, error) { return registry.EntityFor(ctx, r.Pool, by, uuid.Nil) },
		"EntityFor, only": func() (uuid.UUID, error) {
			return registry.EntityFor(ctx, r.Pool, registry.Onboarder{Client: by.Client, Token: uuid.New()}, uuid.Nil)
		},
		"OnlyEntityOf":   func() (uuid.UUID, error) { return registry.OnlyEntityOf(ctx, r.Pool, by.Client) },
		"Account":        func() (uuid.UUID, error) { a, err := r.Account(ctx, r.Pool, admin.ID); return a.Entity, err },
		"AccountByEmail": func() (uuid.UUID, error) { a, err := r.AccountByEmail(ctx, r.Pool, admin.Email); return a.Entity, err },
	}
	write := func(change string) {
		t.Helper()
		if _, err := stolen.Exec(ctx, `UPDATE entity SET `+change+` WHERE id = $1`, entity.ID); err != nil {
			t.Fatal(err)
		}
	}
	for forge, restore := range map[string]string{
		"name = name || 'x'": "name = left(name, -1)", "cac = cac || 'x'": "cac = left(cac, -1)", "supplies = NOT supplies": "supplies = NOT supplies", "asks = NOT asks": "asks = NOT asks",
		"document_required = NOT document_required": "document_required = NOT document_required", "created_at = created_at - interval '1 hour'": "created_at = created_at + interval '1 hour'",
	} {
		for name, read := range readers {
			if got, err := read(); err != nil || got != entity.ID {
				t.Fatalf("%s before %s: %s, %v", name, forge, got, err)
			}
		}
		write(forge)
		for name, read := range readers {
			if got, err := read(); got != uuid.Nil || err != nil && fault.CodeOf(err) == fault.Internal {
				t.Errorf("%s after %s: %s, %v", name, forge, got, err)
			}
		}
		write(restore)
	}
}
