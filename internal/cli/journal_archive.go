package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/evidence"
	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/server"
)

func (a *app) journalArchiveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Move old days of the journal from the database into files",
		Long: `Writes each old day of the journal to LINEPROOF_DATA/journal, compressed and with a manifest that has the hash of
every file, reads the files back and checks everything in them, records the archive in the database, and only then
drops the day's partitions. Archived records can still be read: lineproof journal get reads both.

A day is read in slices, several at the same time, each from a snapshot of its own that lasts a second or two. With
LINEPROOF_READ_DATABASE_URL the records are read from that database, such as a standby: the command waits until it
has replayed what the primary has, and compares every batch with the primary.

It can be stopped at any time, and continues when it is run again. It does not block verifications, and uses half of the processors, with a low priority. A day is archived
when it ended at least an hour ago, and not if it is damaged. It needs the rights of the owner, as migrate does.`,
		Example: `  lineproof journal archive
  lineproof journal archive --days 90
  lineproof journal archive --before 2026-10-01`,
		Args: cobra.NoArgs,
	}
	days := cmd.Flags().Int("days", 35, "number of days to keep in the database")
	before := cmd.Flags().String("before", "", "archive the days before this day instead")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error {
		limit, err := parseDay("before", *before)
		if err != nil {
			return err
		}
		if *days < 0 {
			return console.Usagef("--days must be at least 0")
		}
		if limit.IsZero() {
			limit = time.Now().UTC().AddDate(0, 0, -*days)
		}
		return a.archiveJournal(cmd.Context(), limit, *asJSON)
	})
	return cmd
}

// archiveJSON is an archived day, as printed with --json.
type archiveJSON struct {
	Day      string `json:"day"`
	Batches  int64  `json:"batches"`
	Records  int64  `json:"records"`
	Bytes    int64  `json:"bytes"`
	Manifest string `json:"manifest"`
}

func (a *app) archiveJournal(ctx context.Context, before time.Time, asJSON bool) error {
	return a.withArchiver(ctx, func(archiver *journal.Archiver, display *console.Progress) error {
		due, err := archiver.Due(ctx, before)
		if err != nil {
			return err
		}
		archived, rows := []archiveJSON{}, [][]string{{"DAY", "BATCHES", "RECORDS", "BYTES", "MANIFEST"}}
		for _, day := range due {
			archive, archiveErr := archiver.Archive(ctx, day)
			if archiveErr != nil {
				err = fmt.Errorf("%s: %w", day.Format(time.DateOnly), archiveErr)
				break
			}
			s := archiveJSON{Day: day.Format(time.DateOnly), Batches: archive.Batches, Records: archive.Entries, Bytes: archive.Bytes, Manifest: archive.Manifest.String()}
			archived = append(archived, s)
			rows = append(rows, []string{s.Day, strconv.FormatInt(s.Batches, 10), strconv.FormatInt(s.Records, 10), strconv.FormatInt(s.Bytes, 10), s.Manifest})
		}
		if _, dropErr := publiclog.Drop(ctx, archiver.Pool); dropErr != nil {
			err = errors.Join(err, dropErr)
		}
		display.End()
		if len(archived) == 0 && !asJSON {
			if err == nil {
				a.Note("No day is old enough to archive.")
			}
			return err
		}
		return errors.Join(a.Print(asJSON, archived, rows...), err) // the days before the failed one are archived
	})
}

// withArchiver runs a function with an archiver that has the rights of the owner and
// shows its progress. The function ends the display before it prints.
func (a *app) withArchiver(ctx context.Context, fn func(*journal.Archiver, *console.Progress) error) error {
	cfg, pool, err := backend.OpenAsOwner(ctx, a.Console)
	if err != nil {
		return err
	}
	defer pool.Close()
	files, err := server.OpenStore(cfg, server.JournalStore)
	if err != nil {
		return err
	}
	defer files.Close()
	reader, err := backend.ConnectReader(ctx, cfg)
	if err != nil {
		return err
	}
	if reader != nil {
		defer reader.Close()
	}
	a.LowerPriority()
	display := a.NewProgress(-1)
	defer display.End()
	return fn(&journal.Archiver{Pool: pool, Read: reader, Files: files, Now: time.Now, LogIndexes: func(ctx context.Context, from, to time.Time) (map[archivefile.BatchKey]int64, error) {
		return publiclog.Indexes(ctx, pool, from, to)
	}, OnProgress: func(day time.Time, doing string, entries int64) {
		display.Rows(doing+" "+day.Format(time.DateOnly), entries)
	}}, display)
}

func (a *app) journalNewEpochCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new-epoch",
		Short: "After a restore: move the epoch counter beyond every epoch ever used",
		Long: `Every node takes an epoch from a counter in the database when it starts, and the ids of journal batches contain it. A
database that was restored to an earlier time hands out epochs again that were used after that time: by batches that
are lost here and may be known elsewhere, and by nodes that may still run. This command moves the counter to the current
time in seconds since 1970, beyond all of them, and records when and why. It also raises the epoch of the feeds, and tells
every feed from where its events are void, so that no event gets the id of a lost one, and ends the leases of webhooks.

Run it after every restore and after promoting a standby that was not synchronous, before the service starts.
It needs the rights of the owner, as migrate does.`,
		Example: `  lineproof journal new-epoch --reason "restored to 2026-11-14 09:30 after the loss of db1"`,
		Args:    cobra.NoArgs,
	}
	reason := cmd.Flags().String("reason", "", "the reason; it is recorded")
	console.Require(cmd, "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error {
		if *reason == "" {
			return console.Usagef("--reason must not be empty")
		}
		_, pool, err := backend.OpenAsOwner(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer pool.Close()
		last, next, err := evidence.BeginEpoch(cmd.Context(), pool, *reason)
		if err != nil {
			return err
		}
		return a.Print(*asJSON, map[string]int64{"last": last, "next": next},
			[]string{"last epoch before", strconv.FormatInt(last, 10)}, []string{"next epoch", strconv.FormatInt(next, 10)})
	})
	return cmd
}
