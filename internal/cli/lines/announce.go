package lines

import (
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/regulator/approval"
)

func (c *commands) announceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "announce NETWORK", Short: "Announce a mass change of a network's lines", Args: cobra.ExactArgs(1),
		Long: `Requests that a mass change which the network has announced be not held: in a period of at most 31 days so many events
may end or move lines or give them to new holders. They do not use up the share of lines that the network may change
without an announcement. Events beyond it are held as before, and what is held already stays held.

It takes effect when a second person has confirmed it; while there are neither founders nor two administrators, at once.`,
		Example: "  lineproof lines announce MTN --lines 25000 --from 2026-11-20 --until 2026-11-27 --reason 'MTN switches off its 2G numbers, letter of 2 November'",
	}
	m := order.MassChange{By: access.Operator}
	cmd.Flags().Int64Var(&m.Lines, "lines", 0, "how many lines may change")
	console.TimeFlag(cmd, &m.From, "from", "start of the period: a time or a date")
	console.TimeFlag(cmd, &m.Until, "until", "end of the period: a time or a date")
	reason := reasonFlag(cmd)
	console.Require(cmd, "lines", "from", "until", "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		m.Network, m.Reason = args[0], *reason
		pending, err := (&order.Service{Supply: b.Supply}).Announce(cmd.Context(), m)
		if err == nil {
			err = approval.Waits(pending)
		}
		if err != nil {
			return err
		}
		return c.Print(*asJSON, map[string]string{"network": m.Network, "state": "announced"}, []string{"network", m.Network}, []string{"state", "announced"})
	})
	return cmd
}
