package tampering_test

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// honestWork is what a service does in a moment, some of it each time: answers, with a
// process that ends or is killed, a version of the policy, a file of an operator, and
// checkpoints.
func (a *attack) honestWork(owner, super *pgxpool.Pool) error {
	l := &publiclog.Log{Pool: owner, Origin: origin}
	for range a.rng.IntN(3) {
		j, err := journal.Open(a.ctx, owner, "node", 1)
		if err != nil {
			return err
		}
		for range a.rng.IntN(4) {
			batch := make([]record.Entry, 1+a.rng.IntN(5))
			at := time.Now().UTC().Truncate(time.Millisecond)
			for i := range batch {
				batch[i] = newRecord(a.rng, at)
			}
			if err := j.Record(a.ctx, func(pg.DB) ([]record.Entry, error) { return batch, nil }); err != nil {
				return err
			}
		}
		if a.flip() {
			if err := j.Close(a.ctx); err != nil {
				return err
			}
		}
		for _, sql := range []string{
			`INSERT INTO policy SELECT (jsonb_populate_record(p, jsonb_build_object('version', p.version + 1, 'id', gen_random_uuid()))).* FROM policy p ORDER BY p.version DESC LIMIT 1`,
			`INSERT INTO supply_import (uid, network, supplier, kind, dry_run, source, state, rows, created_at, updated_at) VALUES (gen_random_uuid(), 7, 1, 'events', false, 'api', 'applying', 1, now(), now());
			UPDATE supply_import SET state = 'applied', supplier_name = 'Seven' WHERE state = 'applying'`,
			`INSERT INTO audit (id, at, actor_kind, action, subject_id) VALUES (gen_random_uuid(), now(), 'operator', 'policy.set', gen_random_uuid())`,
		} {
			if a.flip() {
				if _, err := super.Exec(a.ctx, sql); err != nil {
					return err
				}
			}
		}
		if err := a.publish(a.ctx, owner, l); err != nil {
			return err
		}
	}
	return nil
}
