package document_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lineproof/lineproof/internal/regulator/document"
)

// refused returns the code with which the database refuses a statement; empty if
// it does not.
func refused(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

const notAllowed, checkFailed = "42501", "23514"

// An upload and a decision cannot be changed afterwards, not even by a compromised
// service.
func TestTheServiceCannotRewriteHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reviewed(t, licence, false)
	for _, sql := range []string{
		`UPDATE document SET sha256 = sha256`, `UPDATE document SET entity_id = entity_id`, `UPDATE document SET file_name = ''`, `DELETE FROM document`,
		`UPDATE document_move SET note = ''`, `DELETE FROM document_move`, `TRUNCATE document_move`,
	} {
		if _, err := w.Pool.Exec(t.Context(), sql); refused(err) != notAllowed {
			t.Errorf("%s as the service: %v", sql, err)
		}
	}
	for _, sql := range []string{`UPDATE document_move SET note = ''`, `DELETE FROM document_move`, `TRUNCATE document_move`} {
		if _, err := w.admin.Exec(t.Context(), sql); refused(err) != notAllowed {
			t.Errorf("%s as the owner: %v", sql, err)
		}
	}
	if _, err := w.Pool.Exec(t.Context(), `UPDATE document SET held_at = now(), held_for = 'x', state = 'deleted'`); refused(err) != checkFailed {
		t.Errorf("a document that is held is deleted: %v", err)
	}
}

// The database allows the same changes of state as the code, and no others.
func TestTheDatabaseKnowsTheWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.upload(t, licence, honest())
	seq := 0
	for _, from := range document.States {
		for _, to := range document.States {
			seq++
			_, err := w.Pool.Exec(t.Context(), `INSERT INTO document_move (document_id, seq, at, from_state, to_state, actor_kind, reason, note)
				VALUES ($1, $2, now(), $3, $4, 'system', '', '')`, id, seq, from, to)
			want := checkFailed
			if slices.Contains(from.Next(), to) {
				want = ""
			}
			if refused(err) != want || (want == "" && err != nil) {
				t.Errorf("from %s to %s: %v", from, to, err)
			}
		}
	}
}
