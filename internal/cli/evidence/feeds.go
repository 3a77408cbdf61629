// This part of the package has the commands that keep the feeds of organisations.

package evidence

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/server"
)

// FeedCommand returns the commands about feeds.
func FeedCommand(con *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use:     "feed",
		Short:   "Keep the feeds of organisations",
		Long:    "Moves old days of the feeds from the database into encrypted files, reads them there, and checks the chains of all feeds.",
		Example: "  lineproof feed archive",
	}, feedArchiveCommand(con), feedShowCommand(con), feedCheckCommand(con))
}

// WithArchive runs a function with the archive of the feeds, with the rights of the
// owner.
func WithArchive(ctx context.Context, con *console.Console, fn func(*feed.Archive) error) error {
	cfg, pool, err := backend.OpenAsOwner(ctx, con)
	if err != nil {
		return err
	}
	defer pool.Close()
	files, err := server.OpenStore(cfg, server.FeedStore)
	if err != nil {
		return err
	}
	defer files.Close()
	return fn(&feed.Archive{Pool: pool, Files: files, Now: time.Now})
}

func feedArchiveCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Move old days of the feeds from the database into encrypted files",
		Long: `Writes each old day of the feeds to the store feeds, in LINEPROOF_DATA or in the bucket, encrypted under a key of its own,
reads it back, checks the chain of every feed in it, and only then drops the day from the database. A cursor before the
oldest day in the database gets 410. Keys of days that are kept no longer are destroyed, and then their files.

It can be stopped at any time, and continues when it is run again. It needs the rights of the owner, as migrate does.`,
		Example: `  lineproof feed archive
  lineproof feed archive --days 120 --keep-days 1095`,
		Args: cobra.NoArgs,
	}
	days := cmd.Flags().Int("days", 90, "number of days to keep in the database")
	keep := cmd.Flags().Int("keep-days", 730, "number of days after which the key of a day is destroyed")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		if *days < 1 || *keep < *days {
			return console.Usagef("--days must be at least 1, and --keep-days not less")
		}
		return WithArchive(cmd.Context(), con, func(archive *feed.Archive) error {
			return archiveDays(cmd.Context(), con, archive, *days, *keep, *asJSON)
		})
	})
	return cmd
}

// dayJSON is an archived day of the feeds, as printed with --json.
type dayJSON struct {
	Day     string `json:"day"`
	Entries int64  `json:"entries"`
	Bytes   int64  `json:"bytes"`
}

func archiveDays(ctx context.Context, con *console.Console, archive *feed.Archive, days, keep int, asJSON bool) error {
	today := time.Now().UTC().Truncate(24 * time.Hour)
	due, err := archive.Due(ctx, today.AddDate(0, 0, -days))
	if err != nil {
		return err
	}
	archived, rows := []dayJSON{}, [][]string{{"DAY", "ENTRIES", "BYTES"}}
	for _, day := range due {
		s, err := archive.Archive(ctx, day)
		if err != nil {
			return fmt.Errorf("%s: %w", day.Format(time.DateOnly), err)
		}
		one := dayJSON{Day: day.Format(time.DateOnly), Entries: s.Entries, Bytes: s.Bytes}
		archived, rows = append(archived, one), append(rows, []string{one.Day, strconv.FormatInt(one.Entries, 10), strconv.FormatInt(one.Bytes, 10)})
	}
	lapsed, err := archive.Lapse(ctx, today.AddDate(0, 0, -keep))
	if err != nil {
		return err
	}
	if lapsed > 0 {
		con.Note("The keys of %d days were destroyed.", lapsed)
	}
	if len(archived) == 0 && !asJSON {
		con.Note("No day is old enough to archive.")
		return nil
	}
	return con.Print(asJSON, archived, rows...)
}

func feedShowCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print what an organisation was told on an archived day",
		Long: `Prints the events of the feed of an organisation on a day that was archived, one a line, as the organisation got them
without their hash. The chain of the day is checked. It needs the rights of the owner, as migrate does.`,
		Example: "  lineproof feed show --entity 01a1d964-6e3b-7b02-9d11-2c7e5a90f3b4 --day 2026-05-01",
		Args:    cobra.NoArgs,
	}
	entity := cmd.Flags().String("entity", "", "the organisation")
	mode := cmd.Flags().String("mode", "live", "live or test")
	day := cmd.Flags().String("day", "", "the day, in UTC")
	console.Require(cmd, "entity", "day")
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		id, err := uuid.Parse(*entity)
		if err != nil {
			return console.Usagef("--entity is not the id of an organisation")
		}
		at, err := time.Parse(time.DateOnly, *day)
		if err != nil {
			return console.Usagef("--day must be a day such as 2026-05-01")
		}
		return WithArchive(cmd.Context(), con, func(archive *feed.Archive) error {
			return archive.Read(cmd.Context(), at, func(r *feed.Row) error {
				if r.Entity != id || r.Mode != *mode {
					return nil
				}
				text := r.Body
				if len(text) == 0 {
					text = fmt.Appendf(nil, "erased: %d-%d", r.Epoch, r.Seq)
				}
				_, err := fmt.Fprintf(con.Out, "%s\n", text)
				return err
			})
		})
	})
	return cmd
}

// checkedJSON is the result of a check, as printed with --json.
type checkedJSON struct {
	Segments int   `json:"archivedDays"`
	Days     int   `json:"days"`
	Lapsed   int   `json:"lapsedDays"`
	Entries  int64 `json:"entries"`
	Feeds    int   `json:"feeds"`
}

func feedCheckCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the chains of all feeds, archived days included",
		Long: `Reads every entry of every feed, from the oldest archived day whose key has not lapsed to the newest, and checks that each
follows the one before it, also from one day to the next: nothing was left out, altered or moved. It reads everything,
so run it when the service is quiet. It needs the rights of the owner, as migrate does.`,
		Example: "  lineproof feed check",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		return WithArchive(cmd.Context(), con, func(archive *feed.Archive) error {
			c, err := archive.Check(cmd.Context())
			if err != nil {
				return err
			}
			count := func(n int) string { return strconv.Itoa(n) }
			return con.Print(*asJSON, checkedJSON(c), []string{"archived days", count(c.Segments)}, []string{"days in the database", count(c.Days)}, []string{"lapsed days", count(c.Lapsed)},
				[]string{"feeds", count(c.Feeds)}, []string{"entries", strconv.FormatInt(c.Entries, 10)})
		})
	})
	return cmd
}
