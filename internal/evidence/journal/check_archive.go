package journal

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
)

// CheckArchives reads the archives of the days from one to another, both
// included, and checks every file, every record and every batch. The zero time
// is no limit.
func (c *Checker) CheckArchives(ctx context.Context, from, to time.Time) (Report, error) {
	var total Report
	archives, err := Archives(ctx, c.Pool, from, to)
	if err != nil {
		return total, err
	}
	for i := range archives {
		day := archives[i].Day
		erased, err := erasedOf(ctx, c.Pool, day, wholeDay(day))
		if err != nil {
			return total, err
		}
		found, err := archivefile.CheckArchive(ctx, c.Files, &archives[i], &erased, c.Limit-len(total.Findings), func(entries int64) {
			if c.OnProgress != nil {
				progress := total
				progress.Entries += entries
				c.OnProgress(progress)
			}
		})
		if err != nil {
			return total, err
		}
		total.Archives++
		total.Merge(&found, c.Limit)
	}
	return total, nil
}
