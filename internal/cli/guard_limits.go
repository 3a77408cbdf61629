package cli

import (
	"cmp"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/guard"
)

func (a *app) limitsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show and set how much an organisation may ask",
		Long: `An organisation that asks has a rate, quotas of questions a day and a month, and a budget of different numbers a day. Where
nothing is set for it, the settings of the service hold.`,
		Example: "  lineproof limits show --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	cmd.AddCommand(a.limitsShowCommand(), a.limitsSetCommand())
	return cmd
}

// shownLimit is one limit of an organisation, as programs read it. Used is null
// where nobody counts.
type shownLimit struct {
	Limit float64 `json:"limit"`
	Own   bool    `json:"own"`
	Used  *int64  `json:"used"`
}

func (a *app) limitsShowCommand() *cobra.Command {
	var entity string
	cmd := &cobra.Command{
		Use: "show", Short: "Show what an organisation may ask and what it has used", Args: cobra.NoArgs,
		Long: `Shows the limits of an organisation, whether each is its own or that of the settings, and how much of it is used today and in
this month (UTC), up to a few seconds ago. A limit of 0 is none.`,
		Example: "  lineproof limits show --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	cmd.Flags().StringVar(&entity, "entity", "", "entityUid of the organisation")
	required(cmd, "entity")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		id, err := parseID("--entity", entity)
		if err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		if _, err := p.registry.Entity(cmd.Context(), id); err != nil {
			return err
		}
		own, err := p.keeper.LimitsOf(cmd.Context(), id)
		if err != nil {
			return err
		}
		used, err := guard.UsageOf(cmd.Context(), p.pool, id, time.Now())
		if err != nil {
			return err
		}
		shown := make(map[string]shownLimit)
		rows := [][]string{{"LIMIT", "MAY", "USED", "SET BY"}}
		for _, l := range limitRows(own, p.keeper.Limits, &used) {
			shown[l.key] = l.shownLimit
			rows = append(rows, l.row())
		}
		return a.print(*asJSON, shown, rows...)
	})
	return cmd
}

// limitRow is one limit with its names for people and programs.
type limitRow struct {
	key, name string
	shownLimit
}

func limitRows(own, usual access.Limits, used *guard.Usage) []limitRow {
	limit := func(key, name string, own, usual float64, used *int64) limitRow {
		return limitRow{key, name, shownLimit{Limit: cmp.Or(own, usual), Own: own != 0, Used: used}}
	}
	count := func(n int64) float64 { return float64(n) }
	return []limitRow{
		limit("rate", "requests a second", own.EntityRate, usual.EntityRate, nil),
		limit("burst", "requests at once", float64(own.EntityBurst), float64(usual.EntityBurst), nil),
		limit("dayQuota", "questions a day", count(own.DayQuota), count(usual.DayQuota), &used.Answered),
		limit("monthQuota", "questions a month", count(own.MonthQuota), count(usual.MonthQuota), &used.Month),
		limit("dayNumbers", "different numbers a day", count(own.DayNumbers), count(usual.DayNumbers), &used.Numbers),
	}
}

func (l *limitRow) row() []string {
	may, used, by := strconv.FormatFloat(l.Limit, 'f', -1, 64), "", "settings"
	if l.Limit == 0 {
		may = "no limit"
	}
	if l.Used != nil {
		used = strconv.FormatInt(*l.Used, 10)
	}
	if l.Own {
		by = "staff"
	}
	return []string{l.name, may, used, by}
}

func (a *app) limitsSetCommand() *cobra.Command {
	var entity string
	var l access.Limits
	cmd := &cobra.Command{
		Use: "set", Short: "Set how much an organisation may ask", Args: cobra.NoArgs,
		Long: `Sets limits of an organisation. What is not named stays as it is; 0 gives a limit back to the settings. It holds on every node
within five seconds.`,
		Example: `  lineproof limits set --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --day-numbers 500000
  lineproof limits set --entity "$ENTITY" --rate 200 --burst 400 --month-quota 0`,
	}
	flags := cmd.Flags()
	flags.StringVar(&entity, "entity", "", "entityUid of the organisation")
	flags.Float64Var(&l.EntityRate, "rate", 0, "requests a second, of all its keys together")
	flags.IntVar(&l.EntityBurst, "burst", 0, "requests at once")
	flags.Int64Var(&l.DayQuota, "day-quota", 0, "questions a day")
	flags.Int64Var(&l.MonthQuota, "month-quota", 0, "questions a month")
	flags.Int64Var(&l.DayNumbers, "day-numbers", 0, "different numbers a day")
	required(cmd, "entity")
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		id, err := parseID("--entity", entity)
		if err != nil {
			return err
		}
		if !cmd.Flags().Changed("rate") && !cmd.Flags().Changed("burst") && !cmd.Flags().Changed("day-quota") &&
			!cmd.Flags().Changed("month-quota") && !cmd.Flags().Changed("day-numbers") {
			return usagef("say what to set: --rate, --burst, --day-quota, --month-quota or --day-numbers")
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		was, err := p.keeper.LimitsOf(cmd.Context(), id)
		if err != nil {
			return err
		}
		if err := p.keeper.SetLimits(cmd.Context(), id, changedLimits(cmd, was, l), access.Operator, uuid.Nil); err != nil {
			return err
		}
		a.note("The limits are set.")
		return nil
	})
	return cmd
}

// changedLimits returns the limits that there were, with those that flags name.
func changedLimits(cmd *cobra.Command, was, named access.Limits) access.Limits {
	for flag, set := range map[string]func(){
		"rate":        func() { was.EntityRate = named.EntityRate },
		"burst":       func() { was.EntityBurst = named.EntityBurst },
		"day-quota":   func() { was.DayQuota = named.DayQuota },
		"month-quota": func() { was.MonthQuota = named.MonthQuota },
		"day-numbers": func() { was.DayNumbers = named.DayNumbers },
	} {
		if cmd.Flags().Changed(flag) {
			set()
		}
	}
	return was
}
