package cli

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

func (a *app) staffRoleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "role ID",
		Short: "Change the role of a member of staff",
		Long: `Requests another role for a member of staff. It takes effect when an administrator confirms it with: lineproof approval confirm.
The administrator must be neither the requester nor the person who gets the role. While there are fewer than two active
administrators, the change by the operator takes effect immediately.`,
		Example: "  lineproof staff role 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --role reviewer --reason 'Moves to the review team'",
		Args:    cobra.ExactArgs(1),
	}
	role := cmd.Flags().String("role", "", "administrator, reviewer or auditor")
	reason := cmd.Flags().String("reason", "", "the reason, as free text; it is recorded")
	session := sessionFlag(cmd)
	console.Require(cmd, "role", "reason")
	console.Complete(cmd, "role", "administrator", "reviewer", "auditor")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.runAsActor("ID", session, func(ctx context.Context, b *backend.Backend, id uuid.UUID, by audit.Actor) error {
		var pending uuid.UUID
		err := pg.InTx(ctx, b.Pool, func(tx pg.Tx) (err error) {
			pending, err = b.Registry.GiveRole(ctx, tx, id, *role, *reason, by, uuid.Nil)
			return err
		})
		if err != nil {
			return err
		}
		err = a.Print(*asJSON, map[string]string{"accountId": id.String(), "approvalId": console.FormatID(pending)}, []string{id.String(), console.FormatID(pending)})
		return errors.Join(err, approval.Waits(pending))
	})
	return cmd
}
