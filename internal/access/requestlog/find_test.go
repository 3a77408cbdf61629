package requestlog_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/requestlog"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// What is rare among many refused requests, or is not there at all, is found without
// reading the others: an error, a key, and an error of a key that has only others.
func TestRareRefusalsAreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	ctx, pool, bank, busy, quiet := t.Context(), pgtest.Open(t, pgtest.URL(t), ""), uuid.New(), uuid.New(), uuid.New()
	if _, err := requestlog.MakePartitions(ctx, pool); err != nil {
		t.Fatal(err)
	}
	plant := func(key uuid.UUID, code fault.Code, count int) {
		t.Helper()
		_, err := pool.Exec(ctx, `INSERT INTO refused_request (at, id, entity_id, key_id, mode, route, status, code, violations, correlator, skipped)
			SELECT now() - i * interval '1 millisecond', gen_random_uuid(), $1, $2, 'live', 'POST /verify', 429, $3, '{}', '', 0 FROM generate_series(1, $4::integer) i`, bank, key, code, count)
		if err != nil {
			t.Fatal(err)
		}
	}
	plant(busy, fault.TooManyRequests, 20_000)
	plant(quiet, fault.QuotaExceeded, 1)
	if _, err := pool.Exec(ctx, `ANALYZE refused_request`); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		f    requestlog.Filter
		want int
	}{
		"all":                         {requestlog.Filter{}, 50},
		"a frequent error":            {requestlog.Filter{Codes: []fault.Code{fault.TooManyRequests}}, 50},
		"a rare error":                {requestlog.Filter{Codes: []fault.Code{fault.QuotaExceeded}}, 1},
		"an error that is not there":  {requestlog.Filter{Codes: []fault.Code{fault.NotFound}}, 0},
		"a busy key":                  {requestlog.Filter{Key: busy}, 50},
		"a quiet key":                 {requestlog.Filter{Key: quiet}, 1},
		"another error of a key":      {requestlog.Filter{Key: busy, Codes: []fault.Code{fault.QuotaExceeded}}, 0},
		"a frequent error, quiet key": {requestlog.Filter{Key: quiet, Codes: []fault.Code{fault.TooManyRequests}}, 0},
		"no error":                    {requestlog.Filter{Codes: []fault.Code{}}, 0},
	} {
		c.f.Entity, c.f.Limit = bank, 50
		err := pg.InTx(ctx, pool, func(tx pg.Tx) error {
			before := rowsRead(t, tx)
			found, err := requestlog.Find(ctx, tx, peppers(t, "a pepper for tests, thirty-two bytes long"), time.Now(), c.f)
			if err != nil {
				return err
			}
			if read := rowsRead(t, tx) - before; len(found) != c.want || read > 200 {
				t.Errorf("%s: %d found, want %d; %d rows were read", name, len(found), c.want, read)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// rowsRead returns how many rows of the table this session has read, found or not.
func rowsRead(t *testing.T, tx pg.Tx) (rows int) {
	t.Helper()
	err := tx.QueryRow(t.Context(), `SELECT coalesce(sum(coalesce(idx_tup_fetch, 0) + seq_tup_read), 0) FROM pg_stat_xact_user_tables WHERE relname LIKE 'refused_request%'`).Scan(&rows)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
