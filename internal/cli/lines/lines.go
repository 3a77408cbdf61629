// Package lines has the commands of the operator that supply and maintain the
// state of lines.
package lines

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// commands has the commands of this package.
type commands struct{ *console.Console }

// Command returns the command "lines".
func Command(con *console.Console) *cobra.Command {
	c := &commands{con}
	return console.Group(&cobra.Command{
		Use:   "lines",
		Short: "Supply and maintain the state of lines",
		Long: `Verifications are answered from the state of lines. These commands import it from files, as a telco does over the API,
and maintain it. A number that no supply covers is UNKNOWN.`,
		Example: "  lineproof lines import --network MTN --kind snapshot --as-of 2026-11-01 mtn.csv.gz",
	}, c.importCommand(), c.importsCommand(), c.rejectedCommand(), c.confirmCommand(), c.cancelCommand(), c.voidCommand(), c.announceCommand(), c.acceptCommand(),
		c.generateCommand(), c.supplyCommand(), c.conflictsCommand(), c.ordersCommand(), c.impactCommand(), c.sealCommand(), c.checkCommand(), c.compactCommand())
}

// parseImportID reads the id of an import from the command line.
func parseImportID(arg string) (uuid.UUID, error) {
	id, err := uuid.Parse(arg)
	if err != nil {
		return uuid.Nil, console.Usagef("the import id must be a UUID such as 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11")
	}
	return id, nil
}

// onImport is [backend.Run] for a command on the import whose id is the argument.
func (c *commands) onImport(fn func(ctx context.Context, b *backend.Backend, id uuid.UUID) error) func(*cobra.Command, []string) error {
	return c.Run(func(cmd *cobra.Command, args []string) error {
		id, err := parseImportID(args[0])
		if err != nil {
			return err
		}
		return backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error { return fn(cmd.Context(), b, id) })(cmd, args)
	})
}

// importJSON is an import as printed with --json.
type importJSON struct {
	ID         string  `json:"importId"`
	Sender     string  `json:"sender"`
	Network    string  `json:"network,omitempty"`
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
	Waiting    int64   `json:"waiting"`
	Duplicates int64   `json:"duplicates"`
	PortedOut  int64   `json:"portedOut"`
	Refused    int64   `json:"refused"`
	Voided     int64   `json:"voided,omitempty"`
	CreatedAt  string  `json:"createdAt"`
	FinishedAt string  `json:"finishedAt,omitempty"`
}

func newImportJSON(plan *numbering.Plan, im *supply.Import) importJSON {
	c, network := &im.Counts, ""
	if im.Network != 0 {
		network = plan.Code(im.Network)
	}
	return importJSON{
		ID: im.ID.String(), Sender: im.Authority.String(), Network: network, Kind: string(im.Kind), AsOf: console.FormatTime(im.AsOf), State: im.State, Reason: im.Reason, DryRun: im.DryRun,
		Rows: im.Rows, Rate: float64(int64(im.Rate())), Added: c.Added, Changed: c.Changed, Unchanged: c.Unchanged, Ended: c.Ended,
		NoEffect: c.NoEffect, Waiting: c.Waiting, Duplicates: c.Duplicates, PortedOut: c.PortedOut, Refused: c.Refused, Voided: im.Voided,
		CreatedAt: console.FormatTime(im.Created), FinishedAt: console.FormatTime(im.Finished),
	}
}

// rows formats the import as a table.
func (s *importJSON) rows() [][]string {
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
		{"waiting", count(s.Waiting)},
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

func (c *commands) importsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "imports", Short: "List imports, newest first", Args: cobra.NoArgs,
		Long:    "Lists the last imports of all senders, newest first, with their progress and the results of their rows.",
		Example: "  lineproof lines imports",
	}
	limit := cmd.Flags().Int("limit", 20, "maximum number of rows")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		list, err := b.Supply.Imports(cmd.Context(), 0, *limit)
		if err != nil {
			return err
		}
		plan, err := numbering.Current(cmd.Context(), b.Pool, time.Now())
		if err != nil {
			return err
		}
		describe := func(im *supply.Import) importJSON { return newImportJSON(plan, im) }
		return console.List(c.Console, *asJSON, list, describe,
			"IMPORT, SENDER, KIND, AS OF, STATE, ROWS, REFUSED, REASON", func(s *importJSON) []any {
				return []any{s.ID, cmp.Or(s.Network, s.Sender), s.Kind, s.AsOf, s.State, s.Rows, s.Refused, s.Reason}
			})
	})
	return cmd
}

func (c *commands) rejectedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "refused IMPORT", Short: "Write the rejected rows of an import as CSV", Args: cobra.ExactArgs(1),
		Long:    "Writes the rejected rows of an import as CSV: the line of the file, the column and the reason.",
		Example: "  lineproof lines refused 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11 >refused.csv",
	}
	cmd.RunE = c.onImport(func(ctx context.Context, b *backend.Backend, id uuid.UUID) error {
		im, err := b.Supply.Import(ctx, id)
		if err != nil {
			return err
		}
		return b.Supply.RefusedRows(ctx, im, c.Out)
	})
	return cmd
}

func (c *commands) confirmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm IMPORT", Short: "Confirm a held import",
		Long: `Requests that an import be applied that was held because it would change too many lines. It is applied when a second
person has confirmed it; while there are neither founders nor two administrators, at once. An import over the API then
continues by itself; one from the command line continues with: lineproof lines import --resume IMPORT FILE`,
		Example: "  lineproof lines confirm 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11 --reason 'The operator merged two systems'",
	}
	reason := reasonFlag(cmd)
	return c.decideCommand(cmd, func(s *supply.Service, ctx context.Context, id uuid.UUID, by audit.Actor) (supply.Import, error) {
		pending, err := (&order.Service{Supply: s}).ConfirmHeld(ctx, order.ImportDecision{Import: id, Reason: *reason, By: by})
		if err == nil {
			err = approval.Waits(pending)
		}
		if err != nil {
			return supply.Import{}, err
		}
		return s.Import(ctx, id)
	})
}

// reasonFlag adds the flag with the reason of what takes two people.
func reasonFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("reason", "", "the reason, as free text; it is recorded, and the second person reads it")
}

func (c *commands) cancelCommand() *cobra.Command {
	return c.decideCommand(&cobra.Command{
		Use: "cancel IMPORT", Short: "Cancel an import that is not finished",
		Long:    "Cancels an import that is held or will not be continued. Rows that were already applied stay.",
		Example: "  lineproof lines cancel 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11",
	}, (*supply.Service).Cancel)
}

func (c *commands) decideCommand(cmd *cobra.Command, decide func(*supply.Service, context.Context, uuid.UUID, audit.Actor) (supply.Import, error)) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = c.onImport(func(ctx context.Context, b *backend.Backend, id uuid.UUID) error {
		im, err := decide(b.Supply, ctx, id, access.Operator)
		if err != nil {
			return err
		}
		plan, err := numbering.Current(ctx, b.Pool, time.Now())
		if err != nil {
			return err
		}
		s := newImportJSON(plan, &im)
		rows := [][]string{{"import", s.ID}, {"state", s.State}}
		if im.State == supply.Voided {
			rows = append(rows, []string{"lines voided", strconv.FormatInt(s.Voided, 10)})
		}
		return c.Print(*asJSON, s, rows...)
	})
	return cmd
}
