package cli

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/registry"
)

func (a *app) entitySuspendCommand() *cobra.Command {
	return a.entityMoveCommand(&cobra.Command{
		Use:   "suspend ENTITYUID",
		Short: "Stop an entity until it is restored",
		Long: `Stops an approved entity: within 5 seconds its keys and sessions open nothing on any node, and nobody of it can log in.
Nothing else of it is touched. With: lineproof entity restore, everything is back as it was.`,
		Example: "  lineproof entity suspend 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'No answer to our letter of 3 March'",
	}, (*registry.Registry).Suspend)
}

func (a *app) entityRevokeCommand() *cobra.Command {
	return a.entityMoveCommand(&cobra.Command{
		Use:   "revoke ENTITYUID",
		Short: "End an entity",
		Long: `Ends an entity, approved or suspended. It stops what a suspension stops, and as fast. That it comes back needs two
people; then, too, everything is back as it was.`,
		Example: "  lineproof entity revoke 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'Licence withdrawn'",
	}, (*registry.Registry).Revoke)
}

func (a *app) entityRestoreCommand() *cobra.Command {
	return a.entityMoveCommand(&cobra.Command{
		Use:   "restore ENTITYUID",
		Short: "Bring a suspended or revoked entity back",
		Long: `Brings an entity back, with the keys and sessions that it had. For a suspended one that is done at once. For a revoked
one it is asked for, and somebody else has to confirm it within a week: lineproof approval confirm`,
		Example: "  lineproof entity restore 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'The papers have come'",
	}, (*registry.Registry).Restore)
}

// movedEntity is what programs read after an entity was moved.
type movedEntity struct {
	ID     string `json:"entityUid"`
	Status string `json:"status"`
	Waits  string `json:"approvalId,omitempty"`
}

func (a *app) entityMoveCommand(cmd *cobra.Command,
	move func(*registry.Registry, context.Context, uuid.UUID, string, audit.Actor, uuid.UUID) (registry.Moved, error),
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	reason := cmd.Flags().String("reason", "", "why, in words; it is kept")
	session := sessionFlag(cmd)
	required(cmd, "reason")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := parseID("ENTITYUID", args[0])
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
		moved, err := move(p.registry, cmd.Context(), id, *reason, by, uuid.Nil)
		if err != nil {
			return err
		}
		if moved.Waits != uuid.Nil {
			a.note("It waits for a second person, as approval %s.", moved.Waits)
		}
		m := movedEntity{id.String(), string(moved.Entity.Status), orNothing(moved.Waits)}
		return a.print(*asJSON, m, []string{m.ID, m.Status, m.Waits})
	})
	return cmd
}
