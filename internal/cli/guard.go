package cli

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
)

// guardCommand returns the command "guard".
func guardCommand(con *console.Console) *cobra.Command {
	c := &commands{con}
	return console.Group(&cobra.Command{
		Use:   "guard",
		Short: "List and release organisations whose requests look like number scanning",
		Long: `The guard detects organisations whose requests look like number scanning. It slows such an organisation to a tenth of its
rate and, if the scanning continues, stops it, until it is released here.`,
		Example: "  lineproof guard list",
	}, c.guardListCommand(), c.guardReleaseCommand())
}

// alertJSON is an alert of the guard, as printed with --json.
type alertJSON struct {
	ID         string `json:"alertId"`
	EntityUID  string `json:"entityUid,omitempty"` // "" if it is about all organisations of a client
	ClientID   string `json:"clientId,omitempty"`
	Entity     string `json:"entity"`
	Kind       string `json:"kind"`
	Level      string `json:"level"`
	Active     bool   `json:"holds"`
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
	row        *guard.AlertRow
}

func (c *commands) guardListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List alerts of the guard, newest first", Args: cobra.NoArgs,
		Long: `Lists organisations that are slowed or stopped, and those that have used up today's budget of different numbers, with the
figures that explain why. It shows no phone numbers; the journal has the requests.`,
		Example: `  lineproof guard list
  lineproof guard list --all --json`,
	}
	all := cmd.Flags().Bool("all", false, "also alerts that were released or have ended")
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		now := time.Now()
		list, err := guard.List(cmd.Context(), b.Pool, now, *all, *limit)
		if err != nil {
			return err
		}
		if len(list) == 0 && !*asJSON {
			c.Note("There are no alerts.")
			return nil
		}
		describe := func(f *guard.AlertRow) alertJSON { return newAlertJSON(f, now) }
		return console.List(c.Console, *asJSON, list, describe,
			"ENTITY OR CLIENT, ORGANISATION, LEVEL, FOUND, SINCE, STATUS", func(s *alertJSON) []any {
				return []any{s.EntityUID + s.ClientID, alertName(s.row), s.Level, alertReason(s.row), s.Since, alertStatus(s.row, now)}
			})
	})
	return cmd
}

func newAlertJSON(f *guard.AlertRow, now time.Time) alertJSON {
	return alertJSON{
		ID: f.ID.String(), EntityUID: console.FormatID(f.Entity), ClientID: console.FormatID(f.Sponsor), Entity: f.Name, Kind: string(f.Kind), Level: f.Level.String(), Active: f.Active(now),
		Since: console.FormatTime(f.Since), EndsAt: console.FormatTime(f.Until), Node: f.Node, Numbers: f.Numbers, Misses: f.Misses, Dense: f.Dense, Block: f.Block, Budget: f.Budget,
		ReleasedAt: console.FormatTime(f.ReleasedAt), Reason: f.Reason, QuietUntil: console.FormatTime(f.QuietUntil), row: f,
	}
}

// alertName says whom an alert is about.
func alertName(f *guard.AlertRow) string {
	if f.Sponsor != uuid.Nil {
		return "all organisations of the client " + f.Name
	}
	return f.Name
}

// alertReason describes why an alert was raised.
func alertReason(f *guard.AlertRow) string {
	switch f.Kind {
	case guard.Density:
		return fmt.Sprintf("%d of %d numbers in dense blocks of %d", f.Dense, f.Numbers, f.Block)
	case guard.Misses:
		return fmt.Sprintf("%d of %d numbers are not allocated", f.Misses, f.Numbers)
	case guard.BudgetUsed:
		return fmt.Sprintf("today's budget of %d different numbers is used up", f.Budget)
	case guard.YearUsed:
		return fmt.Sprintf("this year's budget of %d different numbers is used up", f.Budget)
	case guard.YearNearlyUsed:
		return fmt.Sprintf("%d of this year's budget of %d different numbers are used", f.Numbers, f.Budget)
	case guard.Harvest:
		return fmt.Sprintf("over this year %d of %d numbers in dense blocks of %d", f.Dense, f.Numbers, f.Block)
	case guard.HarvestMisses:
		return fmt.Sprintf("over this year %d of %d numbers are not allocated", f.Misses, f.Numbers)
	case guard.FileHeld:
		return fmt.Sprintf("a file of %d different numbers is held", f.Numbers)
	case guard.ListsHeld:
		return fmt.Sprintf("%d watch-lists were held this year, and %d deleted", f.Numbers, f.Misses)
	}
	return string(f.Kind)
}

func alertStatus(f *guard.AlertRow, now time.Time) string {
	switch {
	case !f.ReleasedAt.IsZero():
		return "released"
	case !f.Active(now):
		return "ended"
	case !f.Until.IsZero():
		return "until " + console.FormatTime(f.Until)
	}
	return "active"
}

func (c *commands) guardReleaseCommand() *cobra.Command {
	r := guard.ReleaseForm{By: access.Operator}
	cmd := &cobra.Command{
		Use: "release", Short: "Release an organisation that was slowed or stopped", Args: cobra.NoArgs,
		Long: `Releases an organisation that was slowed or stopped, or with --client all organisations that the client onboarded, if
they were slowed or stopped together. This takes effect on every node within five seconds. It is not slowed or stopped again
for the duration of --quiet, because the guard still counts its requests of the last day; its quotas and its budget of
numbers still apply. The audit trail records who released it and why.

It takes two people: it takes effect when a second person has confirmed it, and the exit code is 7. While there are neither
founders nor two administrators, it takes effect at once.`,
		Example: `  lineproof guard release --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'payroll of a ministry, checked by phone'
  lineproof guard release --entity "$ENTITY" --reason 'wallet of a small operator: all customers in two blocks' --quiet 8760h`,
	}
	console.IDFlag(cmd, &r.Entity, "entity", "entityUid of the organisation")
	console.IDFlag(cmd, &r.Sponsor, "client", "id of the client, if the alert is about all its organisations")
	cmd.Flags().StringVar(&r.Reason, "reason", "", "the reason; it is recorded")
	cmd.Flags().DurationVar(&r.Quiet, "quiet", 24*time.Hour, "how long it is not slowed or stopped again, at most 8784h")
	console.Require(cmd, "reason")
	cmd.MarkFlagsOneRequired("entity", "client")
	cmd.MarkFlagsMutuallyExclusive("entity", "client")
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		ended, err := guard.Release(cmd.Context(), b.Pool, time.Now(), r)
		if err != nil {
			return err
		}
		c.Note("Released: %s ended.", console.Count(int(ended), "alert"))
		return nil
	})
	return cmd
}
