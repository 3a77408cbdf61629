package registry

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrSameRequirement reports a change of what is so already.
var ErrSameRequirement = fault.New(fault.IncompatibleState, "This is so already. Open the organisation again.")

// RequireDocuments requires the documents that the settings list of an entity, or no
// longer requires them.
func (r *Registry) RequireDocuments(ctx context.Context, id uuid.UUID, required bool, reason string, by audit.Actor, request uuid.UUID) error {
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", reason)
	if err := wrong.Err(); err != nil {
		return err
	}
	return pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		if err := CheckAdministrator(ctx, tx, by); err != nil {
			return err
		}
		switch e, err := lockEntity(ctx, tx, id); {
		case err != nil:
			return err
		case e.DocumentRequired == required:
			return ErrSameRequirement
		}
		if _, err := tx.Exec(ctx, `UPDATE entity SET document_required = $2 WHERE id = $1`, id, required); err != nil {
			return fmt.Errorf("registry: require documents: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: r.now(), Actor: by, Action: audit.DocumentsRequired, Subject: id, Entity: id, Request: request,
			Before: map[string]any{"documentRequired": !required}, After: map[string]any{"documentRequired": required, "reason": reason},
		})
	})
}
