package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
)

func (a *app) journalArchiveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Move old days of the journal from the database into files",
		Long: `Writes each old day of the journal to LINEPROOF_DATA/journal, compressed and with a manifest that has the hash of
every file, reads the files back and checks everything in them, notes the archive in the database, and only then drops
the day's partitions. Records are found there as before: lineproof journal get reads both.

It can be stopped at any moment, and goes on when it is run again. Nobody who asks or answers waits for it. A day is
taken when it has been over for an hour at the least, and not if it is damaged. It needs the rights of the owner, as
migrate does.`,
		Example: `  lineproof journal archive
  lineproof journal archive --days 90
  lineproof journal archive --before 2026-10-01`,
		Args: cobra.NoArgs,
	}
	days := cmd.Flags().Int("days", 35, "keep so many days in the database")
	before := cmd.Flags().String("before", "", "archive the days before this one instead")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		limit, err := dayFlag("before", *before)
		if err != nil {
			return err
		}
		if *days < 0 {
			return usagef("--days is below 0")
		}
		if limit.IsZero() {
			limit = time.Now().UTC().AddDate(0, 0, -*days)
		}
		return a.archiveJournal(cmd.Context(), limit, *asJSON)
	})
	return cmd
}

// shownArchive is an archived day, as programs read it.
type shownArchive struct {
	Day      string `json:"day"`
	Batches  int64  `json:"batches"`
	Records  int64  `json:"records"`
	Bytes    int64  `json:"bytes"`
	Manifest string `json:"manifest"`
}

func (a *app) archiveJournal(ctx context.Context, before time.Time, asJSON bool) error {
	cfg, pool, err := a.openAsOwner(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	files, err := openArchive(cfg)
	if err != nil {
		return err
	}
	defer files.Close()
	archivist := &journal.Archivist{Pool: pool, Files: files, Now: time.Now}
	due, err := archivist.Due(ctx, before)
	if err != nil {
		return err
	}
	display := a.newProgress(-1)
	archivist.Watch = func(day time.Time, doing string, entries int64) {
		display.rows(doing+" "+day.Format(time.DateOnly), entries)
	}
	shown, rows := []shownArchive{}, [][]string{{"DAY", "BATCHES", "RECORDS", "BYTES", "MANIFEST"}}
	for _, day := range due {
		made, archiveErr := archivist.Archive(ctx, day)
		if archiveErr != nil {
			err = fmt.Errorf("%s: %w", day.Format(time.DateOnly), archiveErr)
			break
		}
		s := shownArchive{Day: day.Format(time.DateOnly), Batches: made.Batches, Records: made.Entries, Bytes: made.Bytes, Manifest: made.Manifest.String()}
		shown = append(shown, s)
		rows = append(rows, []string{s.Day, strconv.FormatInt(s.Batches, 10), strconv.FormatInt(s.Records, 10), strconv.FormatInt(s.Bytes, 10), s.Manifest})
	}
	display.end()
	if len(shown) == 0 && !asJSON {
		if err == nil {
			a.note("No day is old enough.")
		}
		return err
	}
	return errors.Join(a.print(asJSON, shown, rows...), err) // what was archived is archived
}

// openAsOwner opens the database with the rights of the owner.
func (a *app) openAsOwner(ctx context.Context) (config.Config, *pgxpool.Pool, error) {
	cfg, err := a.settings(ctx)
	if err != nil {
		return cfg, nil, err
	}
	pool, err := pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Role: pg.Owner, Conns: 4})
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
		return cfg, nil, fmt.Errorf("the login is not a member of %s; use the one that migrates: %w", pg.Owner, err)
	}
	if err != nil {
		return cfg, nil, err
	}
	if err := pg.CheckSchema(ctx, pool); err != nil {
		pool.Close()
		return cfg, nil, err
	}
	return cfg, pool, nil
}

func (a *app) journalNewEpochCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new-epoch",
		Short: "After a restore: move the counter of epochs beyond every number ever used",
		Long: `Every start of a node draws an epoch from a counter in the database, and batches of the journal are named by it. A
database that was set back to an earlier moment hands out numbers again that were used after that moment: by batches
that are lost here and may be known elsewhere, and by nodes that may still run. This moves the counter to the present
time in seconds since 1970, beyond all of them, and notes when and why.

Run it after every restore and after the promotion of a standby that was not synchronous, before the service starts.
It needs the rights of the owner, as migrate does.`,
		Example: `  lineproof journal new-epoch --reason "restored to 2026-11-14 09:30 after the loss of db1"`,
		Args:    cobra.NoArgs,
	}
	reason := cmd.Flags().String("reason", "", "why; it is kept")
	required(cmd, "reason")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		if *reason == "" {
			return usagef("--reason says nothing")
		}
		_, pool, err := a.openAsOwner(cmd.Context())
		if err != nil {
			return err
		}
		defer pool.Close()
		last, next, err := journal.SkipEpochs(cmd.Context(), pool, *reason, time.Now())
		if err != nil {
			return err
		}
		return a.print(*asJSON, map[string]int64{"last": last, "next": next},
			[]string{"last epoch before", strconv.FormatInt(last, 10)}, []string{"next epoch", strconv.FormatInt(next, 10)})
	})
	return cmd
}
