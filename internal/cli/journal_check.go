package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/journal"
)

func (a *app) journalCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that every record and every batch is unchanged",
		Long: `Reads the journal and checks that every record matches its hash and has the time of its id, that no id occurs twice on
a day, that every batch has all its records in order, and that they match its batch root. The service may keep running.
With --archived the archives of the same days are checked too: every file against the manifest, the manifest against
the database, their content as above, and that the number filters are those of the records.

Prints the totals and what was found. The exit code is 6 when a problem was found.`,
		Example: `  lineproof journal check
  lineproof journal check --from 2026-11-01 --to 2026-11-07
  lineproof journal check --archived --json`,
		Args: cobra.NoArgs,
	}
	from := cmd.Flags().String("from", "", "first day (default: the oldest)")
	to := cmd.Flags().String("to", "", "last day (default: today)")
	archived := cmd.Flags().Bool("archived", false, "check the archives too")
	limit := cmd.Flags().Int("limit", 100, "maximum number of findings to print; all are counted")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error {
		first, err := parseDay("from", *from)
		if err != nil {
			return err
		}
		last, err := parseDay("to", *to)
		if err != nil {
			return err
		}
		if *limit < 0 {
			return console.Usagef("--limit must be at least 0")
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		return a.checkJournal(cmd, b, first, last, *limit, *archived, *asJSON)
	})
	return cmd
}

func (a *app) checkJournal(cmd *cobra.Command, b *backend.Backend, first, last time.Time, limit int, archived, asJSON bool) error {
	display := a.NewProgress(-1)
	r, err := runChecks(cmd.Context(), b, first, last, archived, &journal.Checker{
		Pool: b.Pool, Limit: limit, OnProgress: func(progress journal.Report) { display.Rows("checking", progress.Entries) },
	})
	display.End()
	if err != nil {
		return err
	}
	if err := a.printReport(&r, asJSON); err != nil {
		return err
	}
	if !r.OK() {
		return console.ErrProblems
	}
	return nil
}

// runChecks checks the database and, if archived is set, the archives.
func runChecks(ctx context.Context, b *backend.Backend, first, last time.Time, archived bool, c *journal.Checker) (journal.Report, error) {
	r, err := c.Check(ctx, first, last)
	if err != nil || !archived {
		return r, err
	}
	if c.Files, err = b.Archive(); err != nil {
		return r, err
	}
	defer c.Files.Close()
	archives, err := c.CheckArchives(ctx, first, last)
	r.Archives, r.Batches, r.Entries, r.Found = archives.Archives, r.Batches+archives.Batches, r.Entries+archives.Entries, r.Found+archives.Found
	r.Findings = append(r.Findings, archives.Findings[:min(len(archives.Findings), c.Limit-len(r.Findings))]...)
	return r, err
}

// findingJSON is a damaged part of the journal, as printed with --json.
type findingJSON struct {
	Day   string `json:"day"`
	Where string `json:"where"`
	What  string `json:"what"`
}

func (a *app) printReport(r *journal.Report, asJSON bool) error {
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"days", strconv.Itoa(r.Days)},
		{"archives", strconv.Itoa(r.Archives)},
		{"batches", count(r.Batches)},
		{"records", count(r.Entries)},
		{"findings", count(r.Found)},
	}
	findings := make([]findingJSON, 0, len(r.Findings))
	for _, f := range r.Findings {
		s := findingJSON{Day: f.Day.Format(time.DateOnly), Where: f.Where, What: f.What}
		findings = append(findings, s)
		rows = append(rows, []string{s.Day, s.Where + ": " + s.What})
	}
	return a.Print(asJSON, map[string]any{
		"days": r.Days, "archives": r.Archives, "batches": r.Batches, "records": r.Entries, "findings": r.Found, "found": findings,
	}, rows...)
}

// parseDay reads the value of the day flag with that name; "" is the zero time.
func parseDay(flag, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, value)
	if err != nil {
		return time.Time{}, console.Usagef("--%s must be a day such as 2026-07-01", flag)
	}
	return day, nil
}
