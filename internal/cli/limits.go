// This part of the package has the commands of the operator about what organisations may
// verify: their limits, and the guard against number scanning.

package cli

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
)

// commands has the commands of this package.
type commands struct{ *console.Console }

// limitsCommand returns the command "limits".
func limitsCommand(con *console.Console) *cobra.Command {
	c := &commands{con}
	return console.Group(&cobra.Command{
		Use:   "limits",
		Short: "Show and set the limits of an organisation",
		Long: `A relying party has a rate limit, quotas of verifications per day and per month, and budgets of different numbers per day and per year.
Limits that are not set for it come from the settings of the service.`,
		Example: "  lineproof limits show --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, c.limitsShowCommand(), c.limitsSetCommand())
}

// limitJSON is one limit of an organisation, as printed with --json. Used is null
// if the usage is not counted.
type limitJSON struct {
	Limit float64 `json:"limit"`
	Own   bool    `json:"own"`
	Used  *int64  `json:"used"`
}

func (c *commands) limitsShowCommand() *cobra.Command {
	var id uuid.UUID
	cmd := &cobra.Command{
		Use: "show", Short: "Show the limits and the usage of an organisation", Args: cobra.NoArgs,
		Long: `Shows the limits of an organisation, whether each is set for it or comes from the settings, and the usage of today and of
this month (UTC), up to a few seconds ago, and of this year, up to an hour ago. A limit of 0 means no limit. Budgets of
different numbers that staff did not set grow while the organisation is new, as the policy says: the value is that of now.`,
		Example: "  lineproof limits show --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	console.RequiredIDFlag(cmd, &id, "entity", "entityUid of the organisation")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		if _, err := b.Registry.Entity(cmd.Context(), id); err != nil {
			return err
		}
		own, err := b.Access.LimitsOf(cmd.Context(), id)
		if err != nil {
			return err
		}
		used, err := guard.UsageOf(cmd.Context(), b.Pool, id, time.Now())
		if err != nil {
			return err
		}
		limits := make(map[string]limitJSON)
		rows := [][]string{{"LIMIT", "VALUE", "USED", "SET BY"}}
		for _, l := range limitRows(own, b.Access.Limits, &used) {
			limits[l.key] = l.limitJSON
			rows = append(rows, l.row())
		}
		return c.Print(*asJSON, limits, rows...)
	})
	return cmd
}

// limitRow is one limit with its label and its name in JSON.
type limitRow struct {
	key, name string
	limitJSON
}

func limitRows(own, defaults access.Limits, used *guard.Usage) []limitRow {
	limit := func(key, name string, own, byDefault float64, used *int64) limitRow {
		return limitRow{key, name, limitJSON{Limit: cmp.Or(own, byDefault), Own: own != 0, Used: used}}
	}
	count := func(n int64) float64 { return float64(n) }
	return []limitRow{
		limit("rate", "requests per second", own.EntityRate, defaults.EntityRate, nil),
		limit("burst", "burst of requests", float64(own.EntityBurst), float64(defaults.EntityBurst), nil),
		limit("dayQuota", "verifications per day", count(own.DayQuota), count(defaults.DayQuota), &used.Answered),
		limit("monthQuota", "verifications per month", count(own.MonthQuota), count(defaults.MonthQuota), &used.Month),
		limit("dayNumbers", "different numbers per day", count(own.DayNumbers), count(used.Allowed(defaults.DayNumbers)), &used.Numbers),
		limit("yearNumbers", "different numbers per year", count(own.YearNumbers), count(used.Allowed(defaults.YearNumbers)), &used.Year),
	}
}

func (l *limitRow) row() []string {
	value, used, setBy := strconv.FormatFloat(l.Limit, 'f', -1, 64), "", "settings"
	if l.Limit == 0 {
		value = "no limit"
	}
	if l.Used != nil {
		used = strconv.FormatInt(*l.Used, 10)
	}
	if l.Own {
		setBy = "staff"
	}
	return []string{l.name, value, used, setBy}
}

func (c *commands) limitsSetCommand() *cobra.Command {
	var id uuid.UUID
	var l access.Limits
	cmd := &cobra.Command{
		Use: "set", Short: "Set the limits of an organisation", Args: cobra.NoArgs,
		Long: `Sets limits of an organisation. Limits that are not given stay as they are; 0 removes a limit, so that the settings apply again.
It takes effect on every node within five seconds.

Lower limits act at once. If any limit is raised, it takes two people: all of them take effect when a second person has
confirmed it, and the exit code is 7. While there are neither founders nor two administrators, they act at once.`,
		Example: `  lineproof limits set --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --day-numbers 500000 --reason 'Its licence of June'
  lineproof limits set --entity "$ENTITY" --rate 20 --burst 40`,
	}
	flags := cmd.Flags()
	console.RequiredIDFlag(cmd, &id, "entity", "entityUid of the organisation")
	flags.Float64Var(&l.EntityRate, "rate", 0, "requests per second, all its keys together")
	flags.IntVar(&l.EntityBurst, "burst", 0, "burst of requests")
	flags.Int64Var(&l.DayQuota, "day-quota", 0, "verifications per day")
	flags.Int64Var(&l.MonthQuota, "month-quota", 0, "verifications per month")
	flags.Int64Var(&l.DayNumbers, "day-numbers", 0, "different numbers per day")
	flags.Int64Var(&l.YearNumbers, "year-numbers", 0, "different numbers per year")
	reason := console.ReasonFlag(cmd)
	limits := []string{"rate", "burst", "day-quota", "month-quota", "day-numbers", "year-numbers"}
	cmd.RunE = c.Run(func(cmd *cobra.Command, _ []string) error {
		if !slices.ContainsFunc(limits, cmd.Flags().Changed) {
			return console.Usagef("give at least one limit: --rate, --burst, --day-quota, --month-quota, --day-numbers or --year-numbers")
		}
		b, err := backend.Open(cmd.Context(), c.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		stored, err := b.Access.LimitsOf(cmd.Context(), id)
		if err != nil {
			return err
		}
		if err := b.Access.SetLimits(cmd.Context(), id, changedLimits(cmd, stored, l), *reason, access.Operator, uuid.Nil); err != nil {
			return err
		}
		c.Note("The limits are set.")
		return nil
	})
	return cmd
}

// changedLimits returns the stored limits, overridden by those given as flags.
func changedLimits(cmd *cobra.Command, stored, given access.Limits) access.Limits {
	for flag, set := range map[string]func(){
		"rate":         func() { stored.EntityRate = given.EntityRate },
		"burst":        func() { stored.EntityBurst = given.EntityBurst },
		"day-quota":    func() { stored.DayQuota = given.DayQuota },
		"month-quota":  func() { stored.MonthQuota = given.MonthQuota },
		"day-numbers":  func() { stored.DayNumbers = given.DayNumbers },
		"year-numbers": func() { stored.YearNumbers = given.YearNumbers },
	} {
		if cmd.Flags().Changed(flag) {
			set()
		}
	}
	return stored
}
