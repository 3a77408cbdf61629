package cli

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// planImport has the flags of an import.
type planImport struct {
	shipped        bool
	effective      time.Time
	source, reason string
	digits         int
}

func (a *app) planImportCommand() *cobra.Command {
	var given planImport
	cmd := &cobra.Command{
		Use:   "import FILE|- | --shipped",
		Short: "Import a file as the next version of the plan",
		Long: `Imports a CSV file as the next version of the numbering plan. Its first line is: prefix,network,name,allocated,withdrawn

  prefix     the first digits of the numbers, with the country code; the longest matching prefix applies
  network    the short code of the network, which stays the same when the network is renamed
  name       the name of the network in answers
  allocated  the first day on which the network holds the range, such as 2001-08-01
  withdrawn  the first day on which it no longer does, or empty

The file is the complete plan: ranges that are not in the file are not in the plan. A file with mistakes changes nothing,
and every mistake is reported with its line. - reads standard input; --shipped uses the plan included in the program.

It takes two people: the plan becomes the next version when a second person has confirmed it, and the exit code is 7. While
there are neither founders nor two administrators, it does at once.`,
		Example: `  lineproof plan import --shipped
  lineproof plan import plan.csv --source 'NCC, numbering plan of June 2026' --effective 2026-07-01`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := cmd.Flags()
	flags.BoolVar(&given.shipped, "shipped", false, "use the plan included in the program for the region")
	console.TimeFlag(cmd, &given.effective, "effective", "when it takes effect, such as 2026-07-01 or 2026-07-01T06:00:00+01:00 (default: now)")
	flags.StringVar(&given.source, "source", "", "source of the plan, as free text (default: the name of the file)")
	flags.StringVar(&given.reason, "reason", "", "the reason, as free text, for the second person (default: the source)")
	flags.IntVar(&given.digits, "digits", 0, "number of digits of a full number, with its country code (default: as in the previous version; 13 in the first)")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, args []string) error {
		if given.shipped == (len(args) == 1) {
			return console.Usagef("name a file, or use the plan included in the program with --shipped")
		}
		if len(args) == 1 && args[0] == "-" && given.source == "" {
			return console.Usagef("give the source of the plan on standard input with --source")
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		rows, source, err := a.planRows(b, given, args)
		if err != nil {
			return err
		}
		plans := &numbering.Service{Pool: b.Pool, Now: time.Now, Digits: given.digits}
		plan, err := plans.Create(cmd.Context(), numbering.Draft{Rows: rows, Source: source, EffectiveAt: given.effective, Reason: given.reason, By: access.Operator})
		if err != nil {
			return err
		}
		s := newPlanJSON(plan, time.Now())
		return a.Print(*asJSON, s, s.rows()...)
	})
	return cmd
}

// planRows returns the rows of the file or of the included plan, and their
// source.
func (a *app) planRows(b *backend.Backend, given planImport, args []string) (rows []numbering.Row, source string, err error) {
	if given.shipped {
		rows, source, ok := numbering.Shipped(b.Config.Region)
		if !ok {
			return nil, "", console.Usagef("the program includes no plan for the region in LINEPROOF_REGION; import a file")
		}
		if given.source != "" {
			source = given.source
		}
		return rows, source, nil
	}
	in, _, err := a.OpenInput(args[0])
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
