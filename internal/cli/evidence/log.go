package evidence

import (
	"encoding/hex"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/server"
)

// LogCommand returns the command "log".
func LogCommand(con *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "log",
		Short: "Check, rebuild and recover the public log, and create its key",
		Long: `The public log is an append-only list with an entry for every batch of the journal. LINEPROOF_LOG_ORIGIN turns it on.
An entry has a time, a count and a hash, and says nothing about a person, an organisation or a number.`,
		Example: "  lineproof log check",
	}, logCheckCommand(con), logKeyCommand(con), logRebuildCommand(con), logRecoverCommand(con))
}

func logCheckCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that the public log has every batch of the journal, once, and nothing else",
		Long: `Reads the log from its beginning: its entries have no gap, their tree has the roots of all checkpoints, every batch of
the journal that the database still has is in it, and nothing else. Entries about archived batches are read from the archives. A batch that was written within the last minute
may still be missing. The service may be running. The exit code is 6 when a problem was found.`,
		Example: "  lineproof log check",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		return withReader(cmd.Context(), con, func(b *backend.Backend, reader *pgxpool.Pool) (err error) {
			archive, err := server.OpenStore(b.Config, server.JournalStore)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, archive.Close()) }()
			r, err := publiclog.Check(cmd.Context(), reader, archive)
			if err != nil {
				return err
			}
			return printChecked(con, *asJSON, &r)
		})
	})
	return cmd
}

func printChecked(con *console.Console, asJSON bool, r *publiclog.Report) error {
	root := hex.EncodeToString(r.Root[:])
	rows := [][]string{
		{"origin", r.Origin},
		{"since", console.FormatTime(r.Began)},
		{"entries", strconv.FormatInt(r.Size, 10)},
		{"checkpoints", strconv.FormatInt(r.Checkpoints, 10)},
		{"root", root},
		{"findings", strconv.Itoa(len(r.Found))},
	}
	for _, what := range r.Found {
		rows = append(rows, []string{"", what})
	}
	err := con.Print(asJSON, map[string]any{
		"origin": r.Origin, "since": console.FormatTime(r.Began), "entries": r.Size, "checkpoints": r.Checkpoints, "root": root, "findings": len(r.Found), "found": r.Found,
	}, rows...)
	if err == nil && len(r.Found) > 0 {
		return console.ErrProblems
	}
	return err
}
