package publiclog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The check finds every single change of the tables. The serving role can make only the
// last two.
func TestCheckFindsEveryChange(t *testing.T) {
	t.Parallel()
	for what, planted := range map[string]struct{ sql, found string }{
		"an entry altered":         {`UPDATE log_entry SET entry = set_byte(entry, 60, get_byte(entry, 60) # 1) WHERE idx = 5`, "batch 4 of epoch 1 is in the log"},
		"a key altered":            {`UPDATE log_entry SET n = 40 WHERE idx = 5`, "entry 5 is not what its columns say"},
		"a kind altered":           {`UPDATE log_entry SET kind = 2, epoch = NULL, n = NULL WHERE idx = 5`, "entry 5 is not what its columns say"},
		"an entry deleted":         {`DELETE FROM log_entry WHERE idx = 5`, "entry 6 follows entry 4"},
		"the last entry deleted":   {`DELETE FROM log_entry WHERE idx = 9`, "the head says 10"},
		"two entries exchanged":    {`UPDATE log_entry SET idx = CASE idx WHEN 5 THEN 106 ELSE 5 END WHERE idx IN (5, 6); UPDATE log_entry SET idx = 6 WHERE idx = 106`, "has another root than its entries"},
		"an entry doubled":         {`INSERT INTO log_entry SELECT 6, at + interval '1 ms', kind, epoch, n, entry FROM log_entry WHERE idx = 6`, "entry 6 follows entry 6"},
		"a checkpoint altered":     {`UPDATE log_checkpoint SET root = sha256('x') WHERE size = 7`, "the checkpoint of size 7 has another root"},
		"the head altered":         {`UPDATE log_head SET root = sha256('x')`, "the head has another root"},
		"what continues the head":  {`UPDATE log_head SET edge = sha256('x') || substr(edge, 33)`, "the head can't be continued"},
		"a checkpoint invented":    {`INSERT INTO log_checkpoint VALUES (12, sha256('x'), now())`, "there is a checkpoint of size 12"},
		"its beginning":            {`UPDATE log_head SET began = now() + interval '2 minutes'; INSERT INTO journal_batch (node, epoch, n, at, count, root) VALUES ('a', 1, 99, date_trunc('milliseconds', now() - interval '2 minutes'), 1, sha256('x'))`, "the log began"},
		"a batch logged twice":     {`ALTER TABLE log_entry DROP CONSTRAINT log_entry_epoch_n_at_key; INSERT INTO log_entry SELECT 10, at, kind, epoch, n, entry FROM log_entry WHERE idx = 9; UPDATE log_head SET size = 11`, "batch 8 of epoch 1 is in the log twice"},
		"the newest checkpoint":    {`DELETE FROM log_checkpoint WHERE size = 10`, "no checkpoint of size 10"},
		"a batch deleted":          {`DELETE FROM journal_batch WHERE n = 4`, "batch 4 of epoch 1 is in the log"},
		"the root of a batch":      {`UPDATE journal_batch SET root = sha256('x') WHERE n = 4`, "batch 4 of epoch 1 is in the log"},
		"the count of a batch":     {`UPDATE journal_batch SET count = 2 WHERE n = 4`, "batch 4 of epoch 1 is in the log"},
		"a batch that was skipped": {`UPDATE log_head SET began = began - interval '1 hour'; INSERT INTO journal_batch (node, epoch, n, at, count, root) VALUES ('a', 1, 99, date_trunc('milliseconds', now() - interval '2 minutes'), 1, sha256('x'))`, "batch 99 of epoch 1 is in the journal"},
		"an entry without a batch": {`INSERT INTO log_entry SELECT 10, at, kind, epoch, 77, entry FROM log_entry WHERE idx = 9; UPDATE log_head SET size = 11`, "entry 10 is not what its columns say"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			pool, owner := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, "")
			l := openLog(t, pool)
			for n := range int64(9) {
				if err := addBatch(t.Context(), pool, 1, n); err != nil {
					t.Fatal(err)
				}
				if n%3 == 2 {
					tick(t, l, 3)
				}
			}
			wantNothingFound(t, pool)
			if _, err := owner.Exec(t.Context(), planted.sql); err != nil {
				t.Fatal(err)
			}
			r, err := publiclog.Check(t.Context(), pool, nil)
			if err != nil || !strings.Contains(strings.Join(r.Found, "\n"), planted.found) {
				t.Errorf("it found %q, %v; want %q", r.Found, err, planted.found)
			}
		})
	}
}

// Without a log there is nothing to check, and the error says how to turn it on.
func TestCheckWithoutALogSaysSo(t *testing.T) {
	t.Parallel()
	if _, err := publiclog.Check(t.Context(), pgtest.New(t), nil); !errors.Is(err, publiclog.ErrOff) {
		t.Errorf("got %v", err)
	}
}
