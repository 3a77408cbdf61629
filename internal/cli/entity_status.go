package cli

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

func (a *app) entitySuspendCommand() *cobra.Command {
	return a.entityChangeCommand(&cobra.Command{
		Use:   "suspend ENTITYUID",
		Short: "Suspend an entity until it is restored",
		Long: `Suspends an approved entity: within 5 seconds every node refuses its keys and sessions, and its users cannot log in.
Nothing else is changed. To undo it, run: lineproof entity restore`,
		Example: "  lineproof entity suspend 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'No reply to our request of 3 March'",
	}, (*registry.Registry).Suspend)
}

func (a *app) entityRevokeCommand() *cobra.Command {
	return a.entityChangeCommand(&cobra.Command{
		Use:   "revoke ENTITYUID",
		Short: "Revoke an entity",
		Long: `Revokes an approved or suspended entity. It has the same effect as a suspension, and as fast. Restoring a revoked entity
needs two people; its keys and sessions then work again.`,
		Example: "  lineproof entity revoke 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'Licence withdrawn'",
	}, (*registry.Registry).Revoke)
}

func (a *app) entityRestoreCommand() *cobra.Command {
	return a.entityChangeCommand(&cobra.Command{
		Use:   "restore ENTITYUID",
		Short: "Restore a suspended or revoked entity",
		Long: `Restores an entity with the keys and sessions that it had. A suspended entity is restored immediately. For a revoked
entity a second person has to confirm it within a week, with: lineproof approval confirm`,
		Example: "  lineproof entity restore 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'The documents have arrived'",
	}, (*registry.Registry).Restore)
}

// entityChangeJSON is the result of a change of status, as printed with --json.
type entityChangeJSON struct {
	ID       string `json:"entityUid"`
	Status   string `json:"status"`
	Approval string `json:"approvalId,omitempty"`
}

func (a *app) entityChangeCommand(cmd *cobra.Command,
	change func(*registry.Registry, context.Context, uuid.UUID, string, audit.Actor, uuid.UUID) (registry.StatusChange, error),
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	reason := cmd.Flags().String("reason", "", "the reason, as free text; it is recorded")
	session := sessionFlag(cmd)
	console.Require(cmd, "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.runAsActor("ENTITYUID", session, func(ctx context.Context, b *backend.Backend, id uuid.UUID, by audit.Actor) error {
		changed, err := change(b.Registry, ctx, id, *reason, by, uuid.Nil)
		if err != nil {
			return err
		}
		m := entityChangeJSON{id.String(), string(changed.Entity.Status), console.FormatID(changed.Pending)}
		return errors.Join(a.Print(*asJSON, m, []string{m.ID, m.Status, m.Approval}), approval.Waits(changed.Pending))
	})
	return cmd
}
