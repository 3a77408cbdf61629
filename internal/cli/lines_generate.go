package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/numbering"
)

// shippedPlan is the value of --plan for the plan that comes with the program.
const shippedPlan = "shipped"

// generateFlags are what is to be generated.
type generateFlags struct {
	network, asOf, from, to, plan string
	lines, changes                int64
	digits                        int
	seed                          uint64
	unsorted, gzip, zstd          bool
}

func (a *app) linesGenerateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make up the lines of a network, of any number, to try the scale",
		Long: `Writes a supply file of a network that does not exist to standard output: as many lines as you ask for, spread
over the ranges of the network on the numbering plan, with the mix of states that a nation has. The same flags
make the same file every time. No database is needed and nothing is stored.

With --changes it writes events instead: that many of the same lines change after --from and not later than --to.
Give the --as-of, --lines and --seed with which the lines were made.`,
		Example: `  lineproof lines generate --network MTN --lines 1000000 --as-of 2026-11-01 --zstd >mtn.csv.zst
  lineproof lines generate --network MTN --lines 1000000 --as-of 2026-11-01 --changes 50000 --to 2026-11-02 >events.csv`,
		Args: cobra.NoArgs,
	}
	var f generateFlags
	flags := cmd.Flags()
	flags.StringVar(&f.network, "network", "", "the network, by its code on the numbering plan")
	flags.Int64Var(&f.lines, "lines", 0, "how many lines the network has")
	flags.Uint64Var(&f.seed, "seed", 1, "another number makes other lines")
	flags.StringVar(&f.asOf, "as-of", "", "the time at which the lines stand as they do (default: the begin of today, UTC)")
	flags.Int64Var(&f.changes, "changes", 0, "write events about so many of the lines instead of the lines")
	flags.StringVar(&f.from, "from", "", "with --changes: they take effect after this time (default: --as-of)")
	flags.StringVar(&f.to, "to", "", "with --changes: and not later than this (default: now)")
	flags.BoolVar(&f.unsorted, "unsorted", false, "with --changes: not in the order of the numbers")
	flags.StringVar(&f.plan, "plan", shippedPlan, "the numbering plan: a CSV file, or shipped for the one that comes with the program")
	flags.IntVar(&f.digits, "digits", 13, "how many digits a whole number of the plan has, with its country code")
	flags.BoolVar(&f.gzip, "gzip", false, "compress with gzip")
	flags.BoolVar(&f.zstd, "zstd", false, "compress with zstd")
	required(cmd, "network", "lines")
	cmd.MarkFlagsMutuallyExclusive("gzip", "zstd")
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error { return a.generate(cmd, f) })
	return cmd
}

// generate writes the file.
func (a *app) generate(cmd *cobra.Command, f generateFlags) error {
	for _, name := range []string{"from", "to", "unsorted"} {
		if cmd.Flags().Changed(name) && !cmd.Flags().Changed("changes") {
			return usagef("--%s goes with --changes", name)
		}
	}
	now := time.Now()
	n := linefile.Nation{Seed: f.seed, Lines: f.lines}
	times := map[string]time.Time{"as-of": now.UTC().Truncate(24 * time.Hour), "to": now}
	for name, value := range map[string]string{"as-of": f.asOf, "from": f.from, "to": f.to} {
		at, err := timeFlag(name, value)
		if err != nil {
			return err
		}
		if value != "" {
			times[name] = at
		}
	}
	if n.AsOf = times["as-of"]; f.from == "" {
		times["from"] = n.AsOf
	}
	var err error
	if n.Plan, err = a.generatorPlan(cmd.Context(), f.plan, f.digits); err != nil {
		return err
	}
	var known bool
	if n.Network, known = n.Plan.Network(f.network); !known {
		return usagef("--network: the plan has no network of that code; it has: %s", codesOf(n.Plan))
	}
	total := f.lines
	write := n.Snapshot
	if cmd.Flags().Changed("changes") {
		total = f.changes
		write = func(w io.Writer) error { return n.Changes(w, f.changes, times["from"], times["to"], !f.unsorted) }
	}
	return a.stream(cmd.Context(), f, total, write)
}

// generatorPlan returns the plan that ships for the region, or that of a file.
func (a *app) generatorPlan(ctx context.Context, name string, digits int) (*numbering.Plan, error) {
	if name != shippedPlan {
		in, err := os.Open(name) //nolint:gosec // whoever runs the command names the file
		if err != nil {
			return nil, fmt.Errorf("open the plan: %w", err)
		}
		defer func() { _ = in.Close() }() // nothing was written
		rows, err := numbering.ReadCSV(in)
		if err != nil {
			return nil, err
		}
		return numbering.New(rows, digits)
	}
	cfg, err := a.settings(ctx)
	if err != nil {
		return nil, err
	}
	rows, _, ok := numbering.Shipped(cfg.Region)
	if !ok {
		return nil, usagef("no plan ships for the region %s; name one with --plan FILE", cfg.Region)
	}
	return numbering.New(rows, digits)
}

func codesOf(plan *numbering.Plan) string {
	var codes []string
	for _, n := range plan.Networks() {
		codes = append(codes, plan.Code(n))
	}
	return strings.Join(codes, ", ")
}

// stream sends what write writes to standard output, compressed if that was asked
// for. Whoever watches sees how far it is, unless the file itself is on the screen.
func (a *app) stream(ctx context.Context, f generateFlags, total int64, write func(io.Writer) error) error {
	var out io.Writer = a.out
	finish := func() error { return nil }
	switch {
	case f.gzip:
		z := gzip.NewWriter(a.out)
		out, finish = z, z.Close
	case f.zstd:
		z, err := zstd.NewWriter(a.out)
		if err != nil {
			return fmt.Errorf("compress: %w", err)
		}
		out, finish = z, z.Close
	}
	w := &rowWriter{ctx: ctx, to: out}
	_, shown := terminal(a.env.Stdout)
	if _, person := terminal(a.env.Stderr); person && !shown {
		bars := mpb.New(mpb.WithOutput(a.env.Stderr), mpb.WithWidth(40))
		w.bar = bars.AddBar(total+1, // and the header
			mpb.PrependDecorators(decor.CountersNoUnit("%d / %d rows ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
		defer func() { w.bar.Abort(false); bars.Wait() }() // does nothing to a bar that is full
	}
	if err := write(w); err != nil {
		return err
	}
	if err := finish(); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	return nil
}

// rowWriter counts rows on their way, and stops when the command is interrupted.
type rowWriter struct {
	ctx context.Context // a writer has no other way to hear of an interruption
	to  io.Writer
	bar *mpb.Bar // nil when nobody watches
}

// Write implements [io.Writer].
func (w *rowWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.to.Write(p)
	if w.bar != nil {
		w.bar.IncrBy(bytes.Count(p[:n], []byte{'\n'}))
	}
	return n, err
}
