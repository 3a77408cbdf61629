package cli

import (
	"context"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

func (a *app) entityCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "entity",
		Short: "Create, list, suspend, revoke and restore entities",
		Long: `An entity is an organisation that the regulator has approved. A relying party, such as a bank, verifies numbers with its
API keys; create it here. Telcos are onboarded over the API instead.`,
		Example: "  lineproof entity create --name 'Harbour Bank' --cac RC123456",
	}, a.entityCreateCommand(), a.entityListCommand(), a.entityShowCommand(),
		a.entitySuspendCommand(), a.entityRevokeCommand(), a.entityRestoreCommand())
}

func (a *app) entityCreateCommand() *cobra.Command {
	var name, cac string
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Create a relying party and print its entityUid",
		Long:    "Creates a relying party, such as a bank, and prints its entityUid. Create an API key for it with: lineproof key create",
		Example: "  lineproof entity create --name 'Harbour Bank' --cac RC123456",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the organisation")
	cmd.Flags().StringVar(&cac, "cac", "", "number in the companies register")
	console.Require(cmd, "name", "cac")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		e, err := b.Registry.CreateRelyingParty(cmd.Context(), name, cac, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		return a.Print(*asJSON, map[string]string{"entityUid": e.ID.String()}, []string{e.ID.String()})
	})
	return cmd
}

// entityJSON is an entity as printed with --json.
type entityJSON struct {
	ID        string `json:"entityUid"`
	Name      string `json:"name"`
	CAC       string `json:"cac"`
	Status    string `json:"status"`
	Since     string `json:"statusSince,omitempty"`
	Reason    string `json:"statusReason,omitempty"`
	Client    string `json:"clientId,omitempty"`
	Supplies  bool   `json:"supplies"`
	Asks      bool   `json:"asks"`
	Keys      int64  `json:"keys"`
	Accounts  int64  `json:"accounts"`
	CreatedAt string `json:"createdAt"`
}

func newEntityJSON(s *registry.EntityDetails, keys map[uuid.UUID]int64) entityJSON {
	return entityJSON{
		ID: s.ID.String(), Name: s.Name, CAC: s.CAC, Status: string(s.Status), Since: console.FormatTime(s.Since), Reason: s.Reason,
		Client: console.FormatID(s.Client), Supplies: s.Supplies, Asks: s.Verifies, Keys: keys[s.ID], Accounts: s.Accounts, CreatedAt: console.FormatTime(s.CreatedAt),
	}
}

func (a *app) entityListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List entities, newest first",
		Long:    "Lists entities with their status, since when they have it, and the number of their active keys and accounts.",
		Example: "  lineproof entity list --status Suspended",
		Args:    cobra.NoArgs,
	}
	statuses := []string{string(registry.Approved), string(registry.Suspended), string(registry.Revoked)}
	status := cmd.Flags().String("status", "", "only entities with this status: Approved, Suspended or Revoked")
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	console.Complete(cmd, "status", statuses...)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		entities, err := b.Registry.Entities(cmd.Context(), registry.Status(*status), *limit)
		if err != nil {
			return err
		}
		keys, err := b.Access.CountActiveKeys(cmd.Context(), registry.IDs(entities)...)
		if err != nil {
			return err
		}
		describe := func(s *registry.EntityDetails) entityJSON { return newEntityJSON(s, keys) }
		return console.List(a.Console, *asJSON, entities, describe,
			"ENTITY UID, NAME, CAC, STATUS, SINCE, KEYS, ACCOUNTS", func(e *entityJSON) []any {
				return []any{e.ID, e.Name, e.CAC, e.Status, e.Since, e.Keys, e.Accounts}
			})
	})
	return cmd
}

func (a *app) entityShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ENTITYUID",
		Short:   "Show one entity",
		Long:    "Shows one entity: its status, since when and why, and the number of its keys and accounts.",
		Example: "  lineproof entity show 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.ExactArgs(1),
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.On(a.Console, "ENTITYUID", func(ctx context.Context, b *backend.Backend, id uuid.UUID) error {
		s, err := b.Registry.Entity(ctx, id)
		if err != nil {
			return err
		}
		keys, err := b.Access.CountActiveKeys(ctx, id)
		if err != nil {
			return err
		}
		e := newEntityJSON(&s, keys)
		return a.Print(*asJSON, e,
			[]string{"entity uid", e.ID}, []string{"name", e.Name}, []string{"cac", e.CAC}, []string{"status", e.Status},
			[]string{"since", e.Since}, []string{"reason", e.Reason}, []string{"client", e.Client},
			[]string{"supplies", strconv.FormatBool(e.Supplies)}, []string{"verifies", strconv.FormatBool(e.Asks)},
			[]string{"keys", strconv.FormatInt(e.Keys, 10)}, []string{"accounts", strconv.FormatInt(e.Accounts, 10)}, []string{"created", e.CreatedAt})
	})
	return cmd
}
