package lines

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
)

func (c *commands) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "check", Short: "Replay the events of every line and compare the result", Args: cobra.NoArgs,
		Long: `Rebuilds the row of every line from its baseline and its events, and compares it with the row that answers
verifications. The service may keep running. The exit code is 6 when a row differs.`,
		Example: "  lineproof lines check",
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		display := c.NewProgress(-1)
		found, err := linestore.Replay(cmd.Context(), b.Pool, func(progress linestore.ReplayReport) { display.Rows("checking", progress.Lines) })
		display.End()
		if err != nil {
			return err
		}
		count := func(n int64) string { return strconv.FormatInt(n, 10) }
		err = c.Print(*asJSON, map[string]int64{
			"lines": found.Lines, "replayed": found.Replayed, "events": found.Events, "wrong": found.MismatchCount, "stray": found.Orphaned,
		}, []string{"lines", count(found.Lines)}, []string{"replayed", count(found.Replayed)}, []string{"events", count(found.Events)},
			[]string{"wrong rows", count(found.MismatchCount)}, []string{"stray events", count(found.Orphaned)})
		if err != nil {
			return err
		}
		for _, n := range found.Mismatched {
			c.Note("The row of %s does not match its events.", n.Masked())
		}
		if !found.OK() {
			return console.ErrProblems
		}
		return nil
	})
	return cmd
}

// supplyJSON is the supply of one operator, as printed with --json.
type supplyJSON struct {
	Network         string  `json:"network"`
	Name            string  `json:"name"`
	KnownSince      string  `json:"knownSince,omitempty"`
	CompleteSince   string  `json:"completeSince,omitempty"`
	SuppliedThrough string  `json:"suppliedThrough,omitempty"`
	Silent          bool    `json:"silent"`
	Lines           int64   `json:"lines"`
	Share           float64 `json:"share"`
	Accepted        int64   `json:"accepted"`
	Late            int64   `json:"late"`
	Refused         int64   `json:"refused"`

	Topics []topicJSON `json:"topics"`
}

// topicJSON is the supply of one topic.
type topicJSON struct {
	Topic           string `json:"topic"`
	SuppliedThrough string `json:"suppliedThrough,omitempty"`
	Required        bool   `json:"required"`
	Fresh           bool   `json:"fresh"`
	Doubtful        bool   `json:"doubtful"`
}

func (c *commands) supplyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "supply", Short: "Show the supply of each operator", Args: cobra.NoArgs,
		Long: `Shows for each operator the time up to which it has supplied every required topic, since when its lines are known, which share of its
ranges has a line, and its events of the last 30 days: accepted, late and rejected.`,
		Example: "  lineproof lines supply",
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		list, err := b.Supply.NetworkStatuses(cmd.Context(), "", time.Now().AddDate(0, 0, -30))
		if err != nil {
			return err
		}
		return console.List(c.Console, *asJSON, list, newSupplyJSON,
			"NETWORK, SUPPLIED THROUGH, KNOWN SINCE, LINES, SHARE, EVENTS, LATE, REFUSED, ", func(s *supplyJSON) []any {
				silent := map[bool]string{true: "silent"}[s.Silent]
				return []any{s.Network, s.SuppliedThrough, s.KnownSince, s.Lines, fmt.Sprintf("%.1f %%", 100*s.Share), s.Accepted, s.Late, s.Refused, silent}
			})
	})
	return cmd
}

func newSupplyJSON(s *supply.NetworkStatus) supplyJSON {
	v := supplyJSON{
		Network: s.Network, Name: s.Name, KnownSince: console.FormatTime(s.KnownSince), CompleteSince: console.FormatTime(s.CompleteSince),
		SuppliedThrough: console.FormatTime(s.SuppliedThrough), Silent: s.Silent, Lines: s.Lines, Refused: s.Refused,
	}
	if s.Capacity > 0 {
		v.Share = float64(s.Lines) / float64(s.Capacity)
	}
	for _, t := range s.Topics {
		v.Topics = append(v.Topics, topicJSON{t.Topic.String(), console.FormatTime(t.Through), t.Required, t.Fresh, t.Doubtful})
	}
	for _, k := range s.Kinds {
		v.Accepted += k.Accepted
		v.Late += k.Late
	}
	return v
}
