package operate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
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

// An old row that was written back with the HMAC that it had is a failure: it is not what was
// last signed.
func TestOldRowsThatWereWrittenBackAreReported(t *testing.T) {
	t.Parallel()
	d := &databaseChecks{report: &report{}, pool: pgtest.New(t)}
	peppers, err := secret.NewPeppers([]secret.Text{pgtest.Pepper})
	if err != nil {
		t.Fatal(err)
	}
	keys := &access.Service{Pool: d.pool, Peppers: peppers, Now: time.Now}
	c, err := keys.CreateClient(t.Context(), access.ClientForm{Name: "Telco", Scopes: []string{"entity:onboard"}}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	var mac []byte
	if err := d.pool.QueryRow(t.Context(), `SELECT row_mac FROM client`).Scan(&mac); err != nil {
		t.Fatal(err)
	}
	if err := keys.RevokeClient(t.Context(), c.ID, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	d.rows(t.Context(), peppers)
	if _, err := pgtest.Stolen(t, d.pool).Exec(t.Context(), `UPDATE client SET revoked_at = NULL, row_mac = $1`, mac); err != nil {
		t.Fatal(err)
	}
	d.rows(t.Context(), peppers)
	for i, want := range []string{"ok    rows: ", "fail  rows: 1 rows of client are not those that the service wrote last: " + c.ID.String()} {
		if got := d.findings[i].line(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
