package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

func (a *app) journalAskedCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "asked",
		Short: "Find out who asked about a number, for the person who holds it",
		Long: `Searches all answers about one number, of every organisation, in the database and in the archives, and makes a report
for the person who holds the number. It takes two people: one requests the search, and an administrator confirms it with
lineproof approval confirm. Then it can be run for seven days. All three are in the audit trail.`,
		Example: `  lineproof journal asked request --number-file number.txt --from 2026-08-18 --to 2026-11-15 --reason "Request of the holder, case 2026-17"`,
	}, a.askedRequestCommand(), a.askedRunCommand())
}

func (a *app) askedRequestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "request",
		Short: "Request a search of all answers about a number",
		Long: `Requests a search, which waits for a second person for seven days. The number is read from a file or from standard input,
so that it is not in the list of processes. It is stored until the request expires or, once confirmed, for the seven
days in which the search can be run. The reason is kept for years: name the case, and not the number or the person.`,
		Example: `  lineproof journal asked request --number-file number.txt --from 2026-08-18 --to 2026-11-15 --reason "Request of the holder, case 2026-17"
  lineproof journal asked request --number-file - --from 2026-08-18 --to 2026-11-15 --reason "Request of the holder, case 2026-17" --session-file ./session`,
		Args: cobra.NoArgs,
	}
	file := cmd.Flags().String("number-file", "", "file whose first line is the number, in any usual spelling; - is standard input")
	from := cmd.Flags().String("from", "", "the first day of the answers, in UTC")
	to := cmd.Flags().String("to", "", "the last day of the answers, in UTC; it is included")
	reason := cmd.Flags().String("reason", "", "the reason, such as the case; it is recorded")
	session := sessionFlag(cmd)
	console.Require(cmd, "number-file", "from", "to", "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		first, firstErr := parseDay("from", *from)
		last, lastErr := parseDay("to", *to)
		if err := errors.Join(firstErr, lastErr); err != nil {
			return err
		}
		number, err := a.readNumber(*file, *session, b.Registry.Region.Parse, "a telephone number")
		if err != nil {
			return err
		}
		by, err := a.actor(cmd.Context(), b, *session)
		if err != nil {
			return err
		}
		id, err := (&whoasked.Service{Pool: b.Pool, Registry: b.Registry, Now: time.Now}).Request(cmd.Context(), whoasked.Request{
			Number: number, First: first, Last: last, Reason: *reason, By: by,
		})
		if err != nil {
			return err
		}
		a.Note("A second person must confirm it: approval %s.", id)
		return a.Print(*asJSON, map[string]string{"approvalId": id.String()}, []string{id.String()})
	})
	return cmd
}

func (a *app) askedRunCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run APPROVAL_ID",
		Short: "Run a search that a second person has confirmed",
		Long: `Runs the search and prints what was answered: each row is an organisation, the purpose, for whom it asked, the month, the
answer, and how often. With --csv and --html the report is written to files instead, the second as a page to print
for the person. A file that exists is not replaced. The run is in the audit trail before anything is written.

It reads the archives of the period, but only the files that may have the number. It can be run again within seven days.`,
		Example: `  lineproof journal asked run 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40
  lineproof journal asked run 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --html report.html --csv report.csv --contact "Data protection officer, dpo@regulator.example"`,
		Args: cobra.ExactArgs(1),
	}
	var to askedFiles
	cmd.Flags().StringVar(&to.csv, "csv", "", "write the report to this new file, as CSV")
	cmd.Flags().StringVar(&to.html, "html", "", "write the report to this new file, as a page to print")
	cmd.Flags().StringVar(&to.contact, "contact", "", "whom the person can ask, for the page; required with --html")
	session := sessionFlag(cmd)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.runAsActor("APPROVAL_ID", session, func(ctx context.Context, b *backend.Backend, id uuid.UUID, by audit.Actor) error {
		if err := to.check(); err != nil {
			return err
		}
		files, err := b.Archive()
		if err != nil {
			return err
		}
		defer files.Close()
		reader, closeReader, err := b.Reader(ctx)
		if err != nil {
			return err
		}
		defer closeReader()
		to.regulator = b.Config.RegulatorCode
		display := a.NewProgress(-1)
		report, err := (&whoasked.Service{Pool: b.Pool, Read: reader, Files: files, Registry: b.Registry, Now: time.Now}).Run(ctx, id, by,
			func(records int64) { display.Rows("searching", records) })
		display.End()
		if err != nil {
			return err
		}
		if err := to.write(&report); err != nil {
			return err
		}
		if to.csv+to.html != "" && !*asJSON {
			a.Note("%d answers; %d records of the period are erased and no longer say which number they were about.", report.Answers, report.Erased)
			return nil
		}
		return a.Print(*asJSON, report, askedRows(&report)...)
	})
	return cmd
}

// askedFiles are the files to which a report is written.
type askedFiles struct{ csv, html, contact, regulator string }

// check fails where write would, before the search has run.
func (f askedFiles) check() error {
	if f.html != "" && f.contact == "" {
		return console.Usagef("--html needs --contact: the page says whom the person can ask")
	}
	for _, name := range []string{f.csv, f.html} {
		if _, err := os.Lstat(name); name != "" && err == nil {
			return console.Usagef("%s exists; name another file", name)
		}
	}
	return nil
}

func (f askedFiles) write(r *whoasked.Report) error {
	if f.csv != "" {
		if err := writeNewFile(f.csv, r.WriteCSV); err != nil {
			return err
		}
	}
	if f.html != "" {
		return writeNewFile(f.html, func(w io.Writer) error { return r.WriteHTML(w, whoasked.Letter{From: f.regulator, Contact: f.contact}) })
	}
	return nil
}

// writeNewFile writes a file that only its owner can read, and replaces none.
func writeNewFile(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return errors.Join(write(f), f.Close())
}

// askedRows formats a report as a table. What organisations wrote is quoted, because it may
// contain control sequences for the terminal.
func askedRows(r *whoasked.Report) [][]string {
	rows := [][]string{{"ORGANISATION", "PURPOSE", "IN ITS WORDS", "ON BEHALF OF", "MONTH", "STATUS", "REASON", "NETWORK", "ANSWERS"}}
	for _, row := range r.Rows {
		rows = append(rows, []string{
			strconv.Quote(row.Organisation), row.Purpose, strconv.Quote(row.PurposeText), strconv.Quote(row.OnBehalfOf), row.Month, row.Status, row.Reason, row.Network,
			strconv.Itoa(row.Answers),
		})
	}
	return rows
}
