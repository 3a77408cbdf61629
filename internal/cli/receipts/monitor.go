package receipts

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/monitor"
)

// MonitorCommand returns the command "monitor".
func MonitorCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "monitor",
		Short: "Follow a public log from outside, and find what it must not do",
		Long: `Reads everything that a public log publishes, verifies it, and remembers it in the directory --state. It finds a log that takes back or
rewrites entries, shows different histories, dates entries back, has a batch twice, or stops, also if its owner has the database,
the files and the key. Anybody can run it: banks, journalists, auditors. Nothing is needed from the owner of the log but the
policy, from somebody you trust.

Without --follow it reads once what is new; run it every few minutes. What it finds it writes to a directory in --state, with the
signed texts that show it to anybody. The exit code is 6 when something was found.`,
		Example: "  lineproof monitor --log https://lineproof.example/log/0/2027 --policy policy.txt --state monitor --follow",
		Args:    cobra.NoArgs,
	}
	flags := cmd.Flags()
	url := flags.String("log", "", "the address of the log (required)")
	policy := flags.String("policy", "", "a file with the key of the log, the keys of witnesses, and how many of them must have seen it (c2sp.org/tlog-policy)")
	key := flags.String("verifier", "", "the public key of the log, instead of --policy, if no witness is needed")
	dir := flags.String("state", "", "the directory of its state (required)")
	follow := flags.Bool("follow", false, "go on, and read every few seconds")
	every := flags.Duration("every", 10*time.Second, "how often it reads with --follow")
	asJSON := console.JSONFlag(cmd)
	for _, required := range []string{"log", "state"} {
		_ = cmd.MarkFlagRequired(required) // the flag exists
	}
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		whom, err := whomToBelieve(*key, *policy)
		if err != nil {
			return err
		}
		m := &monitor.Monitor{Source: monitor.Source(*url), Policy: whom, Dir: *dir, Now: time.Now}
		for {
			if err := check(cmd.Context(), con, m, *asJSON); err != nil || !*follow {
				return err
			}
			select {
			case <-cmd.Context().Done():
				return nil
			case <-time.After(*every):
			}
		}
	})
	return cmd
}

// check checks once and prints what it has seen. A log that can't be reached is reported and
// tried again by the caller.
func check(ctx context.Context, con *console.Console, m *monitor.Monitor, asJSON bool) error {
	progress := con.NewCounter()
	m.Progress = func(done, all int64) { progress.Items("entries", int(done), int(all)) }
	r, err := m.Check(ctx)
	progress.End()
	if v, ok := errors.AsType[*monitor.Violation](err); ok {
		if err := con.Print(asJSON, map[string]any{"found": v.What, "size": r.Size}, []string{"FOUND", v.What}); err != nil {
			return err
		}
		return console.ErrProblems
	}
	if err != nil {
		return err
	}
	rows := [][]string{{"log", r.Origin}, {"entries", strconv.FormatInt(r.Size, 10)}, {"new", strconv.FormatInt(r.Added, 10)}, {"answers in them", strconv.FormatInt(r.Answers, 10)}}
	for name, at := range r.Witnesses {
		rows = append(rows, []string{"witnessed by", name + ", " + console.FormatTime(at)})
	}
	return con.Print(asJSON, map[string]any{"origin": r.Origin, "size": r.Size, "added": r.Added, "answers": r.Answers, "witnesses": r.Witnesses}, rows...)
}
