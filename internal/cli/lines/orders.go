package lines

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
)

// conflictJSON is a port that only one network has reported, as printed with
// --json.
type conflictJSON struct {
	Event       int64  `json:"event"`
	PhoneNumber string `json:"phoneNumber"`
	Type        string `json:"type"`
	Network     string `json:"network"`
	Recipient   string `json:"recipient"`
	Holder      string `json:"holder,omitempty"`
	EffectiveAt string `json:"effectiveAt"`
	ToldAt      string `json:"toldAt"`
}

func (c *commands) conflictsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "conflicts", Short: "List ports that only one network has reported", Args: cobra.NoArgs,
		Long: `Lists ports that one network claims or releases and the other has not confirmed. They have no effect until it does, or
until the clearing house decides.`,
		Example: "  lineproof lines conflicts",
	}
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		list, err := b.Supply.Conflicts(cmd.Context(), *limit)
		if err != nil {
			return err
		}
		conflicts := make([]conflictJSON, 0, len(list))
		rows := [][]string{{"EVENT", "NUMBER", "TYPE", "REPORTED BY", "TO", "HOLDER", "EFFECTIVE"}}
		for _, h := range list {
			s := conflictJSON{
				Event: h.Seq, PhoneNumber: h.Number.E164(), Type: h.Type, Network: h.Network, Recipient: h.Recipient, Holder: h.Holder,
				EffectiveAt: console.FormatTime(h.EffectiveAt), ToldAt: console.FormatTime(h.ReportedAt),
			}
			conflicts = append(conflicts, s)
			rows = append(rows, []string{strconv.FormatInt(s.Event, 10), s.PhoneNumber, s.Type, s.Network, s.Recipient, s.Holder, s.EffectiveAt})
		}
		return c.Print(*asJSON, conflicts, rows...)
	})
	return cmd
}

// orderJSON is an order of the regulator, as printed with --json.
type orderJSON struct {
	ID          string `json:"orderId"`
	PhoneNumber string `json:"phoneNumber"`
	Action      string `json:"action"`
	State       string `json:"state"`
	Note        string `json:"note"`
	AskedAt     string `json:"askedAt"`
	ConfirmedAt string `json:"confirmedAt,omitempty"`
}

func (c *commands) ordersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "orders", Short: "List the regulator's orders, newest first", Args: cobra.NoArgs,
		Long: `Lists orders about numbers. A blacklisting is PENDING until a second client or staff account confirms it over the
API.`,
		Example: "  lineproof lines orders --pending",
	}
	pending := cmd.Flags().Bool("pending", false, "only orders that wait for a second person")
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		list, err := b.Supply.Orders(cmd.Context(), *pending, *limit)
		if err != nil {
			return err
		}
		orders := make([]orderJSON, 0, len(list))
		rows := [][]string{{"ORDER", "NUMBER", "ACTION", "STATE", "REQUESTED", "NOTE"}}
		for _, o := range list {
			s := orderJSON{
				ID: o.ID.String(), PhoneNumber: o.Number.E164(), Action: o.Action, State: o.State, Note: o.Note,
				AskedAt: console.FormatTime(o.RequestedAt), ConfirmedAt: console.FormatTime(o.ConfirmedAt),
			}
			orders = append(orders, s)
			rows = append(rows, []string{s.ID, s.PhoneNumber, s.Action, s.State, s.AskedAt, s.Note})
		}
		return c.Print(*asJSON, orders, rows...)
	})
	return cmd
}
