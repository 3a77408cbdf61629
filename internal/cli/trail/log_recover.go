package trail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/logentry"
	"github.com/lineproof/lineproof/internal/publiclog"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/receipt"
)

// restoreReasons are the reasons that the public entry about a restore can name.
var restoreReasons = []string{logentry.Restored, logentry.Promoted, logentry.Exercise}

func logRecoverCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "After a restore: continue the log from what was published",
		Long: `A database that was restored to an earlier moment, or a promoted standby that was behind, does not have the last entries
that were published. The service then signs nothing, because it would contradict what witnesses and monitors have seen.
This command reads those entries back from the published files, compares them with signed checkpoints, marks what the
database has lost, and adds an entry to the log that says so in public: how many answers are lost, and which batches.
Entries that were added since the restore follow it. Nothing that was signed changes.

Get the newest checkpoint from every witness and monitor, at <witness>/<hash of the origin>/checkpoint, and name their
files with --checkpoint. Run lineproof journal new-epoch first. The service may be running. The command needs the
rights of the owner, as migrate does, and does nothing if nothing is missing.`,
		Example: "  lineproof log recover --reason restore --policy policy --checkpoint bank-association.txt --checkpoint university.txt",
		Args:    cobra.NoArgs,
	}
	reason := cmd.Flags().String("reason", "", "what happened, for the public entry: "+strings.Join(restoreReasons, ", "))
	policy := cmd.Flags().String("policy", "", "file with the policy of the log, such as that of LINEPROOF_LOG_POLICY")
	checkpoints := cmd.Flags().StringArray("checkpoint", nil, "file with a signed checkpoint; may be repeated")
	console.Require(cmd, "reason", "policy", "checkpoint")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		if !slices.Contains(restoreReasons, *reason) {
			return console.Usagef("--reason must be one of: %s", strings.Join(restoreReasons, ", "))
		}
		signed, err := openCheckpoints(*policy, *checkpoints)
		if err != nil {
			return err
		}
		done, err := recoverLog(cmd.Context(), con, *reason, signed)
		if err != nil {
			return err
		}
		number := func(n int64) string { return strconv.FormatInt(n, 10) }
		return con.Print(*asJSON, map[string]int64{"from": done.From, "to": done.To, "lost": done.Lost, "answers": done.Answers, "moved": done.Moved},
			[]string{"entries of the database", number(done.From)}, []string{"entries published", number(done.To)}, []string{"of them lost", number(done.Lost)},
			[]string{"answers lost", number(done.Answers)}, []string{"entries moved behind", number(done.Moved)})
	})
	return cmd
}

func recoverLog(ctx context.Context, con *console.Console, reason string, signed []string) (done publiclog.Recovered, err error) {
	cfg, pool, err := backend.OpenAsOwner(ctx, con)
	if err != nil {
		return done, err
	}
	defer pool.Close()
	tiles, err := server.OpenStore(cfg, server.LogStore)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, tiles.Close()) }()
	r := publiclog.Recovery{Pool: pool, Tiles: tiles, Reason: reason, Signed: signed}
	return r.Run(ctx)
}

// openCheckpoints reads signed checkpoints and verifies the signature of the log.
func openCheckpoints(policyFile string, files []string) (texts []string, err error) {
	content, err := os.ReadFile(policyFile) //nolint:gosec // the operator's file
	if err != nil {
		return nil, console.Usagef("the policy can't be read: %v", err)
	}
	policy, err := receipt.ParsePolicy(string(content))
	if err != nil {
		return nil, console.Usagef("%v", err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name) //nolint:gosec // as above
		if err != nil {
			return nil, console.Usagef("a checkpoint can't be read: %v", err)
		}
		text, _, err := policy.Open(string(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		texts = append(texts, text)
	}
	return texts, nil
}
