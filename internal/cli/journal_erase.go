package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/evidence"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

func erasures(b *backend.Backend) *erasure.Service {
	return &erasure.Service{Pool: b.Pool, Now: time.Now}
}

func (a *app) journalEraseCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "erase",
		Short: "Erase the personal part of records",
		Long: `Erases the number of a record and everything else in it that can lead to a person, in the database and in the archive.
What was answered, to whom, when and by which rules stays, and every proof stays valid. It takes two people: request it,
let another administrator confirm it with lineproof approval confirm, and then run it.`,
		Example: "  lineproof journal erase list",
	}, a.eraseRequestCommand(), a.eraseRunCommand(), a.eraseListCommand(), a.eraseAgainCommand(), a.eraseRetainCommand())
}

// grounds are the grounds that an erasure can have.
var grounds = []erasure.Ground{erasure.Request, erasure.Court, erasure.Mistake}

func (a *app) eraseRequestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "request",
		Short: "Request that records are erased",
		Long: `Requests that all records about a number are erased, or those with the request ids in a file. The number is read from a
file or from standard input, so that it is in no list of processes and no history of a shell. A record that is under a
legal hold stays.`,
		Example: `  lineproof journal erase request --number-file - --ground request --reason "case 2026-114"
  lineproof journal erase request --ids-file ids.txt --ground mistake --reason "load test with real numbers"`,
		Args: cobra.NoArgs,
	}
	numberFile := cmd.Flags().String("number-file", "", "file whose first line is the number; - is standard input")
	idsFile := cmd.Flags().String("ids-file", "", "file with one request id in each line")
	ground := cmd.Flags().String("ground", "", "request (of the person), court or mistake")
	reason := cmd.Flags().String("reason", "", "the reason, without the number; it is recorded")
	console.Require(cmd, "ground", "reason")
	session := sessionFlag(cmd)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		if !slices.Contains(grounds, erasure.Ground(*ground)) {
			return console.Usagef("--ground must be request, court or mistake")
		}
		order := erasure.Order{Ground: erasure.Ground(*ground), Reason: *reason}
		var err error
		if order.Number, err = a.readMobile(b, *numberFile, *session); err != nil {
			return err
		}
		if order.By, err = a.actor(cmd.Context(), b, *session); err != nil {
			return err
		}
		if order.RequestIDs, err = a.readIDs(*idsFile); err != nil {
			return err
		}
		id, approval, err := erasures(b).Request(cmd.Context(), order)
		if err != nil {
			return err
		}
		a.Note("Another administrator confirms it with: lineproof approval confirm %s", approval)
		return a.Print(*asJSON, map[string]string{"erasureId": id.String(), "approvalId": approval.String()},
			[]string{"erasure", id.String()}, []string{"approval", approval.String()})
	})
	return cmd
}

// readMobile reads a mobile number from a file, if one is named.
func (a *app) readMobile(b *backend.Backend, file, session string) (int64, error) {
	if file == "" {
		return 0, nil
	}
	n, err := a.readNumber(file, session, b.Registry.Region.ParseMobile, "a mobile number of this country")
	return n.Int(), err
}

// readNumber reads a number from the first line of a file. What says what it should be.
func (a *app) readNumber(file, session string, parse func(string) (phone.Number, error), what string) (n phone.Number, err error) {
	if file == "-" && session == "-" {
		return n, console.Usagef("--number-file and --session-file cannot both be standard input")
	}
	text, err := a.ReadSecret(file)
	if err != nil {
		return n, err
	}
	if n, err = parse(text.Reveal()); err != nil {
		return n, console.Usagef("the first line of --number-file is not %s", what)
	}
	return n, nil
}

// readIDs reads request ids from a file, if one is named.
func (a *app) readIDs(file string) (ids []uuid.UUID, err error) {
	if file == "" {
		return nil, nil
	}
	in, _, err := a.OpenInput(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // nothing was written
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		if text := strings.TrimSpace(line); text != "" {
			id, err := uuid.Parse(text)
			if err != nil {
				return nil, console.Usagef("line %d of the file is not a request id", len(ids)+1)
			}
			ids = append(ids, id)
		}
		if errors.Is(err, io.EOF) {
			return ids, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (a *app) eraseRunCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [ERASURE]",
		Short: "Erase what was requested and confirmed",
		Long: `Runs one erasure that was confirmed, or all of them. It can be stopped at any time, and continues when it is run again.
A file of the database that had an erased record is written anew, so that its bytes are gone; that of today is written
anew by the first run after the day has ended. It needs the rights of the owner, as migrate does.`,
		Example: "  lineproof journal erase run",
		Args:    cobra.MaximumNArgs(1),
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, args []string) error {
		return a.asEraser(cmd.Context(), func(ctx context.Context, r *erasure.Runner, display *console.Progress) error {
			var done []erasure.Erasure
			var err error
			if len(args) == 0 {
				done, err = r.RunAll(ctx)
			} else {
				var id uuid.UUID
				if id, err = console.ParseID("ERASURE", args[0]); err != nil {
					return err
				}
				done = make([]erasure.Erasure, 1)
				done[0], err = r.Run(ctx, id)
			}
			if err != nil {
				return err
			}
			display.End()
			if left, err := journal.DaysToRewrite(ctx, r.Archiver.Pool); err == nil && len(left) > 0 {
				a.Note("The file of today still has the bytes of what was erased. Run the command again when the day has ended.")
			}
			return a.printErasures(*asJSON, done)
		})
	})
	return cmd
}

// asEraser runs a function with the rights of the owner, and shows its progress. The
// function ends the display before it prints.
func (a *app) asEraser(ctx context.Context, fn func(context.Context, *erasure.Runner, *console.Progress) error) error {
	return a.withArchiver(ctx, func(archiver *journal.Archiver, display *console.Progress) error {
		return evidence.WithArchive(ctx, a.Console, func(archive *feed.Archive) error {
			return fn(ctx, &erasure.Runner{Archiver: archiver, Feeds: archive, OnSearch: func(records int64) { display.Rows("searching", records) }}, display)
		})
	})
}

// erasureJSON is an erasure, as printed with --json.
type erasureJSON struct {
	ID         string `json:"erasureId"`
	Ground     string `json:"ground"`
	State      string `json:"state"`
	AskedAt    string `json:"askedAt"`
	FinishedAt string `json:"finishedAt,omitempty"`
	Records    int64  `json:"records"`
	Held       int64  `json:"held"`
}

func (a *app) printErasures(asJSON bool, list []erasure.Erasure) error {
	describe := func(e *erasure.Erasure) erasureJSON {
		return erasureJSON{
			ID: e.ID.String(), Ground: string(e.Ground), State: string(e.State), AskedAt: console.FormatTime(e.AskedAt), FinishedAt: console.FormatTime(e.Finished),
			Records: e.Records, Held: e.Held,
		}
	}
	return console.List(a.Console, asJSON, list, describe,
		"ERASURE, GROUND, STATE, REQUESTED, FINISHED, RECORDS, HELD", func(e *erasureJSON) []any {
			return []any{e.ID, e.Ground, e.State, e.AskedAt, e.FinishedAt, e.Records, e.Held}
		})
}

func (a *app) eraseListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List erasures, newest first", Args: cobra.NoArgs, Example: "  lineproof journal erase list",
		Long: "Lists erasures with how many records each covers, and how many stay because of a legal hold. Of a whole day that the policy keeps no longer the records are not counted.",
	}
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		list, err := erasure.List(cmd.Context(), b.Pool, *limit)
		if err != nil {
			return err
		}
		return a.printErasures(*asJSON, list)
	})
	return cmd
}

func (a *app) eraseAgainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "again",
		Short: "After a restore: erase again what had been erased",
		Long: `A database that was restored to an earlier time has records again that were erased after it. Which they were is listed in
files beside the archives. This command erases them again. Run it after every restore, before the service starts. It
needs the rights of the owner, as migrate does.`,
		Example: "  lineproof journal erase again",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error {
		return a.asEraser(cmd.Context(), func(ctx context.Context, r *erasure.Runner, display *console.Progress) error {
			n, err := r.Again(ctx)
			if err != nil {
				return err
			}
			display.End()
			return a.Print(*asJSON, map[string]int{"erasures": n}, []string{"erasures", strconv.Itoa(n)})
		})
	})
	return cmd
}

func (a *app) eraseRetainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retain",
		Short: "Erase the personal parts that the policy keeps no longer",
		Long: `Erases the personal part of all records that are older than the policy's personalYears, except those under a legal hold.
Run it once a day, by the timer that runs lineproof journal archive. It needs the rights of the owner, as migrate does.`,
		Example: "  lineproof journal erase retain",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error {
		return a.asEraser(cmd.Context(), func(ctx context.Context, r *erasure.Runner, display *console.Progress) error {
			current, err := policy.Current(ctx, r.Archiver.Pool, time.Now())
			if err != nil {
				return err
			}
			e, err := r.Retain(ctx, time.Now().UTC().AddDate(-current.PersonalYears, 0, 0))
			if err != nil {
				return err
			}
			display.End()
			if e.ID == uuid.Nil {
				return a.printErasures(*asJSON, nil)
			}
			return a.printErasures(*asJSON, []erasure.Erasure{e})
		})
	})
	return cmd
}
