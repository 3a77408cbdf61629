package cli

import (
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/registry"
)

func (a *app) entityCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "entity",
		Short: "Make, list, suspend, revoke and restore entities",
		Long: `An entity is an organisation that the regulator has let in. One that asks, such as a bank, holds the API keys with
which numbers are verified and is made here. Telcos come in over the API instead.`,
		Example: "  lineproof entity create --name 'Harbour Bank' --cac RC123456",
	}
	cmd.AddCommand(a.entityCreateCommand(), a.entityListCommand(), a.entityShowCommand(),
		a.entitySuspendCommand(), a.entityRevokeCommand(), a.entityRestoreCommand())
	return cmd
}

func (a *app) entityCreateCommand() *cobra.Command {
	var name, cac string
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Make an organisation that asks and print its entityUid",
		Long:    "Makes an organisation that asks, such as a bank, and prints its entityUid. Give it a key with: lineproof key create",
		Example: "  lineproof entity create --name 'Harbour Bank' --cac RC123456",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&name, "name", "", "the organisation's name")
	cmd.Flags().StringVar(&cac, "cac", "", "its number in the companies register")
	required(cmd, "name", "cac")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		e, err := p.registry.CreateAsker(cmd.Context(), name, cac, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		return a.print(*asJSON, map[string]string{"entityUid": e.ID.String()}, []string{e.ID.String()})
	})
	return cmd
}

// listedEntity is an entity as programs read it.
type listedEntity struct {
	ID       string `json:"entityUid"`
	Name     string `json:"name"`
	CAC      string `json:"cac"`
	Status   string `json:"status"`
	Since    string `json:"statusSince,omitempty"`
	Reason   string `json:"statusReason,omitempty"`
	Client   string `json:"clientId,omitempty"`
	Supplies bool   `json:"supplies"`
	Asks     bool   `json:"asks"`
	Keys     int64  `json:"keys"`
	Accounts int64  `json:"accounts"`
	MadeAt   string `json:"createdAt"`
}

func shownEntity(s registry.Standing) listedEntity {
	return listedEntity{
		ID: s.ID.String(), Name: s.Name, CAC: s.CAC, Status: string(s.Status), Since: moment(s.Since), Reason: s.Reason,
		Client: orNothing(s.Client), Supplies: s.Supplies, Asks: s.Asks, Keys: s.Keys, Accounts: s.Accounts, MadeAt: moment(s.CreatedAt),
	}
}

// orNothing writes an id; nothing for the zero one.
func orNothing(id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return id.String()
}

func (a *app) entityListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List entities, newest first",
		Long:    "Lists entities with where they stand, since when, and how many keys and accounts of theirs are in force.",
		Example: "  lineproof entity list --status Suspended",
		Args:    cobra.NoArgs,
	}
	words := []string{string(registry.Approved), string(registry.Suspended), string(registry.Revoked)}
	status := cmd.Flags().String("status", "", "only those that are Approved, Suspended or Revoked")
	limit := cmd.Flags().Int("limit", 100, "how many")
	completes(cmd, "status", words...)
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		entities, err := p.registry.Entities(cmd.Context(), registry.Status(*status), *limit)
		if err != nil {
			return err
		}
		list := make([]listedEntity, 0, len(entities))
		rows := [][]string{{"ENTITY UID", "NAME", "CAC", "STATUS", "SINCE", "KEYS", "ACCOUNTS"}}
		for _, s := range entities {
			e := shownEntity(s)
			list = append(list, e)
			rows = append(rows, []string{e.ID, e.Name, e.CAC, e.Status, e.Since, strconv.FormatInt(e.Keys, 10), strconv.FormatInt(e.Accounts, 10)})
		}
		return a.print(*asJSON, list, rows...)
	})
	return cmd
}

func (a *app) entityShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ENTITYUID",
		Short:   "Show one entity",
		Long:    "Shows one entity: where it stands with the regulator, since when and why, and what it has.",
		Example: "  lineproof entity show 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.ExactArgs(1),
	}
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
		s, err := p.registry.Entity(cmd.Context(), id)
		if err != nil {
			return err
		}
		e := shownEntity(s)
		return a.print(*asJSON, e,
			[]string{"entity uid", e.ID}, []string{"name", e.Name}, []string{"cac", e.CAC}, []string{"status", e.Status},
			[]string{"since", e.Since}, []string{"reason", e.Reason}, []string{"client", e.Client},
			[]string{"supplies", strconv.FormatBool(e.Supplies)}, []string{"asks", strconv.FormatBool(e.Asks)},
			[]string{"keys", strconv.FormatInt(e.Keys, 10)}, []string{"accounts", strconv.FormatInt(e.Accounts, 10)}, []string{"made", e.MadeAt})
	})
	return cmd
}
