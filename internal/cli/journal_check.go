package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

func (a *app) journalCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that every record and every batch is there and unchanged",
		Long: `Reads the journal and checks that every record matches its hash and has the time of its id, that no id occurs twice on
a day, that every batch has all its records in order, that they match its batch root, and that no number of a batch is
missing. The service may keep running; the command uses half of the processors, with a low priority.
With --archived the archives of the same days are checked too: every file against the manifest, the manifest against
the database, their content as above, and that the number filters are those of the records.

With --new the days are skipped that an earlier check has found whole and that have since got neither records nor
erasures; days that have not ended are always checked. The skipped days are listed. A skipped day is not proved: what was
changed in it without the service since that check is found only by a check without --new.

With LINEPROOF_READ_DATABASE_URL it reads that database, such as a standby. Prints which server was read, the totals and
what was found. The exit code is 6 when a problem was found.`,
		Example: `  lineproof journal check
  lineproof journal check --new
  lineproof journal check --from 2026-11-01 --to 2026-11-07
  lineproof journal check --archived --json`,
		Args: cobra.NoArgs,
	}
	from := cmd.Flags().String("from", "", "first day (default: the oldest)")
	to := cmd.Flags().String("to", "", "last day (default: today)")
	archived := cmd.Flags().Bool("archived", false, "check the archives too")
	onlyNew := cmd.Flags().Bool("new", false, "skip the days that were checked before and have not changed")
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
		if *onlyNew && *archived {
			return console.Usagef("--new is for days in the database: files can decay, so that archives are always read")
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		return a.checkJournal(cmd.Context(), b, first, last, *archived, *asJSON, &journal.Checker{Remember: b.Pool, OnlyNew: *onlyNew, Limit: *limit})
	})
	return cmd
}

func (a *app) checkJournal(ctx context.Context, b *backend.Backend, first, last time.Time, archived, asJSON bool, c *journal.Checker) error {
	reader, closeReader, err := b.Reader(ctx)
	if err != nil {
		return err
	}
	defer closeReader()
	server, err := pg.ServerName(ctx, reader)
	if err != nil {
		return err
	}
	a.LowerPriority()
	display := a.NewProgress(-1)
	c.Pool, c.OnProgress = reader, func(progress journal.Report) { display.Rows("checking", progress.Entries) }
	r, err := runChecks(ctx, b, first, last, archived, c)
	display.End()
	if err != nil {
		return err
	}
	if err := a.printReport(&r, server, asJSON); err != nil {
		return err
	}
	if !r.OK() {
		return console.ErrProblems
	}
	return nil
}

// runChecks checks the database, also for batches that are missing, and, if archived is
// set, the archives.
func runChecks(ctx context.Context, b *backend.Backend, first, last time.Time, archived bool, c *journal.Checker) (journal.Report, error) {
	r, err := c.Check(ctx, first, last)
	if err != nil {
		return r, err
	}
	missing, err := journal.CheckGaps(ctx, c.Pool, first, last, c.Limit-len(r.Findings))
	r.Merge(&missing, c.Limit)
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

// skippedJSON is a day that was not checked, as printed with --json.
type skippedJSON struct {
	Day       string `json:"day"`
	CheckedAt string `json:"checkedAt"`
	Records   int64  `json:"records"`
}

func (a *app) printReport(r *journal.Report, server string, asJSON bool) error {
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"server", server},
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
	gone, skipped := make([]string, 0, len(r.Gone)), make([]skippedJSON, 0, len(r.Skipped))
	for _, day := range r.Gone {
		gone = append(gone, day.Format(time.DateOnly))
		rows = append(rows, []string{day.Format(time.DateOnly), "was archived meanwhile and is not checked; --archived checks the archives"})
	}
	for _, d := range r.Skipped {
		s := skippedJSON{Day: d.Day.Format(time.DateOnly), CheckedAt: console.FormatTime(d.At), Records: d.Entries}
		skipped = append(skipped, s)
		rows = append(rows, []string{s.Day, "skipped: " + count(s.Records) + " records, last checked at " + s.CheckedAt})
	}
	return a.Print(asJSON, map[string]any{
		"server": server, "skipped": skipped, "gone": gone, "days": r.Days, "archives": r.Archives, "batches": r.Batches, "records": r.Entries, "findings": r.Found, "found": findings,
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
