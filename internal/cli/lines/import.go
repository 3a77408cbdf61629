package lines

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// importFlags are the flags of an import.
type importFlags struct {
	network, kind, asOf, resume string
	dryRun, house, regulator    bool
}

func (c *commands) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Import a file of lines or events; - is standard input",
		Long: `Imports a supply file: of a network, a snapshot of all its lines, or events; of the clearing house, its base of all
ports, or events; of the regulator, orders, as events. The base and orders are always held. The file is CSV, plain or compressed
with gzip or zstd; docs/reference/supply-files.md describes both formats.

A file is read twice: it is first checked as a whole, so that a broken file changes nothing, and then applied in
chunks. Continue an interrupted import with --resume and the same file. Standard input can be read only once, so it
is applied while it is read.

A snapshot that would change too many lines is held until "lineproof lines confirm". The exit code is 5 when the
file was rejected, and 6 when it is held or some of its rows were rejected.`,
		Example: `  lineproof lines import --network MTN --kind snapshot --as-of 2026-11-01 mtn.csv.gz
  lineproof lines import --network MTN --kind events --dry-run events.csv
  lineproof lines import --resume 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11 mtn.csv.gz`,
		Args: cobra.ExactArgs(1),
	}
	var f importFlags
	flags := cmd.Flags()
	flags.StringVar(&f.network, "network", "", "network that the lines belong to: its code in the numbering plan")
	flags.BoolVar(&f.house, "clearing-house", false, "the file is of the clearing house: events, or as a snapshot its base of all ports")
	flags.BoolVar(&f.regulator, "regulator", false, "the file has orders of the regulator, as events")
	flags.StringVar(&f.kind, "kind", "", "snapshot or events")
	flags.StringVar(&f.asOf, "as-of", "", "time of the snapshot; for events: the time up to which the supply is complete; a day means its end")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only report what would change")
	flags.StringVar(&f.resume, "resume", "", "id of an interrupted or confirmed import to continue")
	console.Complete(cmd, "kind", string(linefile.Snapshot), string(linefile.Events))
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		return c.importFile(cmd, b, f, args[0], *asJSON)
	})
	return cmd
}

// importFile starts or resumes an import, and prints the result.
func (c *commands) importFile(cmd *cobra.Command, b *backend.Backend, f importFlags, file string, asJSON bool) error {
	ctx := cmd.Context()
	if file != "-" { // a missing file must not leave an import behind
		in, _, err := c.OpenInput(file)
		if err != nil {
			return fmt.Errorf("open the file: %w", err)
		}
		_ = in.Close() // nothing was written
	}
	im, err := c.startOrResume(ctx, b, f, file)
	if err != nil {
		return err
	}
	src := &fileSource{console: c.Console, name: file}
	defer src.end()
	im, err = b.Supply.Run(ctx, im.ID, supply.Source{Open: src.open}, src.watch)
	src.end()
	if err != nil {
		if im.Open() {
			c.Note("The import is not finished. Continue with: lineproof lines import --resume %s %s", im.ID, file)
		}
		return err
	}
	plan, err := numbering.Current(ctx, b.Pool, time.Now())
	if err != nil {
		return err
	}
	s := newImportJSON(plan, &im)
	if err := c.Print(asJSON, s, s.rows()...); err != nil {
		return err
	}
	switch {
	case im.State == supply.Rejected:
		return console.ErrFileRejected
	case im.State == supply.Held:
		c.Note("The import is held. Confirm it with: lineproof lines confirm %s, then continue with: lineproof lines import --resume %s %s", im.ID, im.ID, file)
		return console.ErrProblems
	case im.Counts.Refused > 0:
		c.Note("Some rows were rejected. List them with: lineproof lines refused %s", im.ID)
		return console.ErrProblems
	}
	return nil
}

// startOrResume returns the import to continue, or creates a new one.
func (c *commands) startOrResume(ctx context.Context, b *backend.Backend, f importFlags, file string) (supply.Import, error) {
	if f.resume != "" {
		id, err := parseImportID(f.resume)
		if err != nil {
			return supply.Import{}, err
		}
		im, err := b.Supply.Import(ctx, id)
		if err == nil && !im.Open() {
			return im, console.Usagef("this import is finished; its state is %s", im.State)
		}
		return im, err
	}
	from, other := backend.OtherSupplier(f.house, f.regulator)
	if !other {
		from = backend.OperatorSupplier(f.network)
	}
	if other == (f.network != "") || f.house && f.regulator || f.kind == "" {
		return supply.Import{}, console.Usagef("name the sender and the kind of the file: --network CODE, --clearing-house or --regulator, and --kind snapshot|events")
	}
	asOf, err := console.ParseTime("as-of", f.asOf)
	if err != nil {
		return supply.Import{}, err
	}
	form := supply.ImportForm{Kind: linefile.Kind(f.kind), AsOf: asOf, DryRun: f.dryRun, Once: file == "-"}
	if len(f.asOf) == len(time.DateOnly) {
		form.AsOf, form.Day = time.Time{}, f.asOf
	}
	return b.Supply.Begin(ctx, from, form, "cli")
}

// fileSource opens the file for each pass over it, with a new progress display.
type fileSource struct {
	console *console.Console
	name    string
	display *console.Progress
}

func (s *fileSource) open() (io.ReadCloser, error) {
	in, size, err := s.console.OpenInput(s.name)
	if err != nil {
		return nil, fmt.Errorf("open the file: %w", err)
	}
	s.end()
	s.display = s.console.NewProgress(size)
	return &readCloser{s.display.Reader(in), in}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

func (s *fileSource) watch(im supply.Import) {
	if s.display != nil {
		s.display.Rows(im.State, im.Rows)
	}
}

func (s *fileSource) end() {
	if s.display != nil {
		s.display.End()
		s.display = nil
	}
}
