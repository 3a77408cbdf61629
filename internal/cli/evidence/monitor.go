package evidence

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/evidence/monitor"
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

It compares what the log shows with what its witnesses and the peers (--peer) have seen, and looks for the answers of your own receipts
(--receipts): a promise that the log does not keep is found, and shown without your numbers.

Without --follow it reads once what is new; run it every few minutes. What it finds it writes to a directory in --state, with the
signed texts that show it to anybody. The exit code is 6 when something was found. While a witness is away the log publishes with the
signatures that there are: the monitor warns, and it is a finding only when enough have not signed for 10 minutes, or never before.`,
		Example: "  lineproof monitor --log https://lineproof.example/log/0/2027 --policy policy.txt --state monitor --receipts receipts --follow",
		Args:    cobra.NoArgs,
	}
	flags := cmd.Flags()
	url := flags.String("log", "", "the address of the log (required)")
	policy := flags.String("policy", "", "a file with the key of the log, the keys of witnesses, and how many of them must have seen it (c2sp.org/tlog-policy)")
	key := flags.String("verifier", "", "the public key of the log, instead of --policy, if no witness is needed")
	dir := flags.String("state", "", "the directory of its state (required)")
	follow := flags.Bool("follow", false, "go on, and read every few seconds")
	every := flags.Duration("every", 10*time.Second, "how often it reads with --follow")
	receipts := flags.String("receipts", "", "a directory with receipts and promises of your own (*.json), which the log must keep")
	peers := flags.StringArray("peer", nil, "the address of a copy of the log, or of another monitor's: below it is a checkpoint; may be repeated")
	listen := flags.String("metrics-listen", "", "the address on which it serves metrics for Prometheus with --follow, such as 127.0.0.1:7381")
	asJSON := console.JSONFlag(cmd)
	for _, required := range []string{"log", "state"} {
		_ = cmd.MarkFlagRequired(required) // the flag exists
	}
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		whom, err := whomToBelieve(*key, *policy)
		if err != nil {
			return err
		}
		if *listen != "" && !*follow {
			return console.Usagef("--metrics-listen needs --follow")
		}
		m := &monitor.Monitor{Source: monitor.Source(*url), Policy: whom, Dir: *dir, Receipts: *receipts, Peers: *peers, Now: time.Now}
		var seen metrics
		if !*follow {
			return check(cmd.Context(), con, m, *asJSON, &seen)
		}
		group, ctx := errgroup.WithContext(cmd.Context())
		if *listen != "" {
			ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *listen)
			if err != nil {
				return fmt.Errorf("receipts: listen: %w", err)
			}
			group.Go(func() error { return serve(ctx, ln, &seen) })
		}
		group.Go(func() error { return repeat(ctx, con, m, *every, *asJSON, &seen) })
		return group.Wait()
	})
	return cmd
}

// repeat checks until ctx ends or something is found. A log that can't be read is reported
// and tried again.
func repeat(ctx context.Context, con *console.Console, m *monitor.Monitor, every time.Duration, asJSON bool, seen *metrics) error {
	for {
		err := check(ctx, con, m, asJSON, seen)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was ended
		case errors.Is(err, console.ErrProblems):
			return err
		case err != nil:
			fmt.Fprintln(con.Env.Stderr, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// check checks once and prints what it has seen.
func check(ctx context.Context, con *console.Console, m *monitor.Monitor, asJSON bool, seen *metrics) error {
	progress := con.NewCounter()
	m.Progress = func(done, all int64) { progress.Items("entries", int(done), int(all)) }
	r, err := m.Check(ctx)
	progress.End()
	v, found := errors.AsType[*monitor.Violation](err)
	seen.observe(&r, found, err)
	if found {
		if err := con.Print(asJSON, map[string]any{"found": v.What, "size": r.Size}, []string{"FOUND", v.What}); err != nil {
			return err
		}
		return console.ErrProblems
	}
	if err != nil {
		return err
	}
	return printSeen(con, asJSON, m, &r)
}

func printSeen(con *console.Console, asJSON bool, m *monitor.Monitor, r *monitor.Report) error {
	rows := [][]string{{"log", r.Origin}, {"entries", strconv.FormatInt(r.Size, 10)}, {"new", strconv.FormatInt(r.Added, 10)}, {"answers in them", strconv.FormatInt(r.Answers, 10)}}
	if r.Warning != "" {
		later := fmt.Sprintf("; %d minutes after the last signatures of enough this is a finding", int(monitor.Grace.Minutes()))
		rows = append(rows, []string{"WARNING", r.Warning + later})
	}
	for name, at := range r.Witnesses {
		rows = append(rows, []string{"witnessed by", name + ", " + console.FormatTime(at)})
	}
	if r.Compared > 0 {
		rows = append(rows, []string{"same history at", strconv.Itoa(r.Compared) + " witnesses and peers"})
	}
	for _, who := range r.Unreachable {
		rows = append(rows, []string{"no history at", who})
	}
	all := map[string]any{
		"origin": r.Origin, "size": r.Size, "added": r.Added, "answers": r.Answers, "witnesses": r.Witnesses, "compared": r.Compared, "unreachable": r.Unreachable,
		"warning": r.Warning,
	}
	if m.Receipts != "" {
		all["receipts"] = map[string]any{"kept": r.Receipts.Kept, "pending": r.Receipts.Pending, "wrong": r.Receipts.Wrong}
		rows = append(rows, []string{"own receipts kept", strconv.Itoa(r.Receipts.Kept)}, []string{"own receipts pending", strconv.Itoa(r.Receipts.Pending)})
		for _, file := range r.Receipts.Wrong {
			rows = append(rows, []string{"no receipt of this log", file})
		}
	}
	return con.Print(asJSON, all, rows...)
}
