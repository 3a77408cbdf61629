package journal

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/lineproof/lineproof/internal/pg"
)

// Usage is how much room the journal takes, and how fast it takes more.
type Usage struct {
	Journal  int64 // bytes of all its partitions, with their indexes
	Database int64 // bytes of the whole database, the journal included
	Daily    int64 // bytes by which the journal grows in a day
}

// earliest is how much of a day must be over before its growth says something
// about the whole.
const earliest = time.Hour

// Measure returns how much room the journal takes. It grows as on the last day
// that is over or, if that is more, as today so far.
func Measure(ctx context.Context, from pg.DB, now time.Time) (u Usage, err error) {
	all, err := partitions(ctx, from, true)
	if err != nil {
		return u, err
	}
	today, soFar := dayOf(now), now.Sub(dayOf(now))
	var yesterdays, todays int64
	for i := range all {
		u.Journal += all[i].bytes
		switch {
		case all[i].day.Equal(today):
			todays += all[i].bytes
		case all[i].day.Equal(today.AddDate(0, 0, -1)):
			yesterdays += all[i].bytes
		}
	}
	u.Daily = yesterdays
	if soFar >= earliest {
		u.Daily = max(u.Daily, int64(float64(todays)*float64(24*time.Hour)/float64(soFar)))
	}
	if err := from.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&u.Database); err != nil {
		return u, fmt.Errorf("journal: measure the database: %w", err)
	}
	return u, nil
}

// DaysLeft returns for how many days there is room if the database may take so
// many bytes: none when it has taken them, and no end of days when it does not
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
