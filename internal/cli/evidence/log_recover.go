package evidence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/values/logentry"
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

It asks every witness of the policy for the newest checkpoint that it has signed. Name checkpoints that you got in another
way, from a monitor or from a witness that can't be reached, with --checkpoint. It also moves the counter of epochs and
raises the epoch of the feeds, as lineproof journal new-epoch does, so that no batch gets the number of a lost one and no
event the id of one: run it before the service starts. The
command needs the rights of the owner, as migrate does, and changes nothing in the log if nothing is missing.`,
		Example: `  lineproof log recover --reason restore --policy policy
  lineproof log recover --reason restore --policy policy --checkpoint bank-association.txt`,
		Args: cobra.NoArgs,
	}
	reason := cmd.Flags().String("reason", "", "what happened, for the public entry: "+strings.Join(restoreReasons, ", "))
	policy := cmd.Flags().String("policy", "", "file with the policy of the log, such as that of LINEPROOF_LOG_POLICY")
	checkpoints := cmd.Flags().StringArray("checkpoint", nil, "file with a signed checkpoint; may be repeated")
	console.Require(cmd, "reason", "policy")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		if !slices.Contains(restoreReasons, *reason) {
			return console.Usagef("--reason must be one of: %s", strings.Join(restoreReasons, ", "))
		}
		signed, err := findCheckpoints(cmd.Context(), con, *policy, *checkpoints)
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
	if _, _, err := BeginEpoch(ctx, pool, "log recover: "+reason); err != nil {
		return done, err
	}
	r := publiclog.Recovery{Pool: pool, Tiles: tiles, Reason: reason, Signed: signed}
	return r.Run(ctx)
}

// findCheckpoints returns the signed checkpoints of files and of the witnesses, after the
// signature of the log was verified.
func findCheckpoints(ctx context.Context, con *console.Console, policyFile string, files []string) (texts []string, err error) {
	policy, err := ReadPolicy(policyFile)
	if err != nil {
		return nil, err
	}
	notes, silent := (&publiclog.Witnesses{Policy: policy}).Checkpoints(ctx)
	for _, name := range silent {
		con.Note("Witness " + name + " shows no checkpoint. If it has signed a newer one than the others, the log stops again.")
	}
	for _, name := range files {
		content, err := os.ReadFile(name) //nolint:gosec // the operator's file
		if err != nil {
			return nil, console.Usagef("a checkpoint can't be read: %v", err)
		}
		if _, _, err := policy.Open(string(content)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		notes = append(notes, string(content))
	}
	if len(notes) == 0 {
		return nil, console.Usagef("no witness shows a checkpoint; name at least one signed checkpoint with --checkpoint")
	}
	for _, note := range notes {
		text, _, err := policy.Open(note)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// BeginEpoch makes a restored database begin new epochs of the journal and of the feeds, and
// ends the leases of webhooks, so that nothing is written twice under one id by what was lost
// or still runs. It returns the last epoch of the journal before, and the next.
func BeginEpoch(ctx context.Context, pool *pgxpool.Pool, reason string) (last, next int64, err error) {
	now := time.Now()
	if last, next, err = journal.SkipEpochs(ctx, pool, reason, now); err != nil {
		return 0, 0, err
	}
	if _, _, err = feed.Rebase(ctx, pool, now); err != nil {
		return 0, 0, err
	}
	return last, next, webhook.EndLeases(ctx, pool)
}
