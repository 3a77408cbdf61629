// Package evidence has the commands that keep and check what proves answers: the audit trail,
// the public log, feeds and receipts.
package evidence

import (
	"context"
	"encoding/hex"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// findingJSON is an hour that was changed, as printed with --json.
type findingJSON struct {
	Hour string `json:"hour"`
	What string `json:"what"`
}

// CheckCommand returns the command "audit check".
func CheckCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that no entry of the audit trail was changed, deleted or added later",
		Long: `The service chains the audit trail by the hour: for every hour that is over it stores the number of the entries and a hash
over them and over the hash of the hour before. This command computes the chain again and compares. Entries that are
younger than the chain are not checked; the service chains an hour within about ten minutes of its end.

It prints the newest hash. Keep it at another place, and give it to a later check with --known: the owner of the database
could compute the whole chain anew, and only a hash that is kept elsewhere shows that. The exit code is 6 when a problem
was found.`,
		Example: `  lineproof audit check
  lineproof audit check --known 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		Args: cobra.NoArgs,
	}
	known := cmd.Flags().StringArray("known", nil, "a hash that an earlier check printed, which must still be in the chain; may be repeated")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		hashes := make([]audit.ChainHash, len(*known))
		for i, text := range *known {
			if n, err := hex.Decode(hashes[i][:], []byte(text)); err != nil || n != len(hashes[i]) || len(text) != hex.EncodedLen(n) {
				return console.Usagef("--known must be a hash that lineproof audit check printed: 64 hexadecimal digits")
			}
		}
		return withReader(cmd.Context(), con, func(_ *backend.Backend, reader *pgxpool.Pool) error {
			r, err := audit.CheckChain(cmd.Context(), reader, hashes...)
			if err != nil {
				return err
			}
			if err := printReport(con, *asJSON, &r); err != nil {
				return err
			}
			if len(r.Found) > 0 {
				return console.ErrProblems
			}
			return nil
		})
	})
	return cmd
}

// withReader calls do with the backend and the database that checks read.
func withReader(ctx context.Context, con *console.Console, do func(b *backend.Backend, reader *pgxpool.Pool) error) error {
	b, err := backend.Open(ctx, con)
	if err != nil {
		return err
	}
	defer b.Close()
	reader, closeReader, err := b.Reader(ctx)
	if err != nil {
		return err
	}
	defer closeReader()
	return do(b, reader)
}

func printReport(con *console.Console, asJSON bool, r *audit.ChainReport) error {
	through, hash := "", ""
	if r.Hours > 0 {
		through, hash = console.FormatTime(r.Through), hex.EncodeToString(r.Hash[:])
	}
	rows := [][]string{
		{"hours", strconv.FormatInt(r.Hours, 10)},
		{"entries", strconv.FormatInt(r.Entries, 10)},
		{"chained through", through},
		{"hash", hash},
		{"findings", strconv.Itoa(len(r.Found))},
	}
	found := make([]findingJSON, len(r.Found))
	for i, f := range r.Found {
		found[i] = findingJSON{console.FormatTime(f.Hour), f.What}
		rows = append(rows, []string{found[i].Hour, f.What})
	}
	return con.Print(asJSON, map[string]any{"hours": r.Hours, "entries": r.Entries, "chainedThrough": through, "hash": hash, "findings": len(found), "found": found}, rows...)
}
