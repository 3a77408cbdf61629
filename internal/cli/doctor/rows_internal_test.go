package doctor

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A row that the service did not write is a failure, with its table and id.
func TestForgedRowsAreReported(t *testing.T) {
	t.Parallel()
	d := &databaseChecks{report: &report{}, pool: pgtest.New(t)}
	peppers, err := secret.NewPeppers([]secret.Text{pgtest.Pepper})
	if err != nil {
		t.Fatal(err)
	}
	forged := uuid.Must(uuid.NewV7())
	const plant = `INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1::uuid, 'staff', 'auditor', 'Ada', $1::uuid::text, $1::uuid::text, now())`
	if _, err := d.pool.Exec(t.Context(), plant, uuid.Must(uuid.NewV7())); err != nil {
		t.Fatal(err)
	}
	d.rows(t.Context(), peppers)
	if _, err := pgtest.Stolen(t, d.pool).Exec(t.Context(), plant, forged); err != nil {
		t.Fatal(err)
	}
	d.rows(t.Context(), peppers)
	for i, want := range []string{"ok    rows: the service wrote all 1 rows", "fail  rows: the service did not write 1 rows of account and does not accept them: " + forged.String()} {
		if got := d.findings[i].line(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
