package e2e_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

// plantJobs makes files of numbers in every state, and a second page of finished ones.
func (g *browserData) plantJobs(t *testing.T) {
	t.Helper()
	key := must(g.keeper.CreateKey(t.Context(), access.KeyForm{Entity: g.bank.ID, Name: "files", Mode: "live", Purpose: "kyc", Rights: []string{"jobs"}}, access.Operator, uuid.Nil))(t)
	for i, j := range []struct {
		state, name, reason      string
		rows, answered, rejected int64
	}{
		{"waiting", "new customers", "", 0, 0, 0},
		{"checking", "customers of the north", "", 0, 0, 0},
		{"running", string([]rune(names["long"])[:100]), "", 5_000_000, 1_812_000, 344},
		{"writing", names["yoruba"], "", 120_000, 119_998, 2},
		{"done", "dormant accounts", "", 1_250_000, 1_249_873, 127},
		{"cancelled", names["arabic"], "", 80_000, 12_000, 0},
		{"failed", names["chinese"], "The file has more than 5000000 rows. Send it in parts.", 0, 0, 0},
	} {
		g.exec(t, `INSERT INTO file_job (id, entity_id, mode, key_id, name, state, reason, bytes, rows, place, answered, rejected, created_at, received_at, started_at, finished_at, result, kept_until)
			VALUES (gen_random_uuid(), $1, 'live', $2, $3, $4, $5, $6::bigint * 17, $6, $7::bigint + $8::bigint, $7, $8, now() - $9 * interval '7 minutes', CASE WHEN $4 <> 'waiting' THEN now() - $9 * interval '6 minutes' END,
				CASE WHEN $4 NOT IN ('waiting', 'checking') THEN now() - $9 * interval '5 minutes' END, CASE WHEN $4 IN ('done', 'cancelled', 'failed') THEN now() - interval '1 minute' END,
				CASE WHEN $4 = 'done' THEN gen_random_uuid() END, CASE WHEN $4 = 'done' THEN now() + interval '7 days' END)`,
			g.bank.ID, key.ID, j.name, j.state, j.reason, j.rows, j.answered, j.rejected, i+1)
	}
	for i, name := range []string{"all mobile customers", names["yoruba"]} {
		g.exec(t, `INSERT INTO file_job (id, entity_id, mode, key_id, name, state, bytes, rows, numbers, dense, block, steps, missed, created_at, received_at)
			VALUES (gen_random_uuid(), $1, 'live', $2, $3, 'held', 680000, 40000, 39998, $4, 10000, 12000, 7400, now() - interval '3 hours', now() - interval '3 hours')`,
			g.bank.ID, key.ID, name, 39_000-30_000*i)
	}
	g.exec(t, `INSERT INTO file_job (id, entity_id, mode, key_id, name, state, bytes, rows, place, answered, created_at, received_at, started_at, finished_at, kept_until)
		SELECT gen_random_uuid(), $1, 'live', $2, 'customers of week ' || i, 'done', 170000, 10000, 10000, 10000, now() - i * interval '7 days', now() - i * interval '7 days', now() - i * interval '7 days',
			now() - i * interval '7 days' + interval '3 minutes', now() - i * interval '7 days' + interval '7 days' FROM generate_series(1, 120) i`, g.bank.ID, key.ID)
}

// plantWatch makes watch-lists that wait for staff, and notices about past answers.
func (g *browserData) plantWatch(t *testing.T) {
	t.Helper()
	for i, name := range []string{"customers", names["yoruba"], string([]rune(names["solid"])[:100])} {
		g.exec(t, `INSERT INTO watch_list (id, entity_id, mode, name, state, members, sampled, missing, uncovered, created_at, changed_at)
			VALUES (gen_random_uuid(), $1, 'live', $2, 'held', $3, $4, $5, $6, now() - interval '2 days', now() - interval '3 hours')`,
			g.entities[i], name, 1_000_000*(i+1), 10_000*(i+1), []int{5_312, 40, 2_999}[i], []int{12, 9_400, 3_100}[i])
	}
	g.exec(t, `INSERT INTO impact_notice (request_id, events, entity_id, event_id, told_at, acknowledged_at)
		SELECT gen_random_uuid(), 1, CASE WHEN i % 3 = 0 THEN $1::uuid ELSE $2::uuid END, '1-' || i, now() - (i / 40) * interval '5 hours', CASE WHEN i % 5 > 0 THEN now() END FROM generate_series(1, 1200) i`,
		g.bank.ID, g.entities[1])
}
