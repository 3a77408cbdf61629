package remote

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

func (r *remote) linesConflictsCommand() *cobra.Command {
	var q client.ConflictsQuery
	cmd := &cobra.Command{
		Use: "conflicts", Short: "List events that contradict each other or wait for the regulator", Args: cobra.NoArgs,
		Long: `Lists stored events that do not count: those that are held until staff confirm them, those that another party
contradicts, ports that only one network has reported, and events that have waited for a port for 30 days. For a held
event it shows which status the line would have if it were confirmed.

Decide with "lineproof api lines order", by the action CONFIRM or VOID. It needs the scope line:order, or a session of
staff.`,
		Example: `  lineproof api lines conflicts --held
  lineproof api lines conflicts --network MTN --json`,
	}
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	cmd.Flags().StringVar(&q.Network, "network", "", "only events that this network reported (its code)")
	cmd.Flags().BoolVar(&q.Held, "held", false, "only events that staff can confirm")
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, _ []string) error {
		all := []client.Conflict{}
		for len(all) < *limit {
			q.Limit = min(*limit-len(all), maxConflictPage)
			page, err := c.Conflicts(ctx, token, q)
			if err != nil {
				return err
			}
			all = append(all, page.Conflicts...)
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		return console.List(r.Console, *asJSON, all, console.AsIs,
			"EVENT, NUMBER, TYPE, REPORTED BY, EFFECTIVE, WHY, STATUS, IF CONFIRMED", func(o *client.Conflict) []any {
				return []any{o.Event, o.PhoneNumber, o.Type, cmp.Or(o.Network, o.Source), console.FormatTime(o.EffectiveAt), o.Reason, o.Status, o.IfConfirmed}
			})
	})
	return cmd
}

// maxConflictPage is the largest page that the service sends.
const maxConflictPage = 200
