package share

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// MaxPeriod is the longest period of an announced change.
const MaxPeriod = 31 * 24 * time.Hour

// Announcement lets a mass change of a network's lines count without being held: so
// many events that end, move or re-assign lines, reported in a period.
type Announcement struct {
	ID      uuid.UUID
	Network numbering.Network
	Lines   int64
	From    time.Time
	Until   time.Time
}

// Announce stores an announcement. It takes two people; the caller has made sure of
// that, and audits it.
func Announce(ctx context.Context, tx pg.Tx, a Announcement, now time.Time) error {
	_, err := tx.Exec(ctx, `INSERT INTO supply_announced (id, network, lines, starts_at, ends_at, announced_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		a.ID, a.Network, a.Lines, a.From, a.Until, now)
	if err != nil {
		return fmt.Errorf("share: store an announced change: %w", err)
	}
	return nil
}
