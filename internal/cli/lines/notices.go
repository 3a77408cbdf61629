package lines

import (
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/impact"
)

// noticesJSON is a row of the counts, as printed with --json.
type noticesJSON struct {
	Day          string    `json:"day"`
	Entity       uuid.UUID `json:"entityUid"`
	Name         string    `json:"name"`
	Told         int64     `json:"told"`
	Acknowledged int64     `json:"acknowledged"`
}

func (c *commands) noticesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "notices", Short: "Count the past answers that organisations were told of", Args: cobra.NoArgs,
		Long: `Counts, for each day and organisation, the past answers of which it was told that they would be different now, and how many
of these notices it has acknowledged. lineproof lines impact lists the answers.`,
		Example: "  lineproof lines notices --since 2026-11-01",
	}
	since := cmd.Flags().String("since", "", "told since this time (default: 30 days ago)")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = c.Run(func(cmd *cobra.Command, _ []string) error {
		from := time.Now().AddDate(0, 0, -30)
		if *since != "" {
			var err error
			if from, err = console.ParseTime("since", *since); err != nil {
				return err
			}
		}
		b, err := backend.Open(cmd.Context(), c.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		counts, err := (&impact.Notices{Pool: b.Pool, Now: time.Now}).Counts(cmd.Context(), from)
		if err != nil {
			return err
		}
		if len(counts) == 0 && !*asJSON {
			c.Note("Nobody was told of a past answer since then.")
			return nil
		}
		all := make([]noticesJSON, 0, len(counts))
		rows := [][]string{{"DAY", "ENTITY", "NAME", "TOLD", "ACKNOWLEDGED"}}
		for _, n := range counts {
			s := noticesJSON{Day: n.Day.Format(time.DateOnly), Entity: n.Entity, Name: n.Name, Told: n.Told, Acknowledged: n.Acknowledged}
			all = append(all, s)
			rows = append(rows, []string{s.Day, s.Entity.String(), s.Name, strconv.FormatInt(s.Told, 10), strconv.FormatInt(s.Acknowledged, 10)})
		}
		return c.Print(*asJSON, all, rows...)
	})
	return cmd
}
