package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/journal"
)

func (a *app) journalCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that every record and every batch is as it was written",
		Long: `Reads the journal and checks that every record fits its hash and bears the time that is in its id, that no id stands
twice on a day, that every batch has its records, all of them and in order, and that they make its root. The service
may run meanwhile. With --archived the archives of the same days are checked too: every file against the manifest,
the manifest against the database, and everything in them as above.

Prints how much was read, and what was found. The exit code is 6 when anything was.`,
		Example: `  lineproof journal check
  lineproof journal check --from 2026-11-01 --to 2026-11-07
  lineproof journal check --archived --json`,
		Args: cobra.NoArgs,
	}
	from := cmd.Flags().String("from", "", "the first day (default: the oldest that is there)")
	to := cmd.Flags().String("to", "", "the last day (default: today)")
	archived := cmd.Flags().Bool("archived", false, "check the archives too")
	limit := cmd.Flags().Int("limit", 100, "print so many findings; all are counted")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		first, err := dayFlag("from", *from)
		if err != nil {
			return err
		}
		last, err := dayFlag("to", *to)
		if err != nil {
			return err
		}
		if *limit < 0 {
			return usagef("--limit is below 0")
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		return a.checkJournal(cmd, p, first, last, *limit, *archived, *asJSON)
	})
	return cmd
}

func (a *app) checkJournal(cmd *cobra.Command, p *parts, first, last time.Time, limit int, archived, asJSON bool) error {
	display := a.newProgress(-1)
	r, err := checked(cmd.Context(), p, first, last, archived, &journal.Checker{
		Pool: p.pool, Limit: limit, Watch: func(so journal.Report) { display.rows("checking", so.Entries) },
	})
	display.end()
	if err != nil {
		return err
	}
	if err := a.printReport(&r, asJSON); err != nil {
		return err
	}
	if !r.OK() {
		return errTrouble
	}
	return nil
}

func checked(ctx context.Context, p *parts, first, last time.Time, archived bool, c *journal.Checker) (journal.Report, error) {
	r, err := c.Check(ctx, first, last)
	if err != nil || !archived {
		return r, err
	}
	if c.Files, err = openArchive(p.cfg); err != nil {
		return r, err
	}
	defer c.Files.Close()
	more, err := c.CheckArchives(ctx, first, last)
	r.Archives, r.Batches, r.Entries, r.Found = more.Archives, r.Batches+more.Batches, r.Entries+more.Entries, r.Found+more.Found
	r.Findings = append(r.Findings, more.Findings[:min(len(more.Findings), c.Limit-len(r.Findings))]...)
	return r, err
}

// shownFinding is something that is not as it was written, as programs read it.
type shownFinding struct {
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
	findings := make([]shownFinding, 0, len(r.Findings))
	for _, f := range r.Findings {
		s := shownFinding{Day: f.Day.Format(time.DateOnly), Where: f.Where, What: f.What}
		findings = append(findings, s)
		rows = append(rows, []string{s.Day, s.Where + ": " + s.What})
	}
	return a.print(asJSON, map[string]any{
		"days": r.Days, "archives": r.Archives, "batches": r.Batches, "records": r.Entries, "findings": r.Found, "found": findings,
	}, rows...)
}

// dayFlag reads a day that a flag gives; "" is the zero time.
func dayFlag(name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, value)
	if err != nil {
		return time.Time{}, usagef("--%s is not a day such as 2026-07-01", name)
	}
	return day, nil
}
