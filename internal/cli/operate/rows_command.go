// This part of the package has the commands about rows that decide access.

package operate

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// RowsCommand returns the command "rows".
func RowsCommand(con *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "rows",
		Short: "Check and accept rows that decide access",
		Long: `Rows that decide access, such as accounts and sessions, carry an HMAC under a key that is derived from the pepper and is not
in the database. The service does not accept a row whose HMAC is wrong or missing: somebody else wrote it. A row that somebody
wrote back as it once was has the HMAC of then; the record of what was last signed of it shows that.`,
		Example: "  lineproof rows check",
	}, rowsCheckCommand(con), rowsAcceptCommand(con), rowsPruneCommand(con))
}

// tableJSON is a table, as printed with --json.
type tableJSON struct {
	Table    string   `json:"table"`
	Rows     int64    `json:"rows"`
	Outdated int64    `json:"outdated"`
	Broken   []string `json:"broken"`
	Old      []string `json:"old"`
}

func rowsCheckCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "List rows that the service did not write, or that are old",
		Long: `Reads every row that decides access and lists the ids of those whose HMAC is wrong or missing, and of those that somebody
wrote back as they once were. Compare such a row with the audit trail (lineproof audit list), and undo what somebody else has
changed. The exit code is 6 when there is one.`,
		Example: "  lineproof rows check",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(con, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		tables, err := rowmac.Check(cmd.Context(), b.Pool, b.Access.Peppers)
		if err != nil {
			return err
		}
		found, list := 0, make([]tableJSON, len(tables))
		rows := [][]string{{"TABLE", "ROWS", "OLDER PEPPER", "NOT BY THE SERVICE", "WRITTEN BACK"}}
		var ids [][]string
		for i, t := range tables {
			list[i] = tableJSON{Table: t.Name, Rows: t.Rows, Outdated: t.Outdated, Broken: texts(t.Broken), Old: texts(t.Old)}
			for _, id := range slices.Concat(list[i].Broken, list[i].Old) {
				ids = append(ids, []string{t.Name, id})
			}
			rows = append(rows, []string{t.Name, strconv.FormatInt(t.Rows, 10), strconv.FormatInt(t.Outdated, 10), strconv.Itoa(len(t.Broken)), strconv.Itoa(len(t.Old))})
			found += len(t.Broken) + len(t.Old)
		}
		if err := con.Print(*asJSON, list, slices.Concat(rows, ids)...); err != nil {
			return err
		}
		if found > 0 {
			return console.ErrProblems
		}
		return nil
	})
	return cmd
}

func texts(ids []uuid.UUID) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return list
}

func rowsAcceptCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "accept TABLE [ID...]",
		Short: "Sign rows that the service did not write",
		Long: `Signs rows that lineproof rows check lists, so that the service accepts them: those with the ids, or all of the table. Do it
after you have compared them with the audit trail; and once for each table when an update begins to sign it, before the
service starts. Each is recorded in the audit trail.`,
		Example: `  lineproof rows accept account 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'Restored by the database administrator, ticket 4711'
  lineproof rows accept session --reason 'Update to the release that signs sessions'`,
		Args: cobra.MinimumNArgs(1),
	}
	reason := cmd.Flags().String("reason", "", "why these rows are right; it is recorded")
	console.Require(cmd, "reason")
	cmd.RunE = backend.Run(con, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		ids := make([]uuid.UUID, len(args)-1)
		for i, text := range args[1:] {
			var err error
			if ids[i], err = uuid.Parse(text); err != nil {
				return console.Usagef("ID must be one that lineproof rows check lists")
			}
		}
		n, err := rowmac.Accept(cmd.Context(), b.Pool, b.Access.Peppers, args[0], ids, *reason, access.Operator, time.Now().UTC().Truncate(time.Microsecond))
		if err != nil {
			return err
		}
		fmt.Fprintf(con.Out, "Signed %d rows.\n", n)
		return nil
	})
	return cmd
}

func rowsPruneCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "prune",
		Short: "Remove records of signed rows that are superseded",
		Long: `Removes the records of what was signed that another record superseded 90 days ago, and those of sessions, tokens and links
that are gone. Run it once a day, by the timer that runs lineproof journal archive. It needs the rights of the owner, as
migrate does.`,
		Example: "  lineproof rows prune",
		Args:    cobra.NoArgs,
		RunE: con.Run(func(cmd *cobra.Command, _ []string) error {
			_, pool, err := backend.OpenAsOwner(cmd.Context(), con)
			if err != nil {
				return err
			}
			defer pool.Close()
			n, err := pg.PruneRecords(cmd.Context(), pool)
			if err != nil {
				return err
			}
			fmt.Fprintf(con.Out, "Removed %d records.\n", n)
			return nil
		}),
	}
}
