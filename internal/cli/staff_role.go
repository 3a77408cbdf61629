package cli

import (
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/pg"
)

func (a *app) staffRoleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "role ID",
		Short: "Give a member of staff another role",
		Long: `Asks that a member of staff gets another role. It takes effect when an administrator has confirmed it who is neither the
one who asks nor the one who gets it: lineproof approval confirm. While fewer than two administrators stand, the operator gives it at once.`,
		Example: "  lineproof staff role 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --role reviewer --reason 'Moves to the review team'",
		Args:    cobra.ExactArgs(1),
	}
	role := cmd.Flags().String("role", "", "administrator, reviewer or auditor")
	reason := cmd.Flags().String("reason", "", "why, in words; it is kept")
	session := sessionFlag(cmd)
	required(cmd, "role", "reason")
	completes(cmd, "role", "administrator", "reviewer", "auditor")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := parseID("ID", args[0])
		if err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		by, err := a.actor(cmd.Context(), p, *session)
		if err != nil {
			return err
		}
		var waits uuid.UUID
		err = pg.InTx(cmd.Context(), p.pool, func(tx pg.Tx) (err error) {
			waits, err = p.registry.GiveRole(cmd.Context(), tx, id, *role, *reason, by, uuid.Nil)
			return err
		})
		if err != nil {
			return err
		}
		if waits != uuid.Nil {
			a.note("It waits for a second person, as approval %s.", waits)
		}
		return a.print(*asJSON, map[string]string{"accountId": id.String(), "approvalId": orNothing(waits)}, []string{id.String(), orNothing(waits)})
	})
	return cmd
}
