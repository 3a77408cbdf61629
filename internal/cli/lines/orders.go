package lines

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// openJSON is an event that does not count or is in conflict, as printed with --json.
type openJSON struct {
	Event       int64  `json:"event"`
	PhoneNumber string `json:"phoneNumber"`
	Type        string `json:"type"`
	Source      string `json:"source"`
	Network     string `json:"network,omitempty"`
	Recipient   string `json:"recipient,omitempty"`
	Holder      string `json:"holder,omitempty"`
	EffectiveAt string `json:"effectiveAt"`
	ReportedAt  string `json:"reportedAt"`
	Outcome     string `json:"outcome"`
	Reason      string `json:"reason"`
	Message     string `json:"message"`
	Status      string `json:"status"`
	IfConfirmed string `json:"ifConfirmed,omitempty"`
}

func (c *commands) conflictsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "conflicts", Short: "List events that contradict each other or wait for the regulator", Args: cobra.NoArgs,
		Long: `Lists stored events that do not count: those that are held until staff confirm them, those that another party
contradicts, ports that only one network has reported, and events that have waited for a port for 30 days. For a held
event it shows which status the line would have if it were confirmed.

Decide with "lineproof api lines order", by the action CONFIRM or VOID.`,
		Example: "  lineproof lines conflicts --held\n  lineproof lines conflicts --network MTN --json",
	}
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	network := cmd.Flags().String("network", "", "only events that this network reported (its code)")
	held := cmd.Flags().Bool("held", false, "only events that staff can confirm")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		list, err := b.Supply.OpenEvents(cmd.Context(), supply.OpenQuery{Network: *network, Held: *held, Limit: *limit + 1})
		if err != nil {
			return err
		}
		if len(list) > *limit {
			list = list[:*limit]
			c.Note("There are more than %d; list more with --limit.", *limit)
		}
		return console.List(c.Console, *asJSON, list, openOf,
			"EVENT, NUMBER, TYPE, REPORTED BY, EFFECTIVE, WHY, STATUS, IF CONFIRMED", func(o *openJSON) []any {
				return []any{o.Event, o.PhoneNumber, o.Type, cmp.Or(o.Network, o.Source), o.EffectiveAt, o.Reason, o.Status, o.IfConfirmed}
			})
	})
	return cmd
}

func openOf(o *supply.OpenEvent) openJSON {
	return openJSON{
		Event: o.Seq, PhoneNumber: o.Number.E164(), Type: o.Type, Source: o.Source, Network: o.Network, Recipient: o.Recipient, Holder: o.Holder,
		EffectiveAt: console.FormatTime(o.EffectiveAt), ReportedAt: console.FormatTime(o.ReportedAt), Outcome: o.Outcome, Reason: o.Reason,
		Message: o.Message, Status: string(o.Status), IfConfirmed: string(o.IfConfirmed),
	}
}

// orderJSON is an order of the regulator, as printed with --json.
type orderJSON struct {
	ID          string `json:"orderId"`
	PhoneNumber string `json:"phoneNumber"`
	Action      string `json:"action"`
	State       string `json:"state"`
	Note        string `json:"note"`
	AskedAt     string `json:"askedAt"`
	LapsesAt    string `json:"lapsesAt,omitempty"`
	ConfirmedAt string `json:"confirmedAt,omitempty"`
}

func (c *commands) ordersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "orders", Short: "List the regulator's orders, newest first", Args: cobra.NoArgs,
		Long: `Lists orders about numbers. One that takes two people is PENDING until a second client or staff account confirms it over the
API or in the portal. A bar is UNCONFIRMED until then: it acts, and ends after 72 hours if nobody confirms it.`,
		Example: "  lineproof lines orders --pending",
	}
	pending := cmd.Flags().Bool("pending", false, "only orders that a second person can confirm")
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		list, err := (&order.Service{Supply: b.Supply}).List(cmd.Context(), *pending, *limit)
		if err != nil {
			return err
		}
		return console.List(c.Console, *asJSON, list, newOrderJSON,
			"ORDER, NUMBER, ACTION, STATE, REQUESTED, NOTE", func(o *orderJSON) []any {
				return []any{o.ID, o.PhoneNumber, o.Action, o.State, o.AskedAt, o.Note}
			})
	})
	return cmd
}

func newOrderJSON(o *order.Order) orderJSON {
	s := orderJSON{
		ID: o.ID.String(), PhoneNumber: o.Number.E164(), Action: o.Action, State: o.State, Note: o.Note,
		AskedAt: console.FormatTime(o.RequestedAt), ConfirmedAt: console.FormatTime(o.ConfirmedAt),
	}
	if o.State == order.Unconfirmed || o.State == order.Lapsed {
		s.LapsesAt = console.FormatTime(o.LapsesAt)
	}
	return s
}
