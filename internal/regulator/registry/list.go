package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// EntityDetails is an entity with the details that staff see.
type EntityDetails struct {
	Entity
	Reason   string    // of the last change of status; empty if there was none
	Since    time.Time // time of the last change of status; zero if there was none
	Client   uuid.UUID // that onboarded it; zero if staff created it
	Supplies bool      // supplies lines
	Verifies bool      // verifies numbers
	Accounts int64     // not disabled
}

// Entity returns one entity, or ErrNoEntity.
func (r *Registry) Entity(ctx context.Context, id uuid.UUID) (EntityDetails, error) {
	row := pg.Row{Table: "entity", ID: id}
	d, err := readDetails(r.Pool.QueryRow(ctx, `SELECT `+detailColumns+`, e.row_sum, e.row_mac FROM entity e WHERE e.id = $1`, id), &row.Sum, &row.MAC)
	err = pg.Signed(ctx, r.Pool, err, row)
	if errors.Is(err, pgx.ErrNoRows) {
		return EntityDetails{}, ErrNoEntity
	}
	if err != nil {
		return EntityDetails{}, fmt.Errorf("registry: read an entity: %w", err)
	}
	return d, nil
}

// Entities lists entities, the newest first: all of them, or those with a status.
func (r *Registry) Entities(ctx context.Context, of Status, limit int) ([]EntityDetails, error) {
	list, err := pg.Collect(ctx, r.Pool, scanDetails, `SELECT `+detailColumns+` FROM entity e WHERE $1 = '' OR e.status = $1 ORDER BY e.created_at DESC, e.id DESC LIMIT $2`, of, limit)
	return list, fault.Wrap(err, "registry: list entities")
}

// detailColumns are those of the details of an entity e; see readDetails.
const detailColumns = `e.id, e.name, e.cac, e.status, e.document_required, e.supplies, e.asks, e.client_id, e.status_reason, e.status_since, e.created_at,
	(SELECT count(*) FROM account a WHERE a.entity_id = e.id AND a.disabled_at IS NULL)`

// readDetails reads the details of an entity, and what was selected with them.
func readDetails(row pgx.Row, more ...any) (d EntityDetails, err error) {
	var client uuid.NullUUID
	var since *time.Time
	err = row.Scan(append([]any{
		&d.ID, &d.Name, &d.CAC, &d.Status, &d.DocumentRequired, &d.Supplies, &d.Verifies, &client, &d.Reason, &since, &d.CreatedAt, &d.Accounts,
	}, more...)...)
	d.Client, d.CreatedAt = client.UUID, d.CreatedAt.UTC()
	if since != nil {
		d.Since = since.UTC()
	}
	return d, err
}

func scanDetails(row pgx.CollectableRow) (EntityDetails, error) { return readDetails(row) }

// IDs returns the ids of entities.
func IDs(entities []EntityDetails) []uuid.UUID {
	ids := make([]uuid.UUID, len(entities))
	for i := range entities {
		ids[i] = entities[i].ID
	}
	return ids
}
