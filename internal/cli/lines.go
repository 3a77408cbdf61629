package cli

import (
	"context"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/supply"
)

func (a *app) linesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lines",
		Short: "Supply the state of lines and look after it",
		Long: `The state of lines, by which questions are answered: taken in from files, as a telco does over the API, and
looked after. A number that no supply covers is UNKNOWN.`,
		Example: "  lineproof lines import --network MTN --kind snapshot --as-of 2026-11-01 mtn.csv.gz",
	}
	cmd.AddCommand(a.linesImportCommand(), a.linesImportsCommand(), a.linesRefusedCommand(), a.linesConfirmCommand(), a.linesCancelCommand(),
		a.linesGenerateCommand(), a.linesSupplyCommand(), a.linesConflictsCommand(), a.linesOrdersCommand(), a.linesImpactCommand(), a.linesCheckCommand(), a.linesCompactCommand())
	return cmd
}

// operatorFor speaks for a network from the command line.
func operatorFor(network string) supply.Speaker {
	return supply.Speaker{Authorities: []line.Authority{line.Operator}, Network: network, Actor: access.Operator}
}

// importID reads the id of an import.
func importID(arg string) (uuid.UUID, error) {
	id, err := uuid.Parse(arg)
	if err != nil {
		return uuid.Nil, usagef("the id of an import looks like 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11")
	}
	return id, nil
}

// shownImport is an import as programs read it.
type shownImport struct {
	ID         string  `json:"importId"`
	Network    string  `json:"network"`
	Kind       string  `json:"kind"`
	AsOf       string  `json:"asOf,omitempty"`
	State      string  `json:"state"`
	Reason     string  `json:"reason,omitempty"`
	DryRun     bool    `json:"dryRun"`
	Rows       int64   `json:"rows"`
	Rate       float64 `json:"rowsPerSecond"`
	Added      int64   `json:"added"`
	Changed    int64   `json:"changed"`
	Unchanged  int64   `json:"unchanged"`
	Ended      int64   `json:"ended"`
	NoEffect   int64   `json:"noEffect"`
	Duplicates int64   `json:"duplicates"`
	PortedOut  int64   `json:"portedOut"`
	Refused    int64   `json:"refused"`
	CreatedAt  string  `json:"createdAt"`
	FinishedAt string  `json:"finishedAt,omitempty"`
}

func showImport(network string, im *supply.Import) shownImport {
	c := &im.Counts
	return shownImport{
		ID: im.ID.String(), Network: network, Kind: string(im.Kind), AsOf: moment(im.AsOf), State: im.State, Reason: im.Reason, DryRun: im.DryRun,
		Rows: im.Rows, Rate: float64(int64(im.Rate())), Added: c.Added, Changed: c.Changed, Unchanged: c.Unchanged, Ended: c.Ended,
		NoEffect: c.NoEffect, Duplicates: c.Duplicates, PortedOut: c.PortedOut, Refused: c.Refused,
		CreatedAt: moment(im.Created), FinishedAt: moment(im.Finished),
	}
}

// rows are what a person reads.
func (s *shownImport) rows() [][]string {
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"import", s.ID},
		{"state", s.State},
		{"rows", count(s.Rows)},
		{"added", count(s.Added)},
		{"changed", count(s.Changed)},
		{"unchanged", count(s.Unchanged)},
		{"ended", count(s.Ended)},
		{"no effect", count(s.NoEffect)},
		{"duplicates", count(s.Duplicates)},
		{"ported out", count(s.PortedOut)},
		{"refused", count(s.Refused)},
		{"rows per second", count(int64(s.Rate))},
	}
	if s.Reason != "" {
		rows = append(rows, []string{"reason", s.Reason})
	}
	return rows
}

func (a *app) linesImportsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "imports", Short: "List imports, newest first", Args: cobra.NoArgs,
		Long:    "Lists the last imports of all networks, newest first: how far each is and what became of its rows.",
		Example: "  lineproof lines imports",
	}
	limit := cmd.Flags().Int("limit", 20, "how many")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		list, err := p.desk.Imports(cmd.Context(), 0, *limit)
		if err != nil {
			return err
		}
		plan, err := planOf(cmd.Context(), p, cmd, 0)
		if err != nil {
			return err
		}
		shown := make([]shownImport, 0, len(list))
		rows := [][]string{{"IMPORT", "NETWORK", "KIND", "AS OF", "STATE", "ROWS", "REFUSED", "REASON"}}
		for i := range list {
			s := showImport(plan.Code(list[i].Network), &list[i])
			shown = append(shown, s)
			rows = append(rows, []string{s.ID, s.Network, s.Kind, s.AsOf, s.State, strconv.FormatInt(s.Rows, 10), strconv.FormatInt(s.Refused, 10), s.Reason})
		}
		return a.print(*asJSON, shown, rows...)
	})
	return cmd
}

func (a *app) linesRefusedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "refused IMPORT", Short: "Write the refused rows of an import as CSV", Args: cobra.ExactArgs(1),
		Long:    "Writes the rows of an import that were refused as CSV: the line of the file, the column and the reason.",
		Example: "  lineproof lines refused 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11 >refused.csv",
	}
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := importID(args[0])
		if err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		im, err := p.desk.Import(cmd.Context(), id)
		if err != nil {
			return err
		}
		return p.desk.RefusedRows(cmd.Context(), im, a.out)
	})
	return cmd
}

func (a *app) linesConfirmCommand() *cobra.Command {
	return a.linesDecideCommand(&cobra.Command{
		Use: "confirm IMPORT", Short: "Let a held import go on",
		Long: `Lets an import go on that was held because it would change much. One that came over the API goes on by
itself; one of the command line goes on with: lineproof lines import --resume IMPORT FILE`,
		Example: "  lineproof lines confirm 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11",
	}, (*supply.Desk).Confirm)
}

func (a *app) linesCancelCommand() *cobra.Command {
	return a.linesDecideCommand(&cobra.Command{
		Use: "cancel IMPORT", Short: "End an import that is not over",
		Long:    "Ends an import that is held, or that will not be continued. Rows that it has applied stay.",
		Example: "  lineproof lines cancel 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11",
	}, (*supply.Desk).Cancel)
}

func (a *app) linesDecideCommand(cmd *cobra.Command, decide func(*supply.Desk, context.Context, uuid.UUID, audit.Actor) (supply.Import, error)) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := importID(args[0])
		if err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		im, err := decide(p.desk, cmd.Context(), id, access.Operator)
		if err != nil {
			return err
		}
		plan, err := planOf(cmd.Context(), p, cmd, 0)
		if err != nil {
			return err
		}
		s := showImport(plan.Code(im.Network), &im)
		return a.print(*asJSON, s, []string{"import", s.ID}, []string{"state", s.State})
	})
	return cmd
}
