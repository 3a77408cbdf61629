package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
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
		row, err := db.New(tx).LockEntity(ctx, id)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return ErrNoEntity
		case err != nil:
			return fmt.Errorf("registry: lock the entity: %w", err)
		case row.DocumentRequired == required:
			return ErrSameRequirement
		}
		if err := db.New(tx).SetDocumentRequired(ctx, db.SetDocumentRequiredParams{ID: id, Required: required}); err != nil {
			return fmt.Errorf("registry: require documents: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: r.now(), Actor: by, Action: audit.DocumentsRequired, Subject: id, Entity: id, Request: request,
			Before: map[string]any{"documentRequired": !required}, After: map[string]any{"documentRequired": required, "reason": reason},
		})
	})
}
