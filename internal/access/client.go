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

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
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

// ClientForm is what the regulator's staff enter to create a client.
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
		q := db.New(tx)
		err = q.InsertClient(ctx, db.InsertClientParams{
			ID: c.ID, Name: f.Name, Scopes: c.Scopes, Network: f.Network, Vouches: f.Vouches, Sole: f.Sole, CreatedAt: now,
		})
		if err != nil {
			return err
		}
		if _, err := s.insertSecret(ctx, q, c.ID, c.Secret, false); err != nil {
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

func (s *Service) clients(ctx context.Context, id uuid.UUID) ([]ClientRow, error) {
	rows, err := db.New(s.Pool).Clients(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("access: list clients: %w", err)
	}
	list := make([]ClientRow, 0, len(rows))
	for _, r := range rows {
		list = append(list, ClientRow{
			ID: r.ID, Name: r.Name, Scopes: r.Scopes, Network: r.Network, Vouches: r.Vouches, Sole: r.Sole,
			Suspended: r.SuspendedAt != nil, Revoked: r.RevokedAt != nil, Secrets: r.Secrets, CreatedAt: r.CreatedAt, LastTokenAt: r.LastTokenAt,
		})
	}
	return list, nil
}

// NetworkOf returns the code of the network that a client may supply lines for,
// and "" if it may not (also because it has line:port as well), or is suspended or revoked. The people of an entity may
// report lines of the network of the client that onboarded the entity.
func (s *Service) NetworkOf(ctx context.Context, client uuid.UUID) (string, error) {
	row, err := db.New(s.Pool).NetworkOfClient(ctx, db.NetworkOfClientParams{ID: client, Scope: string(LineSupply), Without: string(LinePort)})
	err = pg.Signed(ctx, s.Pool, err, pg.Row{Table: "client", ID: client, Sum: row.RowSum, MAC: row.RowMac})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("access: find the network of a client: %w", err)
	}
	return row.Network, nil
}

// SuspendClient disables a client and its tokens until it is resumed.
func (s *Service) SuspendClient(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	return s.changeClient(ctx, id, audit.ClientSuspended, by, request, func(q *db.Queries) (int64, error) {
		return q.SuspendClient(ctx, db.SuspendClientParams{ID: id, At: &now})
	})
}

// ResumeClient ends the suspension of a client. Its secrets work again, and so
// do its tokens that have not expired.
func (s *Service) ResumeClient(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	return s.changeClient(ctx, id, audit.ClientResumed, by, request, func(q *db.Queries) (int64, error) { return q.ResumeClient(ctx, id) })
}

// RevokeClient revokes a client and all its tokens. It cannot be undone.
func (s *Service) RevokeClient(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	return s.changeClient(ctx, id, audit.ClientRevoked, by, request, func(q *db.Queries) (int64, error) {
		n, err := q.RevokeClient(ctx, db.RevokeClientParams{ID: id, At: &now})
		if err != nil || n == 0 {
			return n, err
		}
		return n, q.RevokeTokensOfClient(ctx, db.RevokeTokensOfClientParams{ClientID: id, At: &now})
	})
}

func (s *Service) changeClient(ctx context.Context, id uuid.UUID, what audit.Action, by audit.Actor, request uuid.UUID, change func(*db.Queries) (int64, error)) error {
	defer s.cache.invalidate(id)
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		n, err := change(db.New(tx))
		if err != nil {
			return fmt.Errorf("access: %s: %w", what, err)
		}
		if n == 0 {
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
