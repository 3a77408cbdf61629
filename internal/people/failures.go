package people

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
)

// RecordFailures writes the failed logins since the last call to the audit trail: one
// entry for each account, and one for all addresses without an account, whose subject
// is the zero id. What was typed is not recorded. A failed login only adds to a counter
// that it updates anyway, so that a flood of them does not fill the trail, and an
// address with an account takes as long as one without.
func (p *People) RecordFailures(ctx context.Context) error {
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		rows, err := db.New(tx).TakeFailures(ctx)
		if err != nil {
			return fmt.Errorf("people: take failed logins: %w", err)
		}
		for _, r := range rows {
			err := audit.Write(ctx, tx, audit.Entry{
				At: p.now(), Actor: audit.Actor{Kind: audit.System}, Action: audit.LoginFailed, Subject: r.AccountID, Entity: r.EntityID,
				After: map[string]any{"failures": r.Failures},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
