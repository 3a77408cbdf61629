package cli

import (
	"cmp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
)

func (a *app) mandateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mandate",
		Short: "Record for whom an agent may verify numbers",
		Long: `An agent verifies numbers on behalf of others, its principals. It names the principal in the field onBehalfOf of its requests,
and needs a mandate that the regulator has recorded.`,
		Example: "  lineproof mandate list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	cmd.AddCommand(a.mandateAddCommand(), a.mandateListCommand(), a.mandateEndCommand())
	return cmd
}

func (a *app) mandateAddCommand() *cobra.Command {
	var form access.MandateForm
	var entity, until string
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Record a mandate of an agent and print its id",
		Long: `Records that an agent may verify numbers on behalf of a principal, with keys of the given purposes, until a time. Every node
knows it within five seconds. The agent must write the principal in onBehalfOf exactly as it is written here.`,
		Example: `  lineproof mandate add --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --principal 'Harbour Bank' --until 2028-01-01 \
    --document 'letter of 3 November 2026, file 114/26'
  lineproof mandate add --entity "$AGENT" --principal 'Harbour Bank' --purpose payment,credit --until 2028-01-01 --document 'file 114/26'`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&entity, "entity", "", "entityUid of the agent")
	flags.StringVar(&form.Principal, "principal", "", "for whom the agent asks, as its requests name it")
	flags.StringSliceVar(&form.Purposes, "purpose", nil, "purpose of the keys with which it may ask, a code of the policy; may be repeated (default: all)")
	flags.StringVar(&until, "until", "", "when the mandate ends, such as 2028-01-01 (its start, in UTC) or 2027-12-31T18:00:00+01:00")
	flags.StringVar(&form.Document, "document", "", "where the mandate is written down, such as the reference of a letter")
	console.Require(cmd, "entity", "principal", "until", "document")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) (err error) {
		if form.Entity, err = console.ParseID("--entity", entity); err != nil {
			return err
		}
		if form.Until, err = console.ParseTime("until", until); err != nil {
			return err
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		id, err := b.Access.AddMandate(cmd.Context(), form, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		return a.Print(*asJSON, map[string]string{"mandateId": id.String()}, []string{id.String()})
	})
	return cmd
}

// mandateJSON is a mandate as printed with --json.
type mandateJSON struct {
	ID        string   `json:"mandateId"`
	EntityUID string   `json:"entityUid"`
	Entity    string   `json:"entity"`
	Principal string   `json:"principal"`
	Purposes  []string `json:"purposes"`
	Until     string   `json:"until"`
	Document  string   `json:"document"`
	CreatedAt string   `json:"createdAt"`
	CreatedBy string   `json:"createdBy,omitempty"`
	EndedAt   string   `json:"endedAt,omitempty"`
	EndedBy   string   `json:"endedBy,omitempty"`
}

func (a *app) mandateListCommand() *cobra.Command {
	var entity string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List mandates, oldest first",
		Long:    "Lists the mandates of one or all agents, including those that have ended.",
		Example: "  lineproof mandate list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&entity, "entity", "", "entityUid of the agent (default: all)")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		id, err := console.ParseOptionalID("--entity", entity)
		if err != nil {
			return err
		}
		mandates, err := b.Access.Mandates(cmd.Context(), id)
		if err != nil {
			return err
		}
		list := make([]mandateJSON, 0, len(mandates))
		rows := [][]string{{"MANDATE ID", "AGENT", "PRINCIPAL", "PURPOSES", "STATUS", "DOCUMENT"}}
		for i := range mandates {
			m := &mandates[i]
			list = append(list, mandateJSON{
				ID: m.ID.String(), EntityUID: m.EntityID.String(), Entity: m.Entity, Principal: m.Principal, Purposes: m.Purposes, Until: console.FormatTime(m.Until),
				Document: m.Document, CreatedAt: console.FormatTime(m.CreatedAt), CreatedBy: console.FormatID(m.CreatedBy), EndedAt: console.FormatTime(m.EndedAt), EndedBy: console.FormatID(m.EndedBy),
			})
			rows = append(rows, []string{m.ID.String(), m.Entity, m.Principal, cmp.Or(strings.Join(m.Purposes, ", "), "all"), mandateStatus(m, time.Now()), m.Document})
		}
		return a.Print(*asJSON, list, rows...)
	})
	return cmd
}

func mandateStatus(m *access.Mandate, now time.Time) string {
	switch {
	case !m.EndedAt.IsZero():
		return "ended"
	case !m.Active(now):
		return "expired"
	}
	return "until " + console.FormatTime(m.Until)
}

func (a *app) mandateEndCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "end ID",
		Short:   "End a mandate permanently",
		Long:    "Ends a mandate: within five seconds every node refuses requests that need it. This cannot be undone; record a new mandate instead.",
		Example: "  lineproof mandate end 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    exactIDs("ID"),
		RunE: backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
			id, err := console.ParseID("ID", args[0])
			if err != nil {
				return err
			}
			if err := b.Access.EndMandate(cmd.Context(), id, access.Operator, uuid.Nil); err != nil {
				return err
			}
			a.Note("The mandate %s has ended.", id)
			return nil
		}),
	}
}
