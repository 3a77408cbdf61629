package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

func (a *app) planCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "plan",
		Short: "Show and change the numbering plan",
		Long: `The numbering plan defines which network holds which numbers. It has versions: each is a complete plan that takes
effect at a given time and never changes. The record of every answer names the version that was used.`,
		Example: "  lineproof plan import --shipped",
	}, a.planShowCommand(), a.planImportCommand(), a.planExportCommand(), a.planHistoryCommand())
}

// versionFlag adds the flag --version to a command.
func versionFlag(cmd *cobra.Command) *int32 {
	return cmd.Flags().Int32("version", 0, "the version (default: the current one)")
}

// loadPlan loads the given version, or the current one.
func loadPlan(ctx context.Context, b *backend.Backend, cmd *cobra.Command, version int32) (*numbering.Plan, error) {
	if cmd.Flags().Changed("version") {
		return numbering.Load(ctx, b.Pool, version)
	}
	return numbering.Current(ctx, b.Pool, time.Now())
}

// planJSON is a version of the plan as printed with --json.
type planJSON struct {
	Version     int32         `json:"version"`
	EffectiveAt string        `json:"effectiveAt,omitempty"`
	Source      string        `json:"source,omitempty"`
	Digits      int           `json:"digits"`
	Networks    []networkJSON `json:"networks"`
}

type networkJSON struct {
	Code     string      `json:"network"`
	Name     string      `json:"name"`
	Capacity int64       `json:"capacity"` // of the ranges that it holds now
	Ranges   []rangeJSON `json:"ranges"`
	held     int
}

type rangeJSON struct {
	Prefix    string `json:"prefix"`
	Allocated string `json:"allocated"`
	Withdrawn string `json:"withdrawn,omitempty"`
}

// newPlanJSON describes a plan as of now, or as of the day when it takes effect.
func newPlanJSON(p *numbering.Plan, now time.Time) planJSON {
	if now.Before(p.EffectiveAt) {
		now = p.EffectiveAt
	}
	s := planJSON{Version: p.Version, EffectiveAt: console.FormatTime(p.EffectiveAt), Source: p.Source, Digits: p.Digits, Networks: []networkJSON{}}
	index := map[numbering.Network]int{}
	networks := p.Networks()
	slices.SortFunc(networks, func(a, b numbering.Network) int { return strings.Compare(p.Code(a), p.Code(b)) })
	for i, n := range networks {
		index[n] = i
		s.Networks = append(s.Networks, networkJSON{Code: p.Code(n), Name: p.Name(n), Capacity: p.Capacity(n, now)})
	}
	for _, r := range p.Ranges() {
		withdrawn := ""
		if !r.Withdrawn.IsZero() {
			withdrawn = r.Withdrawn.Format(time.DateOnly)
		}
		network := &s.Networks[index[r.Network]]
		network.Ranges = append(network.Ranges, rangeJSON{r.Prefix, r.Allocated.Format(time.DateOnly), withdrawn})
		if r.ActiveAt(now) {
			network.held++
		}
	}
	return s
}

func (s planJSON) rows() [][]string {
	rows := [][]string{{"version", strconv.Itoa(int(s.Version))}}
	if s.Version > 0 {
		rows = append(rows, []string{"effective", s.EffectiveAt}, []string{"source", s.Source})
	}
	for _, n := range s.Networks {
		rows = append(rows, []string{n.Code, n.Name + ": " + console.Count(n.held, "range") + " with a capacity of " + strconv.FormatInt(n.Capacity, 10) + " numbers"})
	}
	return rows
}

func (a *app) planShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the current plan, or another version",
		Long: `Shows a version of the numbering plan: when it took effect, its source, and for each network how many ranges it holds
today and their capacity. To print every range, use export.`,
		Example: `  lineproof plan show
  lineproof plan show --version 3 --json`,
		Args: cobra.NoArgs,
	}
	version, asJSON := versionFlag(cmd), console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		plan, err := loadPlan(cmd.Context(), b, cmd, *version)
		if err != nil {
			return err
		}
		if plan.Version == 0 {
			a.Note("There is no numbering plan. Set one with: lineproof plan import")
		}
		s := newPlanJSON(plan, time.Now())
		return a.Print(*asJSON, s, s.rows()...)
	})
	return cmd
}

func (a *app) planExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "Print a version of the plan as CSV",
		Long:    "Prints the current plan, or another version, in the format of import, including withdrawn ranges.",
		Example: "  lineproof plan export > plan.csv",
		Args:    cobra.NoArgs,
	}
	version, asJSON := versionFlag(cmd), console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		plan, err := loadPlan(cmd.Context(), b, cmd, *version)
		if err != nil {
			return err
		}
		if *asJSON {
			return a.PrintJSON(newPlanJSON(plan, time.Now()))
		}
		return plan.WriteCSV(a.Out)
	})
	return cmd
}

// planVersionJSON is a version of the plan in the history, as printed with --json.
type planVersionJSON struct {
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
		Long:    "Lists the versions of the numbering plan, including those that take effect later.",
		Example: "  lineproof plan history",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		versions, err := numbering.History(cmd.Context(), b.Pool)
		if err != nil {
			return err
		}
		describe := func(e *numbering.VersionSummary) planVersionJSON {
			return planVersionJSON{e.Version, console.FormatTime(e.EffectiveAt), console.FormatTime(e.CreatedAt), e.Networks, e.Ranges, e.Source}
		}
		return console.List(a.Console, *asJSON, versions, describe,
			"VERSION, EFFECTIVE, CREATED, NETWORKS, RANGES, SOURCE", func(e *planVersionJSON) []any {
				return []any{e.Version, e.EffectiveAt, e.CreatedAt, e.Networks, e.Ranges, e.Source}
			})
	})
	return cmd
}
