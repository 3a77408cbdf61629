package guard

import (
	"context"
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// From so many watch-lists in a year that were held, or that an organisation has deleted, staff
// have an alert on each day on which there is another: somebody may try numbers out with them.
const (
	heldLists    = 3
	deletedLists = 16
)

// CountLists counts live watch-lists of an organisation that were held or deleted.
func (g *Guard) CountLists(ctx context.Context, tx pg.Tx, entity uuid.UUID, held, deleted int64) error {
	now := g.Now()
	allHeld, allDeleted, err := countLists(ctx, tx, entity, yearOf(dayOf(now)), held, deleted)
	if err != nil || allHeld < heldLists && allDeleted < deletedLists {
		return err
	}
	o := g.organisation(entity)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.startDay(now)
	o.raise(g, ListsHeld, finding{Notified, Figures{Numbers: allHeld, Misses: allDeleted}}, now, startOf(dayOf(now)+1))
	return nil
}

// Secret returns bits that are the same for an id on every node, and that nobody outside can
// know.
func (g *Guard) Secret(id uuid.UUID) uint64 {
	return g.hash(binary.BigEndian.Uint64(id[:8]) ^ g.hash(binary.BigEndian.Uint64(id[8:])))
}
