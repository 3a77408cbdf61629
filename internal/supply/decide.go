package supply

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// ErrTooLate reports an import that its sender can no longer take back.
var ErrTooLate = fault.New(fault.IncompatibleState, "This import is over, or is being applied. Only the regulator can end one that is being applied.")

// Confirm lets a held import go on: staff has looked at it.
func (d *Desk) Confirm(ctx context.Context, uid uuid.UUID, by audit.Actor) (Import, error) {
	return d.decide(ctx, uid, by, audit.ImportConfirmed, ErrNotHeld, `UPDATE supply_import SET state = 'applying', reason = '', confirmed_at = $2, updated_at = $2, started_at = NULL, rows = 0,
		added = 0, changed = 0, unchanged = 0, ended = 0, duplicates = 0, no_effect = 0, ported_out = 0, refused = 0 WHERE uid = $1 AND state = 'held'`)
}

// Cancel ends an import that is not over. Rows that it has applied stay.
func (d *Desk) Cancel(ctx context.Context, uid uuid.UUID, by audit.Actor) (Import, error) {
	return d.decide(ctx, uid, by, audit.ImportCancelled, ErrImportOver, `UPDATE supply_import SET state = 'cancelled', finished_at = $2, updated_at = $2
		WHERE uid = $1 AND state IN ('checking', 'held', 'applying')`)
}

// Withdraw takes an import back of which nothing is applied yet: its sender may,
// and does not need the regulator for it.
func (d *Desk) Withdraw(ctx context.Context, uid uuid.UUID, by audit.Actor) (Import, error) {
	return d.decide(ctx, uid, by, audit.ImportCancelled, ErrTooLate, `UPDATE supply_import SET state = 'cancelled', finished_at = $2, updated_at = $2
		WHERE uid = $1 AND state IN ('checking', 'held')`)
}

// Mean notes that a held import is what its sender meant. It stays held: that is
// a word for the staff who decide, and no decision.
func (d *Desk) Mean(ctx context.Context, uid uuid.UUID, by audit.Actor) (Import, error) {
	return d.decide(ctx, uid, by, audit.ImportMeant, ErrNotHeld, `UPDATE supply_import SET updated_at = $2 WHERE uid = $1 AND state = 'held'`)
}

func (d *Desk) decide(ctx context.Context, uid uuid.UUID, by audit.Actor, action audit.Action, otherwise error, statement string) (Import, error) {
	now := d.now()
	err := d.inTx(ctx, func(tx pg.Tx) error {
		done, err := tx.Exec(ctx, statement, uid, now)
		if err != nil {
			return fmt.Errorf("supply: decide about an import: %w", err)
		}
		if done.RowsAffected() == 0 {
			if _, err := d.Import(ctx, uid); err != nil {
				return err
			}
			return otherwise
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by, Action: action, Subject: uid})
	})
	if err != nil {
		return Import{}, err
	}
	return d.Import(ctx, uid)
}
