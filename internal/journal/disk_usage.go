package journal

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/lineproof/lineproof/internal/pg"
)

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
	all, err := partitions(ctx, from, true)
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
	if err := from.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&u.Database); err != nil {
		return u, fmt.Errorf("journal: measure the database: %w", err)
	}
	return u, nil
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
