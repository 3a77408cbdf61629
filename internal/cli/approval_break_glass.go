package cli

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

func (a *app) approvalBreakGlassCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "break-glass ID",
		Short: "Announce that you will confirm your own request in 24 hours",
		Long: `For a change that cannot wait until there is a second person. All staff get an e-mail, and everybody who could confirm the
request can refuse it. After 24 hours you can confirm it yourself with: lineproof approval confirm

There is no break-glass for orders about numbers, for voiding a snapshot, a release from the guard, the policy, and the
erasure of records.`,
		Example: "  lineproof approval break-glass 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'Both colleagues are unreachable until Monday'",
		Args:    cobra.ExactArgs(1),
	}
	reason := cmd.Flags().String("reason", "", "why it cannot wait for a second person; it is recorded")
	session := sessionFlag(cmd)
	console.Require(cmd, "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.runAsActor("ID", session, func(ctx context.Context, b *backend.Backend, id uuid.UUID, by audit.Actor) error {
		q, err := approvals(b).BreakGlass(ctx, id, *reason, by, uuid.Nil)
		if err != nil {
			return err
		}
		s := newApprovalJSON(q)
		a.Note("All staff are notified. If nobody refuses it, you can confirm it from %s on.", s.AloneFrom)
		return a.Print(*asJSON, s, []string{s.ID, s.Kind, s.State, s.AloneFrom})
	})
	return cmd
}
