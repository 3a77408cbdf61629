package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

var (
	// ErrNoClient reports a client that does not exist, or that is already in the
	// requested state.
	ErrNoClient = fault.New(fault.NotFound, "There is no such client, or it is already revoked, suspended or resumed.")

	// ErrNoSecret reports a secret that does not exist or is already revoked.
	ErrNoSecret = fault.New(fault.NotFound, "This client has no such secret, or it is already revoked.")

	// ErrSecrets reports a client that has the maximum number of secrets.
	ErrSecrets = fault.New(fault.IncompatibleState, "The client already has two secrets. Revoke the one that is no longer used first.")
)

// ClientForm is the staff's form for a new client.
type ClientForm struct {
	Name    string
	Scopes  []string
	Network string // the code of the network it may supply lines for; "" for none
	Vouches bool   // the admins of the entities it onboards count as verified
	Sole    bool   // it belongs to the one organisation that it onboards, whose admins change its secrets
	Reason  string // required if a second person has to confirm the scopes
}

// NewClient is a client that was just created. The secret is shown only now.
type NewClient struct {
	ID     uuid.UUID
	Secret secret.Text
	Scopes []string // that it has now
	// Pending is the approval that must be confirmed before the client gets the scopes
	// that change lines. It is zero if it has all scopes.
	Pending uuid.UUID
}

// CreateClient creates a client with one secret. It takes two people to give it a scope
// that changes lines: it starts without those, and gets them when a second person has
// confirmed it.
func (s *Service) CreateClient(ctx context.Context, f ClientForm, by audit.Actor, request uuid.UUID) (NewClient, error) {
	if err := f.check(); err != nil {
		return NewClient{}, err
	}
	c := NewClient{ID: uuid.Must(uuid.NewV7()), Secret: secret.New(secret.ClientSecret), Scopes: f.Scopes}
	now := s.now()
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		waits, err := takesTwo(ctx, tx, f.Scopes, by)
		if err != nil {
			return err
		}
		if waits {
			c.Scopes = slices.DeleteFunc(slices.Clone(f.Scopes), ChangesLines)
		}
		_, err = tx.Exec(ctx, `INSERT INTO client (id, name, scopes, network, vouches, sole, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			c.ID, f.Name, c.Scopes, f.Network, f.Vouches, f.Sole, now)
		if err != nil {
			return err
		}
		if _, err := s.insertSecret(ctx, tx, c.ID, c.Secret, false); err != nil {
			return err
		}
		if err := registry.RecordAccess(ctx, tx, c.ID, registry.AccessCreated, by, now); err != nil {
			return err
		}
		err = audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.ClientCreated, Subject: c.ID, Request: request,
			After: map[string]any{"name": f.Name, "scopes": c.Scopes, "network": f.Network, "vouches": f.Vouches, "sole": f.Sole},
		})
		if err != nil || !waits {
			return err
		}
		c.Pending, err = approval.Create(ctx, tx, registry.CheckStaff, approval.Request{
			Kind: GiveScopes, Subject: c.ID, Details: map[string]string{"scopes": strings.Join(f.Scopes, " "), "network": f.Network}, Reason: f.Reason, By: by, Request: request, At: s.now(),
		})
		return err
	})
	if err != nil {
		return NewClient{}, fmt.Errorf("access: create a client: %w", err)
	}
	return c, nil
}

func (f *ClientForm) check() error {
	var wrong fault.Form
	wrong.CheckLabel("name", f.Name, 200)
	wrong.Check(len(f.Scopes) > 0, "scope", fault.Required, "Give at least one scope.")
	for _, scope := range f.Scopes {
		wrong.Check(slices.Contains(Scopes, Scope(scope)), "scope", fault.NotAllowed, "The scopes are: "+scopeList()+".")
	}
	wrong.Check(!bothSupplyAndPort(f.Scopes), "scope", fault.NotAllowed,
		"One client never has both line:supply and line:port. Create two clients: one for the network that supplies lines, one for the clearing house.")
	wrong.Check(!slices.Contains(f.Scopes, string(LineSupply)) || f.Network != "", "network", fault.Required,
		"Give the network that the client supplies lines for.")
	return wrong.Err()
}

// ClientRow is a client as lists show it.
type ClientRow struct {
	ID          uuid.UUID
	Name        string
	Scopes      []string
	Network     string
	Vouches     bool
	Sole        bool
	Suspended   bool
	Revoked     bool
	Secrets     int64 // not revoked
	CreatedAt   time.Time
	LastTokenAt time.Time // when it last requested a token; zero if never
}

// Clients lists all clients, oldest first.
func (s *Service) Clients(ctx context.Context) ([]ClientRow, error) { return s.clients(ctx, uuid.Nil) }

// Client returns one client, revoked or not, or ErrNoClient.
func (s *Service) Client(ctx context.Context, id uuid.UUID) (ClientRow, error) {
	if id == uuid.Nil {
		return ClientRow{}, ErrNoClient
	}
	list, err := s.clients(ctx, id)
	if err != nil {
		return ClientRow{}, err
	}
	if len(list) == 0 {
		return ClientRow{}, ErrNoClient
	}
	return list[0], nil
}

// ClientName returns the name of a client, for display.
func ClientName(ctx context.Context, from pg.DB, id uuid.UUID) (name string, err error) {
	err = from.QueryRow(ctx, `SELECT name FROM client WHERE id = $1`, id).Scan(&name)
	return name, fault.Wrap(err, "access: find the name of a client")
}

// clients returns one client, or all for the zero id.
func (s *Service) clients(ctx context.Context, id uuid.UUID) ([]ClientRow, error) {
	list, err := pg.Collect(ctx, s.Pool, pgx.RowToStructByPos[ClientRow], `SELECT c.id, c.name, c.scopes, c.network, c.vouches, c.sole,
		c.suspended_at IS NOT NULL, c.revoked_at IS NOT NULL, (SELECT count(*) FROM client_secret s WHERE s.client_id = c.id AND s.revoked_at IS NULL), c.created_at,
		coalesce((SELECT max(t.created_at) FROM access_token t WHERE t.client_id = c.id), '0001-01-01T00:00:00Z')
		FROM client c WHERE c.id = $1 OR $1 = '00000000-0000-0000-0000-000000000000'::uuid ORDER BY c.created_at, c.id`, id)
	return list, fault.Wrap(err, "access: list clients")
}

// NetworkOf returns the code of the network that a client may supply lines for,
// and "" if it may not (also because it has line:port as well), or is suspended or revoked. The people of an entity may
// report lines of the network of the client that onboarded the entity.
func (s *Service) NetworkOf(ctx context.Context, client uuid.UUID) (network string, err error) {
	row := pg.Row{Table: "client", ID: client}
	err = s.Pool.QueryRow(ctx, `SELECT network, row_sum, row_mac FROM client
		WHERE id = $1 AND $2 = ANY(scopes) AND NOT $3 = ANY(scopes) AND revoked_at IS NULL AND suspended_at IS NULL`, client, LineSupply, LinePort).
		Scan(&network, &row.Sum, &row.MAC)
	err = pg.Signed(ctx, s.Pool, err, row)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("access: find the network of a client: %w", err)
	}
	return network, nil
}

// SuspendClient disables a client and its tokens until it is resumed.
func (s *Service) SuspendClient(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	return s.changeClient(ctx, id, audit.ClientSuspended, by, request, func(tx pg.Tx) (pgconn.CommandTag, error) {
		return tx.Exec(ctx, `UPDATE client SET suspended_at = $2 WHERE id = $1 AND suspended_at IS NULL AND revoked_at IS NULL`, id, s.now())
	})
}

// ResumeClient ends the suspension of a client. Its secrets work again, and so
// do its tokens that have not expired.
func (s *Service) ResumeClient(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	return s.changeClient(ctx, id, audit.ClientResumed, by, request, func(tx pg.Tx) (pgconn.CommandTag, error) {
		return tx.Exec(ctx, `UPDATE client SET suspended_at = NULL WHERE id = $1 AND suspended_at IS NOT NULL AND revoked_at IS NULL`, id)
	})
}

// RevokeClient revokes a client and all its tokens. It cannot be undone.
func (s *Service) RevokeClient(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	return s.changeClient(ctx, id, audit.ClientRevoked, by, request, func(tx pg.Tx) (pgconn.CommandTag, error) {
		changed, err := tx.Exec(ctx, `UPDATE client SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL`, id, now)
		if err == nil && changed.RowsAffected() > 0 {
			_, err = tx.Exec(ctx, `UPDATE access_token SET revoked_at = $2 WHERE client_id = $1 AND revoked_at IS NULL`, id, now)
		}
		return changed, err
	})
}

func (s *Service) changeClient(ctx context.Context, id uuid.UUID, what audit.Action, by audit.Actor, request uuid.UUID, change func(pg.Tx) (pgconn.CommandTag, error)) error {
	defer s.cache.invalidate(id)
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		changed, err := change(tx)
		if err != nil {
			return fmt.Errorf("access: %s: %w", what, err)
		}
		if changed.RowsAffected() == 0 {
			return ErrNoClient
		}
		return audit.Write(ctx, tx, audit.Entry{At: s.now(), Actor: by, Action: what, Subject: id, Request: request})
	})
}

func scopeList() string {
	list := make([]string, len(Scopes))
	for i, s := range Scopes {
		list[i] = string(s)
	}
	return strings.Join(list, ", ")
}
