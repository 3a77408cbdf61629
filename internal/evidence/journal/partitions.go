package journal

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The two tables of the journal, in the order in which a day leaves them.
const (
	entryTable = "journal_entry"
	batchTable = "journal_batch"
)

// partition is one day of one of the two tables.
type partition struct {
	day      time.Time
	parent   string
	bytes    int64 // with its indexes
	attached bool  // part of its table; otherwise detached and not dropped yet
	pending  bool  // its detaching was interrupted
}

// readable reports whether queries on the table see the partition.
func (p *partition) readable() bool { return p.attached && !p.pending }

// partitionOf returns the name of a day's partition.
func partitionOf(parent string, day time.Time) string { return parent + "_" + day.Format("20060102") }

// dayOf returns the day of a time, in UTC.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// partitions lists the journal's partitions by day, including those that were detached and
// still exist, without their sizes.
func partitions(ctx context.Context, from pg.DB) ([]partition, error) {
	return listPartitions(ctx, from, false)
}

// partitionsWithSizes is partitions with their sizes, which means a stat of every file.
func partitionsWithSizes(ctx context.Context, from pg.DB) ([]partition, error) {
	return listPartitions(ctx, from, true)
}

func listPartitions(ctx context.Context, from pg.DB, withSizes bool) ([]partition, error) {
	rows, err := from.Query(ctx, `SELECT left(c.relname, 13), to_date(right(c.relname, 8), 'YYYYMMDD')::timestamptz,
			CASE WHEN $1 THEN coalesce(pg_total_relation_size(c.oid), 0) ELSE 0 END, i.inhrelid IS NOT NULL, coalesce(i.inhdetachpending, false)
		FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent IN ('public.journal_entry'::regclass, 'public.journal_batch'::regclass)
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^journal_(entry|batch)_[0-9]{8}$'
		ORDER BY 2, 1`, withSizes)
	if err != nil {
		return nil, fmt.Errorf("journal: list partitions: %w", err)
	}
	defer rows.Close()
	var all []partition
	for rows.Next() {
		var p partition
		if err := rows.Scan(&p.parent, &p.day, &p.bytes, &p.attached, &p.pending); err != nil {
			return nil, fmt.Errorf("journal: list partitions: %w", err)
		}
		p.day = p.day.UTC()
		all = append(all, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("journal: list partitions: %w", err)
	}
	return all, nil
}

// readableDays returns the days whose entries can be read from the database, from
// the oldest to the newest. A day with only its batches left is being dropped, and
// the archive has all of it.
func readableDays(ctx context.Context, from pg.DB) ([]time.Time, error) {
	all, err := partitions(ctx, from)
	if err != nil {
		return nil, err
	}
	var days []time.Time
	for i := range all {
		if all[i].parent == entryTable && all[i].readable() {
			days = append(days, all[i].day)
		}
	}
	return days, nil
}

// within returns the days from one to another, both included. The zero time is
// no limit.
func within(days []time.Time, from, to time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(days), func(day time.Time) bool {
		return !from.IsZero() && day.Before(dayOf(from)) || !to.IsZero() && day.After(dayOf(to))
	})
}

// Usage is the disk usage of the journal and its growth.
type Usage struct {
	Journal  int64 // bytes of all its partitions, with their indexes
	Database int64 // bytes of the whole database, the journal included
	Daily    int64 // bytes by which the journal grows in a day
}

// minElapsed is how much of a day must have passed before its growth is
// extrapolated to the whole day.
const minElapsed = time.Hour

// Measure returns the disk usage of the journal. The daily growth is that of
// yesterday or, if that is more, of today so far, extrapolated to the whole day.
func Measure(ctx context.Context, from pg.DB, now time.Time) (u Usage, err error) {
	all, err := partitionsWithSizes(ctx, from)
	if err != nil {
		return u, err
	}
	today, elapsed := dayOf(now), now.Sub(dayOf(now))
	var yesterdayBytes, todayBytes int64
	for i := range all {
		u.Journal += all[i].bytes
		switch {
		case all[i].day.Equal(today):
			todayBytes += all[i].bytes
		case all[i].day.Equal(today.AddDate(0, 0, -1)):
			yesterdayBytes += all[i].bytes
		}
	}
	u.Daily = yesterdayBytes
	if elapsed >= minElapsed {
		u.Daily = max(u.Daily, int64(float64(todayBytes)*float64(24*time.Hour)/float64(elapsed)))
	}
	err = from.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&u.Database)
	return u, fault.Wrap(err, "journal: measure the database")
}

// DaysLeft returns for how many days the disk space lasts if the database may use
// limit bytes: 0 if it already uses them, and infinity if the journal does not
// grow.
func (u *Usage) DaysLeft(limit int64) float64 {
	switch {
	case u.Database >= limit:
		return 0
	case u.Daily == 0:
		return math.Inf(1)
	}
	return float64(limit-u.Database) / float64(u.Daily)
}
