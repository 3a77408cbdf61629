package access

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/internal/db"
)

// KeyRow is a key as a list shows it. Preview is the part that is safe to show.
type KeyRow struct {
	ID, EntityID          uuid.UUID
	Entity, Name, Purpose string
	Mode, Preview         string
	Networks              []netip.Prefix
	Rate                  float64 // 0: the settings hold
	Burst                 int
	CreatedAt             time.Time
	ExpiresAt, RevokedAt  time.Time // zero if it does not, or was not
	LastUsedAt            time.Time // to a minute or so; zero if it never was
	LastUsedFrom          string
	CreatedBy, RevokedBy  uuid.UUID // accounts; zero for the operator
	Replaces              uuid.UUID // the key whose successor it is
}

// Keys lists the keys of an entity, or of all entities for the zero id, oldest
// first.
func (k *Keeper) Keys(ctx context.Context, entity uuid.UUID) ([]KeyRow, error) {
	rows, err := db.New(k.Pool).Keys(ctx, entity)
	if err != nil {
		return nil, fmt.Errorf("access: list keys: %w", err)
	}
	list := make([]KeyRow, 0, len(rows))
	for _, r := range rows {
		list = append(list, KeyRow{
			ID: r.ID, EntityID: r.EntityID, Entity: r.Entity, Name: r.Name, Purpose: r.Purpose, Mode: r.Mode, Preview: r.Preview,
			Networks: r.Networks, Rate: r.Rate, Burst: int(r.Burst), CreatedAt: r.CreatedAt, ExpiresAt: moment(r.ExpiresAt), RevokedAt: moment(r.RevokedAt),
			LastUsedAt: moment(r.LastUsedAt), LastUsedFrom: r.LastUsedFrom, CreatedBy: r.CreatedBy.UUID, RevokedBy: r.RevokedBy.UUID, Replaces: r.Replaces.UUID,
		})
	}
	return list, nil
}

func moment(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}
