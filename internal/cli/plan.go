package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/numbering"
)

func (a *app) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show and change the numbering plan",
		Long: `The numbering plan says which network holds which numbers. It has versions: each is a whole plan that takes
effect at a time and never changes. The record of every answer names the version by which it was given.`,
		Example: "  lineproof plan import --shipped",
	}
	cmd.AddCommand(a.planShowCommand(), a.planImportCommand(), a.planExportCommand(), a.planHistoryCommand())
	return cmd
}

// versionFlag gives a command the choice of a version.
func versionFlag(cmd *cobra.Command) *int32 {
	return cmd.Flags().Int32("version", 0, "which version (default: the one in force)")
}

// planOf loads the version that was asked for, or the one in force.
func planOf(ctx context.Context, p *parts, cmd *cobra.Command, version int32) (*numbering.Plan, error) {
	if cmd.Flags().Changed("version") {
		return numbering.Load(ctx, p.pool, version)
	}
	return numbering.InForce(ctx, p.pool, time.Now())
}

// shownPlan is a version of the plan as programs read it.
type shownPlan struct {
	Version     int32          `json:"version"`
	EffectiveAt string         `json:"effectiveAt,omitempty"`
	Source      string         `json:"source,omitempty"`
	Digits      int            `json:"digits"`
	Networks    []shownNetwork `json:"networks"`
}

type shownNetwork struct {
	Code     string       `json:"network"`
	Name     string       `json:"name"`
	Capacity int64        `json:"capacity"` // of the ranges that it holds
	Ranges   []shownRange `json:"ranges"`
	held     int
}

type shownRange struct {
	Prefix    string `json:"prefix"`
	Allocated string `json:"allocated"`
	Withdrawn string `json:"withdrawn,omitempty"`
}

// shownPlanOf shows a plan as it is now, or on the day when it takes effect.
func shownPlanOf(p *numbering.Plan, now time.Time) shownPlan {
	if now.Before(p.EffectiveAt) {
		now = p.EffectiveAt
	}
	s := shownPlan{Version: p.Version, EffectiveAt: moment(p.EffectiveAt), Source: p.Source, Digits: p.Digits, Networks: []shownNetwork{}}
	place := map[numbering.Network]int{}
	networks := p.Networks()
	slices.SortFunc(networks, func(a, b numbering.Network) int { return strings.Compare(p.Code(a), p.Code(b)) })
	for i, n := range networks {
		place[n] = i
		s.Networks = append(s.Networks, shownNetwork{Code: p.Code(n), Name: p.Name(n), Capacity: p.Capacity(n, now)})
	}
	for _, r := range p.Ranges() {
		withdrawn := ""
		if !r.Withdrawn.IsZero() {
			withdrawn = r.Withdrawn.Format(time.DateOnly)
		}
		of := &s.Networks[place[r.Network]]
		of.Ranges = append(of.Ranges, shownRange{r.Prefix, r.Allocated.Format(time.DateOnly), withdrawn})
		if r.Holds(now) {
			of.held++
		}
	}
	return s
}

func (s shownPlan) rows() [][]string {
	rows := [][]string{{"version", strconv.Itoa(int(s.Version))}}
	if s.Version > 0 {
		rows = append(rows, []string{"effective", s.EffectiveAt}, []string{"source", s.Source})
	}
	for _, n := range s.Networks {
		rows = append(rows, []string{n.Code, n.Name + ": " + counted(n.held, "range") + " with room for " + strconv.FormatInt(n.Capacity, 10) + " numbers"})
	}
	return rows
}

func (a *app) planShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the plan in force, or another version",
		Long: `Shows a version of the numbering plan: since when it is in force, where it comes from, and for each network how
many ranges it holds today and for how many numbers they have room. Every range is printed by export.`,
		Example: `  lineproof plan show
  lineproof plan show --version 3 --json`,
		Args: cobra.NoArgs,
	}
	version, asJSON := versionFlag(cmd), jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		plan, err := planOf(cmd.Context(), p, cmd, *version)
		if err != nil {
			return err
		}
		if plan.Version == 0 {
			a.note("No plan is in force. Set one with: lineproof plan import")
		}
		s := shownPlanOf(plan, time.Now())
		return a.print(*asJSON, s, s.rows()...)
	})
	return cmd
}

func (a *app) planExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "Print a version of the plan as CSV",
		Long:    "Prints the plan in force, or another version, in the form that import reads, with ranges that were withdrawn.",
		Example: "  lineproof plan export > plan.csv",
		Args:    cobra.NoArgs,
	}
	version, asJSON := versionFlag(cmd), jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		plan, err := planOf(cmd.Context(), p, cmd, *version)
		if err != nil {
			return err
		}
		if *asJSON {
			return a.printJSON(shownPlanOf(plan, time.Now()))
		}
		return plan.WriteCSV(a.out)
	})
	return cmd
}

// listedPlan is a version of the plan as programs read it in the history.
type listedPlan struct {
	Version     int32  `json:"version"`
	EffectiveAt string `json:"effectiveAt"`
	CreatedAt   string `json:"createdAt"`
	Networks    int    `json:"networks"`
	Ranges      int    `json:"ranges"`
	Source      string `json:"source"`
}

func (a *app) planHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "history",
		Short:   "List the versions of the plan, oldest first",
		Long:    "Lists the versions of the numbering plan, those that will take effect later included.",
		Example: "  lineproof plan history",
		Args:    cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		editions, err := numbering.History(cmd.Context(), p.pool)
		if err != nil {
			return err
		}
		list := make([]listedPlan, 0, len(editions))
		rows := [][]string{{"VERSION", "EFFECTIVE", "MADE", "NETWORKS", "RANGES", "SOURCE"}}
		for _, e := range editions {
			list = append(list, listedPlan{e.Version, moment(e.EffectiveAt), moment(e.CreatedAt), e.Networks, e.Ranges, e.Source})
			rows = append(rows, []string{
				strconv.Itoa(int(e.Version)), moment(e.EffectiveAt), moment(e.CreatedAt), strconv.Itoa(e.Networks), strconv.Itoa(e.Ranges), e.Source,
			})
		}
		return a.print(*asJSON, list, rows...)
	})
	return cmd
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
