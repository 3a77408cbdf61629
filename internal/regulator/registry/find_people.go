package registry

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Invited returns the accounts that were invited by an e-mail address and have not accepted:
// one for each organisation. The address is compared with every account.
func (r *Registry) Invited(ctx context.Context, email string) ([]uuid.UUID, error) {
	ids, err := pg.Collect(ctx, r.Pool, pgx.RowTo[uuid.UUID],
		`SELECT id FROM account WHERE lower(email) = lower($1) AND password_hash IS NULL ORDER BY created_at`, email)
	return ids, fault.Wrap(err, "registry: find invitations")
}

// Named is a person by the name that pages show.
type Named struct {
	ID   uuid.UUID
	Name DisplayName
}

func scanNamed(row pgx.CollectableRow) (n Named, err error) {
	err = row.Scan(&n.ID, &n.Name.Name, &n.Name.Role, &n.Name.Entity)
	return n, err
}

// FindPeople returns accounts whose name has a text in it, or whose e-mail address it is,
// by name. Accounts that were removed are included: their entries in the audit trail stay.
// The text is compared with every account.
func (r *Registry) FindPeople(ctx context.Context, text string, limit int) ([]Named, error) {
	text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", ""))
	if text == "" {
		return nil, nil
	}
	list, err := pg.Collect(ctx, r.Pool, scanNamed, `SELECT a.id, a.name, coalesce(a.role, ''), coalesce(e.name, '') FROM account a LEFT JOIN entity e ON e.id = a.entity_id
		WHERE strpos(lower(a.name), lower($1)) > 0 OR lower(a.email) = lower($1) ORDER BY lower(a.name), a.id LIMIT $2`, text, limit)
	return list, fault.Wrap(err, "registry: find people")
}
