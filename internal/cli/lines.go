package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/line"
)

func (a *app) linesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lines",
		Short:   "Load the state of lines",
		Long:    "The state of lines, by which questions are answered. A number that was never loaded is UNKNOWN.",
		Example: "  lineproof lines load lines.csv",
	}
	cmd.AddCommand(a.linesLoadCommand())
	return cmd
}

func (a *app) linesLoadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load FILE",
		Short: "Load lines from a CSV file; - is standard input",
		Long: `Loads lines from a CSV file whose first row is: number,network,status

Rows that change nothing are not written. A row that is wrong ends the load with its place in the file; the
rows before it may be stored already, and loading the corrected file again is safe.`,
		Example: `  lineproof lines load lines.csv
  zcat lines.csv.gz | lineproof lines load -`,
		Args: cobra.ExactArgs(1),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		read, changed, err := a.load(cmd.Context(), p, args[0])
		if err != nil {
			if read > 0 {
				a.note("%d rows were loaded before that.", read)
			}
			return err
		}
		return a.print(*asJSON, map[string]int64{"read": read, "changed": changed},
			[]string{"read", strconv.FormatInt(read, 10)}, []string{"changed", strconv.FormatInt(changed, 10)})
	})
	return cmd
}

// load stores the file's rows and returns how many were read and changed.
func (a *app) load(ctx context.Context, p *parts, file string) (read, changed int64, err error) {
	in, size, err := a.openInput(file)
	if err != nil {
		return 0, 0, fmt.Errorf("open the file: %w", err)
	}
	defer func() { _ = in.Close() }() // nothing was written
	progress := a.newProgress(size)
	defer progress.end()
	err = line.ReadCSV(progress.reader(in), p.region, func(records []line.Record) error {
		n, err := p.lines.Store(ctx, records)
		if err != nil {
			return err
		}
		read += int64(len(records))
		changed += n
		progress.stored(read)
		return nil
	})
	return read, changed, err
}
