package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
)

func (r *remote) linesSendCommand() *cobra.Command {
	var f client.LinesFile
	var asOf string
	cmd := &cobra.Command{
		Use:   "send FILE",
		Short: "Send a file of lines or events; - is standard input",
		Long: `Sends a supply file of the client's network, a snapshot of all its lines or events, plain or compressed with gzip
or zstd, and prints the import that the service makes of it. The service works on it afterwards; see how far it is
with "lineproof api lines import".`,
		Example: `  lineproof api lines send --kind snapshot --as-of 2026-11-01 lines.csv.gz
  lineproof api lines send --kind events --dry-run events.csv`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Kind, "kind", "", "snapshot or events")
	flags.StringVar(&asOf, "as-of", "", "the time of which a snapshot speaks; of events: up to when the supply is complete")
	flags.BoolVar(&f.DryRun, "dry-run", false, "only say what would happen")
	flags.StringVar(&f.IdempotencyKey, "idempotency-key", "", "names this file, so that sending it again creates nothing")
	required(cmd, "kind")
	completes(cmd, "kind", client.ImportSnapshot, client.ImportEvents)
	asJSON := jsonFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) (err error) {
		if f.AsOf, err = timeFlag("as-of", asOf); err != nil {
			return err
		}
		in, _, err := r.app.openInput(args[0])
		if err != nil {
			return fmt.Errorf("open the file: %w", err)
		}
		defer func() { _ = in.Close() }() // nothing was written
		f.Content = in
		im, err := c.SendLines(ctx, token, f)
		if err != nil {
			return err
		}
		return r.app.print(*asJSON, im, []string{"import", im.ID}, []string{"state", im.State})
	})
	return cmd
}

func (r *remote) linesImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import IMPORT", Short: "Show how far an import is", Args: cobra.ExactArgs(1),
		Long:    "Shows how far an import is and what became of its rows.",
		Example: "  lineproof api lines import 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	asJSON := jsonFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		im, err := c.Import(ctx, token, args[0])
		if err != nil {
			return err
		}
		count := func(n int64) string { return strconv.FormatInt(n, 10) }
		rows := [][]string{
			{"import", im.ID},
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
			{"ported out", count(im.PortedOut)},
			{"refused", count(im.Refused)},
		}
		if im.Reason != "" {
			rows = append(rows, []string{"reason", im.Reason})
		}
		return r.app.print(*asJSON, im, rows...)
	})
	return cmd
}

func (r *remote) linesImportsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "imports", Short: "List imports, newest first", Args: cobra.NoArgs,
		Long:    "Lists the last 50 imports, newest first: those of the client's network, or of all networks with a session of staff.",
		Example: "  lineproof api lines imports",
	}
	asJSON := jsonFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, _ []string) error {
		list, err := c.Imports(ctx, token)
		if err != nil {
			return err
		}
		rows := [][]string{{"IMPORT", "NETWORK", "KIND", "AS OF", "STATE", "ROWS", "REFUSED"}}
		for _, im := range list {
			rows = append(rows, []string{
				im.ID, im.Network, im.Kind, moment(im.AsOf), im.State, strconv.FormatInt(im.Rows, 10), strconv.FormatInt(im.Refused, 10),
			})
		}
		return r.app.print(*asJSON, list, rows...)
	})
	return cmd
}

func (r *remote) linesRefusedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "refused IMPORT", Short: "Write the refused rows of an import as CSV", Args: cobra.ExactArgs(1),
		Long:    "Writes the rows of an import that were refused as CSV: the line of the file, the column and the reason.",
		Example: "  lineproof api lines refused 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 >refused.csv",
	}
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		return c.RefusedRows(ctx, token, args[0], r.app.out)
	})
	return cmd
}
