package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/guard"
)

func (a *app) guardCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "See and release organisations that look like scanning",
		Long: `The guard looks for organisations whose questions look like a scan of the nation's numbers. It slows such an organisation
to a tenth of its rate and, if it goes on, stops it, until it is released here.`,
		Example: "  lineproof guard list",
	}
	cmd.AddCommand(a.guardListCommand(), a.guardReleaseCommand())
	return cmd
}

// shownAlert is an alert of the guard, as programs read it.
type shownAlert struct {
	ID         string `json:"alertId"`
	EntityUID  string `json:"entityUid"`
	Entity     string `json:"entity"`
	Kind       string `json:"kind"`
	Level      string `json:"level"`
	Holds      bool   `json:"holds"`
	Since      string `json:"since"`
	EndsAt     string `json:"endsAt,omitempty"`
	Node       string `json:"node"`
	Numbers    int64  `json:"numbers"`
	Misses     int64  `json:"misses"`
	Dense      int64  `json:"dense"`
	Block      int64  `json:"block"`
	Budget     int64  `json:"budget"`
	ReleasedAt string `json:"releasedAt,omitempty"`
	Reason     string `json:"reason,omitempty"`
	QuietUntil string `json:"quietUntil,omitempty"`
}

func (a *app) guardListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List what the guard has found, newest first", Args: cobra.NoArgs,
		Long: `Lists organisations that are slowed or stopped, and those whose budget of different numbers is used up for today, with the
figures that say why. There are no phone numbers among them; the journal has what was asked.`,
		Example: `  lineproof guard list
  lineproof guard list --all --json`,
	}
	all := cmd.Flags().Bool("all", false, "also those that were released or have ended")
	limit := cmd.Flags().Int("limit", 100, "how many")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		now := time.Now()
		list, err := guard.List(cmd.Context(), p.pool, now, *all, *limit)
		if err != nil {
			return err
		}
		shown := make([]shownAlert, 0, len(list))
		rows := [][]string{{"ENTITY", "ORGANISATION", "LEVEL", "FOUND", "SINCE", "STANDS"}}
		for _, f := range list {
			shown = append(shown, shownAlert{
				ID: f.ID.String(), EntityUID: f.Entity.String(), Entity: f.EntityName, Kind: string(f.Kind), Level: f.Level.String(), Holds: f.Holds(now),
				Since: moment(f.Since), EndsAt: moment(f.Ends), Node: f.Node, Numbers: f.Numbers, Misses: f.Misses, Dense: f.Dense, Block: f.Block, Budget: f.Budget,
				ReleasedAt: moment(f.ReleasedAt), Reason: f.Reason, QuietUntil: moment(f.QuietUntil),
			})
			rows = append(rows, []string{f.Entity.String(), f.EntityName, f.Level.String(), foundWords(&f), moment(f.Since), alertStands(&f, now)})
		}
		if len(list) == 0 && !*asJSON {
			a.note("The guard has found nobody.")
			return nil
		}
		return a.print(*asJSON, shown, rows...)
	})
	return cmd
}

// foundWords says in a few words what an alert is about.
func foundWords(f *guard.Found) string {
	switch f.Kind {
	case guard.Density:
		return fmt.Sprintf("%d of %d numbers in dense blocks of %d", f.Dense, f.Numbers, f.Block)
	case guard.Misses:
		return fmt.Sprintf("%d of %d numbers are not allocated", f.Misses, f.Numbers)
	case guard.BudgetUsed:
		return fmt.Sprintf("all %d different numbers of the day are used up", f.Budget)
	}
	return string(f.Kind)
}

func alertStands(f *guard.Found, now time.Time) string {
	switch {
	case !f.ReleasedAt.IsZero():
		return "released"
	case !f.Holds(now):
		return "ended"
	case !f.Ends.IsZero():
		return "until " + moment(f.Ends)
	}
	return "yes"
}

func (a *app) guardReleaseCommand() *cobra.Command {
	var entity string
	r := guard.Release{By: access.Operator}
	cmd := &cobra.Command{
		Use: "release", Short: "Let an organisation go on that was slowed or stopped", Args: cobra.NoArgs,
		Long: `Ends what slows or stops an organisation, on every node within five seconds. For as long as --quiet says it is not slowed or
stopped again, because what it asked stays in sight for a day; its quotas and its budget of numbers hold all the same. The audit trail
keeps who released it and why.`,
		Example: `  lineproof guard release --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'payroll of a ministry, checked by phone'
  lineproof guard release --entity "$ENTITY" --reason 'wallet of a small operator: all customers in two blocks' --quiet 8760h`,
	}
	cmd.Flags().StringVar(&entity, "entity", "", "entityUid of the organisation")
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why it may go on")
	cmd.Flags().DurationVar(&r.Quiet, "quiet", 24*time.Hour, "for how long it is not slowed or stopped again, at most 8784h")
	required(cmd, "entity", "reason")
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		if r.Entity, err = parseID("--entity", entity); err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		ended, err := guard.LetGo(cmd.Context(), p.pool, time.Now(), r)
		if err != nil {
			return err
		}
		a.note("Released: %s of the guard ended.", counted(int(ended), "finding"))
		return nil
	})
	return cmd
}
