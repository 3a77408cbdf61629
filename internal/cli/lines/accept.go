package lines

import (
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/regulator/approval"
)

func (c *commands) acceptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept-topic TOPIC", Short: "Believe a supplier's statements about a topic again", Args: cobra.ExactArgs(1),
		Long: `Requests that a topic count as fresh again: LIFECYCLE or SIM of a network, or PORT of the clearing house. A topic is
disbelieved when too many events took effect before the time up to which their supplier had stated that everything was
reported; without this command it is believed again after 30 days without such an event. False statements count from
the day after.

It takes effect when a second person has confirmed it; while there are neither founders nor two administrators, at once.`,
		Example: "  lineproof lines accept-topic SIM --network MTN --reason 'MTN has corrected its clock, letter of 2 November'",
	}
	a := order.Acceptance{By: access.Operator}
	cmd.Flags().StringVar(&a.Network, "network", "", "the network, by its code; not for PORT")
	reason := reasonFlag(cmd)
	console.Require(cmd, "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		a.Topic, a.Reason = args[0], *reason
		pending, err := (&order.Service{Supply: b.Supply}).Accept(cmd.Context(), a)
		if err == nil {
			err = approval.Waits(pending)
		}
		if err != nil {
			return err
		}
		return c.Print(*asJSON, map[string]string{"topic": a.Topic, "network": a.Network, "state": "accepted"}, []string{"topic", a.Topic}, []string{"state", "accepted"})
	})
	return cmd
}
