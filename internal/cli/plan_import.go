package cli

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/numbering"
)

// planImport is what is given with a plan.
type planImport struct {
	shipped           bool
	effective, source string
	digits            int
}

func (a *app) planImportCommand() *cobra.Command {
	var given planImport
	cmd := &cobra.Command{
		Use:   "import FILE|- | --shipped",
		Short: "Make a file the next version of the plan",
		Long: `Makes a CSV file the next version of the numbering plan. Its first line is: prefix,network,name,allocated,withdrawn

  prefix     the first digits of the numbers, from the country code on; the longest that fits a number counts
  network    the short code of the network, which stays the same when the network is renamed
  name       what the network is called in answers
  allocated  the first day on which the network holds the range, such as 2001-08-01
  withdrawn  the first day on which it no longer does, or nothing

The file is the whole plan: what is not in it is not on the plan. A file that is wrong changes nothing, and every
mistake is named with its line. - reads standard input; --shipped takes the plan that comes with the program.`,
		Example: `  lineproof plan import --shipped
  lineproof plan import plan.csv --source 'NCC, numbering plan of June 2026' --effective 2026-07-01`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := cmd.Flags()
	flags.BoolVar(&given.shipped, "shipped", false, "take the plan that comes with the program for the region")
	flags.StringVar(&given.effective, "effective", "", "when it takes effect, such as 2026-07-01 or 2026-07-01T06:00:00+01:00 (default: now)")
	flags.StringVar(&given.source, "source", "", "where the plan comes from, in words (default: the name of the file)")
	flags.IntVar(&given.digits, "digits", 0, "how many digits a number has, with its country code (default: as in the version before; 13 in the first)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if given.shipped == (len(args) == 1) {
			return usagef("name a file, or take the plan that comes with the program with --shipped")
		}
		if len(args) == 1 && args[0] == "-" && given.source == "" {
			return usagef("say with --source where the plan on standard input comes from")
		}
		at, err := timeFlag("effective", given.effective)
		if err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		rows, source, err := a.planRows(p, given, args)
		if err != nil {
			return err
		}
		book := &numbering.Book{Pool: p.pool, Now: time.Now, Digits: given.digits}
		plan, err := book.Set(cmd.Context(), rows, source, at)
		if err != nil {
			return err
		}
		s := shownPlanOf(plan, time.Now())
		return a.print(*asJSON, s, s.rows()...)
	})
	return cmd
}

// planRows returns the rows of the file, or of the plan that ships, and where
// they come from.
func (a *app) planRows(p *parts, given planImport, args []string) (rows []numbering.Row, source string, err error) {
	if given.shipped {
		rows, source, ok := numbering.Shipped(p.cfg.Region)
		if !ok {
			return nil, "", usagef("no plan comes with the program for the region in LINEPROOF_REGION; import a file")
		}
		if given.source != "" {
			source = given.source
		}
		return rows, source, nil
	}
	in, _, err := a.openInput(args[0])
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = in.Close() }() // nothing was written
	if source = given.source; source == "" {
		source = filepath.Base(args[0])
	}
	rows, err = numbering.ReadCSV(in)
	return rows, source, err
}
