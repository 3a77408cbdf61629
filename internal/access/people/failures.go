package people

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// takeFailuresSQL returns the failures that are not audited yet, by account; the zero id
// stands for all addresses without one. Another call returns only newer ones.
const takeFailuresSQL = `WITH counted AS (
		SELECT t.mac, t.account_id, t.failed FROM login_trouble t WHERE t.failed > 0 FOR UPDATE SKIP LOCKED
	), taken AS (
		UPDATE login_trouble t SET failed = 0 FROM counted c WHERE t.mac = c.mac
	)
	SELECT coalesce(c.account_id, '00000000-0000-0000-0000-000000000000')::uuid, coalesce(a.entity_id, '00000000-0000-0000-0000-000000000000')::uuid, sum(c.failed)::bigint
	FROM counted c LEFT JOIN account a ON a.id = c.account_id GROUP BY 1, 2 ORDER BY 1`

// RecordFailures writes the failed logins since the last call to the audit trail: one
// entry for each account, and one for all addresses without an account, whose subject
// is the zero id. What was typed is not recorded. A failed login only adds to a counter
// that it updates anyway, so that a flood of them does not fill the trail, and an
// address with an account takes as long as one without.
func (p *People) RecordFailures(ctx context.Context) error {
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		type failed struct {
			Account, Entity uuid.UUID
			Failures        int64
		}
		rows, err := pg.Collect(ctx, tx, pgx.RowToStructByPos[failed], takeFailuresSQL)
		if err != nil {
			return fmt.Errorf("people: take failed logins: %w", err)
		}
		for _, r := range rows {
			err := audit.Write(ctx, tx, audit.Entry{
				At: p.now(), Actor: audit.Actor{Kind: audit.System}, Action: audit.LoginFailed, Subject: r.Account, Entity: r.Entity,
				After: map[string]any{"failures": r.Failures},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
