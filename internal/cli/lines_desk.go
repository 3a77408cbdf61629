package cli

import (
	"strconv"

	"github.com/spf13/cobra"
)

// shownHalf is half of a port, as programs read it.
type shownHalf struct {
	Event       int64  `json:"event"`
	PhoneNumber string `json:"phoneNumber"`
	Type        string `json:"type"`
	Network     string `json:"network"`
	Recipient   string `json:"recipient"`
	Holder      string `json:"holder,omitempty"`
	EffectiveAt string `json:"effectiveAt"`
	ToldAt      string `json:"toldAt"`
}

func (a *app) linesConflictsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "conflicts", Short: "List ports of which only one side has spoken", Args: cobra.NoArgs,
		Long: `Lists ports that one network claims or releases and the other does not confirm. They change nothing until it
does, or until the clearing house decides.`,
		Example: "  lineproof lines conflicts",
	}
	limit := cmd.Flags().Int("limit", 100, "how many")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		list, err := p.desk.Conflicts(cmd.Context(), *limit)
		if err != nil {
			return err
		}
		shown := make([]shownHalf, 0, len(list))
		rows := [][]string{{"EVENT", "NUMBER", "TYPE", "SAYS", "TO", "HOLDER", "EFFECTIVE"}}
		for _, h := range list {
			s := shownHalf{
				Event: h.Seq, PhoneNumber: h.Number.E164(), Type: h.Type, Network: h.Network, Recipient: h.Recipient, Holder: h.Holder,
				EffectiveAt: moment(h.EffectiveAt), ToldAt: moment(h.ToldAt),
			}
			shown = append(shown, s)
			rows = append(rows, []string{strconv.FormatInt(s.Event, 10), s.PhoneNumber, s.Type, s.Network, s.Recipient, s.Holder, s.EffectiveAt})
		}
		return a.print(*asJSON, shown, rows...)
	})
	return cmd
}

// shownOrder is an order of the regulator, as programs read it.
type shownOrder struct {
	ID          string `json:"orderId"`
	PhoneNumber string `json:"phoneNumber"`
	Action      string `json:"action"`
	State       string `json:"state"`
	Note        string `json:"note"`
	AskedAt     string `json:"askedAt"`
	ConfirmedAt string `json:"confirmedAt,omitempty"`
}

func (a *app) linesOrdersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "orders", Short: "List the regulator's orders, newest first", Args: cobra.NoArgs,
		Long: `Lists orders about numbers. A blacklisting is PENDING until a second client or staff account confirms it over
the API.`,
		Example: "  lineproof lines orders --pending",
	}
	pending := cmd.Flags().Bool("pending", false, "only those that wait for a second person")
	limit := cmd.Flags().Int("limit", 100, "how many")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		list, err := p.desk.Orders(cmd.Context(), *pending, *limit)
		if err != nil {
			return err
		}
		shown := make([]shownOrder, 0, len(list))
		rows := [][]string{{"ORDER", "NUMBER", "ACTION", "STATE", "ASKED", "NOTE"}}
		for _, o := range list {
			s := shownOrder{
				ID: o.ID.String(), PhoneNumber: o.Number.E164(), Action: o.Action, State: o.State, Note: o.Note,
				AskedAt: moment(o.AskedAt), ConfirmedAt: moment(o.ConfirmedAt),
			}
			shown = append(shown, s)
			rows = append(rows, []string{s.ID, s.PhoneNumber, s.Action, s.State, s.AskedAt, s.Note})
		}
		return a.print(*asJSON, shown, rows...)
	})
	return cmd
}
