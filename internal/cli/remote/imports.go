package remote

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

func (r *remote) linesSendCommand() *cobra.Command {
	var f client.LinesFile
	var asOf string
	var wait bool
	cmd := &cobra.Command{
		Use:   "send FILE",
		Short: "Send a file of lines or events; - is standard input",
		Long: `Sends a supply file, plain or compressed with gzip or zstd: an operator's snapshot of all its lines, the clearing
house's base of all ports, or events of any supplier, and prints the id and state of the import. The service processes it in the background; see its progress with
"lineproof api lines import". With --wait the command shows the progress and ends when the import has ended or is held;
the exit code is 6 if it is held, was rejected or has rejected rows.`,
		Example: `  lineproof api lines send --kind snapshot --as-of 2026-11-01 --wait lines.csv.gz
  lineproof api lines send --kind events --dry-run events.csv`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Kind, "kind", "", "snapshot or events")
	flags.StringVar(&asOf, "as-of", "", "time of the snapshot; for events: the time up to which the supply is complete; a day means its end")
	flags.BoolVar(&f.DryRun, "dry-run", false, "only report what would change")
	flags.StringVar(&f.IdempotencyKey, "idempotency-key", "", "identifies this file, so that a retry does not import it twice")
	flags.BoolVar(&wait, "wait", false, "wait until the import has ended or is held")
	console.Require(cmd, "kind")
	console.Complete(cmd, "kind", client.ImportSnapshot, client.ImportEvents)
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) (err error) {
		if f.AsOf, err = console.ParseTime("as-of", asOf); err != nil {
			return err
		}
		f.Day = len(asOf) == len(time.DateOnly)
		content, sent, err := r.OpenUpload(args[0])
		if err != nil {
			return err
		}
		defer sent()
		f.Content = content
		im, err := c.SendLines(ctx, token, f)
		if err != nil {
			return err
		}
		sent()
		if !wait {
			return r.Print(*asJSON, im, []string{"import", im.ID}, []string{"state", im.State})
		}
		r.Note("import %s", im.ID) // so that it can be looked at if this command is stopped
		if im, err = r.waitForImport(ctx, c, token, im.ID); err != nil {
			return err
		}
		if err := r.printImport(*asJSON, im); err != nil {
			return err
		}
		return importResult(im)
	})
	return cmd
}

func (r *remote) linesImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import IMPORT", Short: "Show the progress of an import", Args: cobra.ExactArgs(1),
		Long:    "Shows the progress of an import and the results of its rows.",
		Example: "  lineproof api lines import 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		im, err := c.Import(ctx, token, args[0])
		if err != nil {
			return err
		}
		return r.printImport(*asJSON, im)
	})
	return cmd
}

func (r *remote) printImport(asJSON bool, im *client.LineImport) error {
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"import", im.ID},
		{"sender", im.Sender},
		{"network", im.Network},
		{"kind", im.Kind},
		{"state", im.State},
		{"rows", count(im.Rows)},
		{"rows per second", count(im.Rate)},
		{"added", count(im.Added)},
		{"changed", count(im.Changed)},
		{"unchanged", count(im.Unchanged)},
		{"ended", count(im.Ended)},
		{"duplicates", count(im.Duplicates)},
		{"no effect", count(im.NoEffect)},
		{"waiting", count(im.Waiting)},
		{"ported out", count(im.PortedOut)},
		{"rejected", count(im.Refused)},
	}
	if im.Reason != "" {
		rows = append(rows, []string{"reason", im.Reason})
	}
	return r.Print(asJSON, im, rows...)
}

func (r *remote) linesImportsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "imports", Short: "List imports, newest first", Args: cobra.NoArgs,
		Long:    "Lists the last 50 imports, newest first: those of the client, or with a session of staff those of all senders.",
		Example: "  lineproof api lines imports",
	}
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, _ []string) error {
		list, err := c.Imports(ctx, token)
		if err != nil {
			return err
		}
		return console.List(r.Console, *asJSON, list, console.AsIs,
			"IMPORT, SENDER, KIND, AS OF, STATE, ROWS, REFUSED", func(im *client.LineImport) []any {
				return []any{im.ID, cmp.Or(im.Network, im.Sender), im.Kind, console.FormatTime(im.AsOf), im.State, im.Rows, im.Refused}
			})
	})
	return cmd
}

func (r *remote) linesCancelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel IMPORT", Short: "Cancel your own import that is checked or held", Args: cobra.ExactArgs(1),
		Long: `Cancels an import of your own that is being checked or is held. Nothing of it is applied, and another file can be sent. One that is
being applied can be cancelled by the regulator's staff only.`,
		Example: "  lineproof api lines cancel 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		im, err := c.CancelImport(ctx, token, args[0])
		if err != nil {
			return err
		}
		return r.Print(*asJSON, im, []string{"import", im.ID}, []string{"state", im.State}, []string{"reason", im.Reason})
	})
	return cmd
}

func (r *remote) linesRejectedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "refused IMPORT", Short: "Write the rejected rows of an import as CSV", Args: cobra.ExactArgs(1),
		Long:    "Writes the rejected rows of an import as CSV: the line of the file, the column and the reason.",
		Example: "  lineproof api lines refused 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 >refused.csv",
	}
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		return c.RefusedRows(ctx, token, args[0], r.Out)
	})
	return cmd
}

func (r *remote) linesReceiptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "receipt IMPORT", Short: "Write the receipt of an applied file", Args: cobra.ExactArgs(1),
		Long: `Writes the receipt of a file: the proof that the service applied it, with its SHA-256, its rows and the time. Keep it. Only your
network gets it, and anybody to whom you give it can verify it with "lineproof receipt verify", without this service. A file has a
receipt about a second after its import is applied.`,
		Example: "  lineproof api lines receipt 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 >receipt.json",
	}
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		return c.ImportReceipt(ctx, token, args[0], r.Out)
	})
	return cmd
}
