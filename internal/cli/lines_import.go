package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/supply"
)

// importFlags are what an import is told.
type importFlags struct {
	network, kind, asOf, resume string
	dryRun                      bool
}

func (a *app) linesImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Take in a file of lines or events; - is standard input",
		Long: `Takes in a supply file of a network: a snapshot of all its lines, or events. The file is CSV, plain or
compressed with gzip or zstd; docs/reference/supply-files.md describes both forms.

A file is read twice: first all of it is checked, so that a broken one changes nothing, then it is applied in
chunks. What is interrupted goes on with --resume and the same file. Standard input can be read only once; it is
applied as it is read.

A snapshot that would change too many lines is held until "lineproof lines confirm". The exit code is 5 when the
file was refused, and 6 when it is held or some of its rows were refused.`,
		Example: `  lineproof lines import --network MTN --kind snapshot --as-of 2026-11-01 mtn.csv.gz
  lineproof lines import --network MTN --kind events --dry-run events.csv
  lineproof lines import --resume 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11 mtn.csv.gz`,
		Args: cobra.ExactArgs(1),
	}
	var f importFlags
	flags := cmd.Flags()
	flags.StringVar(&f.network, "network", "", "the network whose lines they are, by its code on the numbering plan")
	flags.StringVar(&f.kind, "kind", "", "snapshot or events")
	flags.StringVar(&f.asOf, "as-of", "", "the time of which a snapshot speaks; of events: up to when the supply is complete")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only say what would happen")
	flags.StringVar(&f.resume, "resume", "", "go on with an import that was interrupted or confirmed")
	completes(cmd, "kind", string(linefile.Snapshot), string(linefile.Events))
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
		return a.takeIn(cmd, p, f, args[0], *asJSON)
	})
	return cmd
}

// takeIn begins or resumes an import, and says how it ended.
func (a *app) takeIn(cmd *cobra.Command, p *parts, f importFlags, file string, asJSON bool) error {
	ctx := cmd.Context()
	if file != "-" { // a file that is not there must not leave an import behind
		in, _, err := a.openInput(file)
		if err != nil {
			return fmt.Errorf("open the file: %w", err)
		}
		_ = in.Close() // nothing was written
	}
	im, err := a.importMeant(ctx, p, f, file)
	if err != nil {
		return err
	}
	src := &fileSource{app: a, name: file}
	defer src.end()
	im, err = p.desk.Run(ctx, im.ID, supply.Source{Open: src.open, Once: file == "-"}, src.watch)
	src.end()
	if err != nil {
		if im.Open() {
			a.note("The import is not finished. Go on with: lineproof lines import --resume %s %s", im.ID, file)
		}
		return err
	}
	plan, err := planOf(ctx, p, cmd, 0)
	if err != nil {
		return err
	}
	s := showImport(plan.Code(im.Network), &im)
	if err := a.print(asJSON, s, s.rows()...); err != nil {
		return err
	}
	switch {
	case im.State == supply.Rejected:
		return errRefusedFile
	case im.State == supply.Held:
		a.note("It waits to be confirmed: lineproof lines confirm %s, and then: lineproof lines import --resume %s %s", im.ID, im.ID, file)
		return errTrouble
	case im.Counts.Refused > 0:
		a.note("Rows were refused; see which: lineproof lines refused %s", im.ID)
		return errTrouble
	}
	return nil
}

// importMeant returns the import to go on with, or a new one.
func (a *app) importMeant(ctx context.Context, p *parts, f importFlags, file string) (supply.Import, error) {
	if f.resume != "" {
		id, err := importID(f.resume)
		if err != nil {
			return supply.Import{}, err
		}
		im, err := p.desk.Import(ctx, id)
		if err == nil && !im.Open() {
			return im, usagef("this import is over; it is %s", im.State)
		}
		return im, err
	}
	if f.network == "" || f.kind == "" {
		return supply.Import{}, usagef("say which network the file is of and what it holds: --network CODE --kind snapshot|events")
	}
	asOf, err := timeFlag("as-of", f.asOf)
	if err != nil {
		return supply.Import{}, err
	}
	form := supply.ImportForm{Kind: linefile.Kind(f.kind), AsOf: asOf, DryRun: f.dryRun, Once: file == "-"}
	return p.desk.Begin(ctx, operatorFor(f.network), form, "cli")
}

// errRefusedFile ends an import whose file is of no use; the reason is printed.
var errRefusedFile = &refusedFile{}

type refusedFile struct{}

func (*refusedFile) Error() string { return "the file was refused; see above why" }

// fileSource opens the file each time that it is read, with a display of its own.
type fileSource struct {
	app     *app
	name    string
	display *progress
}

func (s *fileSource) open() (io.ReadCloser, error) {
	in, size, err := s.app.openInput(s.name)
	if err != nil {
		return nil, fmt.Errorf("open the file: %w", err)
	}
	s.end()
	s.display = s.app.newProgress(size)
	return &readCloser{s.display.reader(in), in}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

func (s *fileSource) watch(im supply.Import) {
	if s.display != nil {
		s.display.rows(im.State, im.Rows)
	}
}

func (s *fileSource) end() {
	if s.display != nil {
		s.display.end()
		s.display = nil
	}
}
