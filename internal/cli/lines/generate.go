package lines

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

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// shippedPlan is the value of --plan for the plan included in the program.
const shippedPlan = "shipped"

// generateFlags say what to generate.
type generateFlags struct {
	network, asOf, from, to, plan string
	lines, changes                int64
	digits                        int
	seed                          uint64
	unsorted, gzip, zstd          bool
}

func (c *commands) generateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Generate any number of fictitious lines of a network, for load tests",
		Long: `Writes a supply file with fictitious lines to standard output: the given number of lines, spread over the ranges of the
network in the numbering plan, with a realistic mix of states. The same flags produce the same file every time. No
database is needed and nothing is stored.

With --changes it writes events instead: that many of the same lines change after --from and not later than --to.
Use the same --as-of, --lines and --seed as for the lines.`,
		Example: `  lineproof lines generate --network MTN --lines 1000000 --as-of 2026-11-01 --zstd >mtn.csv.zst
  lineproof lines generate --network MTN --lines 1000000 --as-of 2026-11-01 --changes 50000 --to 2026-11-02 >events.csv`,
		Args: cobra.NoArgs,
	}
	var f generateFlags
	flags := cmd.Flags()
	flags.StringVar(&f.network, "network", "", "code of the network in the numbering plan")
	flags.Int64Var(&f.lines, "lines", 0, "number of lines of the network")
	flags.Uint64Var(&f.seed, "seed", 1, "a different seed generates different lines")
	flags.StringVar(&f.asOf, "as-of", "", "time of the snapshot (default: the start of today, UTC)")
	flags.Int64Var(&f.changes, "changes", 0, "write this many events instead of the lines")
	flags.StringVar(&f.from, "from", "", "with --changes: events take effect after this time (default: --as-of)")
	flags.StringVar(&f.to, "to", "", "with --changes: and not later than this time (default: now)")
	flags.BoolVar(&f.unsorted, "unsorted", false, "with --changes: not sorted by number")
	flags.StringVar(&f.plan, "plan", shippedPlan, "numbering plan: a CSV file, or shipped for the one included in the program")
	flags.IntVar(&f.digits, "digits", 13, "number of digits of a full number, with its country code")
	flags.BoolVar(&f.gzip, "gzip", false, "compress with gzip")
	flags.BoolVar(&f.zstd, "zstd", false, "compress with zstd")
	console.Require(cmd, "network", "lines")
	cmd.MarkFlagsMutuallyExclusive("gzip", "zstd")
	cmd.RunE = c.Run(func(cmd *cobra.Command, _ []string) error { return c.generate(cmd, f) })
	return cmd
}

// generate writes the file.
func (c *commands) generate(cmd *cobra.Command, f generateFlags) error {
	for _, name := range []string{"from", "to", "unsorted"} {
		if cmd.Flags().Changed(name) && !cmd.Flags().Changed("changes") {
			return console.Usagef("--%s can be used only with --changes", name)
		}
	}
	now := time.Now()
	n := linefile.SyntheticNetwork{Seed: f.seed, Lines: f.lines}
	times := map[string]time.Time{"as-of": now.UTC().Truncate(24 * time.Hour), "to": now}
	for name, value := range map[string]string{"as-of": f.asOf, "from": f.from, "to": f.to} {
		at, err := console.ParseTime(name, value)
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
	if n.Plan, err = c.generatorPlan(cmd.Context(), f.plan, f.digits); err != nil {
		return err
	}
	var known bool
	if n.Network, known = n.Plan.Network(f.network); !known {
		return console.Usagef("--network: the plan has no network with this code; it has: %s", networkCodes(n.Plan))
	}
	total := f.lines
	write := n.Snapshot
	if cmd.Flags().Changed("changes") {
		total = f.changes
		write = func(w io.Writer) error { return n.Changes(w, f.changes, times["from"], times["to"], !f.unsorted) }
	}
	return c.stream(cmd.Context(), f, total, write)
}

// generatorPlan returns the included plan of the region, or the plan in a file.
func (c *commands) generatorPlan(ctx context.Context, name string, digits int) (*numbering.Plan, error) {
	if name != shippedPlan {
		in, err := os.Open(name) //nolint:gosec // the user of the command names the file
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
	cfg, err := c.Settings(ctx)
	if err != nil {
		return nil, err
	}
	rows, _, ok := numbering.Shipped(cfg.Region)
	if !ok {
		return nil, console.Usagef("the program includes no plan for the region %s; name one with --plan FILE", cfg.Region)
	}
	return numbering.New(rows, digits)
}

func networkCodes(plan *numbering.Plan) string {
	var codes []string
	for _, n := range plan.Networks() {
		codes = append(codes, plan.Code(n))
	}
	return strings.Join(codes, ", ")
}

// stream sends the output of write to standard output, compressed if requested. It
// shows progress on a terminal, unless the file itself is printed there.
func (c *commands) stream(ctx context.Context, f generateFlags, total int64, write func(io.Writer) error) error {
	out := c.Out
	finish := func() error { return nil }
	switch {
	case f.gzip:
		z := gzip.NewWriter(c.Out)
		out, finish = z, z.Close
	case f.zstd:
		z, err := zstd.NewWriter(c.Out)
		if err != nil {
			return fmt.Errorf("compress: %w", err)
		}
		out, finish = z, z.Close
	}
	w := &rowWriter{ctx: ctx, to: out}
	// Beside rows on the screen a bar is in the way, and so it is where another program reads
	// them: that one shows its own, in the same place.
	if _, interactive := console.Terminal(c.Env.Stderr); interactive && console.IsRegularFile(c.Env.Stdout) {
		bars := mpb.New(mpb.WithOutput(c.Env.Stderr), mpb.WithWidth(40))
		w.bar = bars.AddBar(total+1, // and the header
			mpb.PrependDecorators(decor.CountersNoUnit("%d / %d rows ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
		defer func() { w.bar.Abort(false); bars.Wait() }() // has no effect on a full bar
	}
	if err := write(w); err != nil {
		return err
	}
	return fault.Wrap(finish(), "compress")
}

// rowWriter counts the rows that pass, and stops when the command is interrupted.
type rowWriter struct {
	ctx context.Context // io.Writer has no other way to receive a cancellation
	to  io.Writer
	bar *mpb.Bar // nil without a progress bar
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
