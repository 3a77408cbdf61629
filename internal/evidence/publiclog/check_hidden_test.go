package publiclog_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// logOfLastWeek returns a log that has been on for a week, with ten batches of the day before
// yesterday, an hour from each other.
func logOfLastWeek(t *testing.T) (serve, owner *pgxpool.Pool, l *publiclog.Log) {
	t.Helper()
	url := pgtest.URL(t)
	serve, owner = pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, "")
	l = openLog(t, serve)
	_, err := owner.Exec(t.Context(), `UPDATE log_head SET began = now() - interval '7 days', since = now() - interval '7 days';
		SELECT journal_make_day(current_date - 2);
		INSERT INTO journal_batch (node, epoch, n, at, count, root) SELECT 'a', 1, i, (current_date - 2)::timestamp AT TIME ZONE 'UTC' + i * interval '1 hour', 3, sha256(int4send(i)) FROM generate_series(1, 10) i`)
	if err != nil {
		t.Fatal(err)
	}
	tick(t, l, 10)
	wantNothingFound(t, serve)
	return serve, owner, l
}

// wantFound checks the log, and wants a finding.
func wantFound(t *testing.T, pool *pgxpool.Pool, want string) {
	t.Helper()
	if r, err := publiclog.Check(t.Context(), pool, nil); err != nil || !strings.Contains(strings.Join(r.Found, "\n"), want) {
		t.Errorf("the check found %q, %v; want %q", r.Found, err, want)
	}
}

// A batch that is removed before its day is archived is found, although the archive agrees
// with the database and the log has an entry about it.
func TestBatchThatWasRemovedBeforeTheArchiveIsFound(t *testing.T) {
	t.Parallel()
	for _, removed := range []int{0, 4} {
		serve, owner, l := logOfLastWeek(t)
		var tree merkle.Tree
		batches := 0
		rows, err := owner.Query(t.Context(), `DELETE FROM journal_batch RETURNING n, root`)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var n int
			var root []byte
			if err := rows.Scan(&n, &root); err != nil {
				t.Fatal(err)
			}
			if n != removed {
				tree.Add(root)
				batches++
			}
		}
		root := tree.Root()
		_, err = owner.Exec(t.Context(), `INSERT INTO journal_archive (manifest, day, sha256, batches, entries, bytes, root, archived_at) VALUES (gen_random_uuid(), current_date - 2, sha256('manifest'), $1::bigint, 3 * $1::bigint, 1, $2, now())`, batches, root[:])
		if err != nil {
			t.Fatal(err)
		}
		tick(t, l, 1)
		if removed == 0 {
			wantNothingFound(t, serve)
		} else {
			wantFound(t, serve, "has other batches than the log: 27 answers, and the log has 30")
		}
	}
}

// A restore loses the end of the journal, and what is lost is counted. So a deletion can't be
// announced as a restore: neither of a batch in the middle, nor with fewer answers than are
// marked, nor in order to change what is marked.
func TestDeletionAnnouncedAsARestoreIsFound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body  logentry.Restore
		done  string
		found string // empty: it could be a restore
	}{
		{logentry.Restore{First: 9, After: 11, Answers: 6}, `DELETE FROM journal_batch WHERE n > 8`, ""},
		{logentry.Restore{First: 4, After: 5, Answers: 3}, `DELETE FROM journal_batch WHERE n = 4`, "batch 4 of epoch 1 is marked as lost in a restore, which has kept much later ones"},
		{logentry.Restore{First: 4, After: 11, Answers: 3}, `DELETE FROM journal_batch WHERE n >= 4`, "21 answers are marked as lost in restores, and the entries about them say 3"},
		{logentry.Restore{First: 9, After: 11, Answers: 60}, `DELETE FROM journal_batch WHERE n > 8`, "says that 60 answers are lost, and 6 are marked"},
		{logentry.Restore{First: 9, After: 11, Answers: 6}, `UPDATE journal_batch SET root = sha256('x') WHERE n = 10`, "batch 10 of epoch 1 is marked as lost in a restore, and the journal has another one"},
	} {
		serve, owner, l := logOfLastWeek(t)
		test.body.Reason = logentry.Restored
		_, body := logentry.EncodeBody(&test.body)
		if _, err := owner.Exec(t.Context(), `INSERT INTO log_pending (kind, body) VALUES (7, $1)`, body); err != nil {
			t.Fatal(err)
		}
		tick(t, l, 1)
		if _, err := owner.Exec(t.Context(), `UPDATE log_entry SET lost = true WHERE idx >= $1 AND idx < $2`, test.body.First, test.body.After); err != nil {
			t.Fatal(err)
		}
		if _, err := owner.Exec(t.Context(), test.done); err != nil {
			t.Fatal(err)
		}
		if test.found == "" {
			wantNothingFound(t, serve)
		} else {
			wantFound(t, serve, test.found)
		}
	}
}
