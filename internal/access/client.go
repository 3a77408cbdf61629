package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

var (
	// ErrNoClient reports a client that does not exist, or for which what is asked
	// was done before.
	ErrNoClient = fault.New(fault.NotFound, "There is no such client, or it was revoked, suspended or resumed before.")

	// ErrNoSecret reports a secret that does not exist or was revoked before.
	ErrNoSecret = fault.New(fault.NotFound, "This client has no such secret, or it was revoked before.")

	// ErrSecrets reports a client that has as many secrets as it may.
	ErrSecrets = fault.New(fault.IncompatibleState, "The client has two secrets already. Revoke the one that is no longer in use first.")
)

// ClientForm is a client as the regulator's staff describe it.
type ClientForm struct {
	Name    string
	Scopes  []string
	Network string // for which it may supply lines; "" for none
	Vouches bool
}

// NewClient is a client that was just made. The secret is shown this once.
type NewClient struct {
	ID     uuid.UUID
	Secret secret.Text
	Scopes []string
}

// CreateClient makes a client with one secret.
func (k *Keeper) CreateClient(ctx context.Context, f ClientForm, by audit.Actor, request uuid.UUID) (NewClient, error) {
	var wrong fault.Form
	checkLabel(&wrong, "name", f.Name, 200)
	wrong.Check(len(f.Scopes) > 0, "scope", fault.Required, "Give at least one scope.")
	for _, s := range f.Scopes {
		wrong.Check(slices.Contains(Scopes, Scope(s)), "scope", fault.NotAllowed, "The scopes are: "+scopeList()+".")
	}
	wrong.Check(!slices.Contains(f.Scopes, string(LineSupply)) || f.Network != "", "network", fault.Required,
		"A client that supplies lines needs the network for which it does.")
	if err := wrong.Err(); err != nil {
		return NewClient{}, err
	}
	c := NewClient{ID: uuid.Must(uuid.NewV7()), Secret: secret.New(secret.ClientSecret), Scopes: f.Scopes}
	now := k.now()
	err := pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		q := db.New(tx)
		err := q.InsertClient(ctx, db.InsertClientParams{
			ID: c.ID, Name: f.Name, Scopes: f.Scopes, Network: f.Network, Vouches: f.Vouches, CreatedAt: now,
		})
		if err != nil {
			return err
		}
		if _, err := k.insertSecret(ctx, q, c.ID, c.Secret); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.ClientCreated, Subject: c.ID, Request: request,
			After: map[string]any{"name": f.Name, "scopes": f.Scopes, "network": f.Network, "vouches": f.Vouches},
		})
	})
	if err != nil {
		return NewClient{}, fmt.Errorf("access: create a client: %w", err)
	}
	return c, nil
}

// ClientRow is a client as a list shows it.
type ClientRow struct {
	ID          uuid.UUID
	Name        string
	Scopes      []string
	Network     string
	Vouches     bool
	Suspended   bool
	Revoked     bool
	Secrets     int64 // that stand
	CreatedAt   time.Time
	LastTokenAt time.Time // zero if it never asked for a token
}

// Clients lists all clients, oldest first.
func (k *Keeper) Clients(ctx context.Context) ([]ClientRow, error) { return k.clients(ctx, uuid.Nil) }

// Client returns one client, revoked or not, or ErrNoClient.
func (k *Keeper) Client(ctx context.Context, id uuid.UUID) (ClientRow, error) {
	if id == uuid.Nil {
		return ClientRow{}, ErrNoClient
	}
	list, err := k.clients(ctx, id)
	if err != nil {
		return ClientRow{}, err
	}
	if len(list) == 0 {
		return ClientRow{}, ErrNoClient
	}
	return list[0], nil
}

func (k *Keeper) clients(ctx context.Context, id uuid.UUID) ([]ClientRow, error) {
	rows, err := db.New(k.Pool).Clients(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("access: list clients: %w", err)
	}
	list := make([]ClientRow, 0, len(rows))
	for _, r := range rows {
		list = append(list, ClientRow{
			ID: r.ID, Name: r.Name, Scopes: r.Scopes, Network: r.Network, Vouches: r.Vouches,
			Suspended: r.SuspendedAt != nil, Revoked: r.RevokedAt != nil, Secrets: r.Secrets, CreatedAt: r.CreatedAt, LastTokenAt: r.LastTokenAt,
		})
	}
	return list, nil
}

// NetworkOf returns the code of the network for which a client may supply lines,
// and "" for one that may not, or may not at the moment. Whoever works for an
// entity speaks of lines as far as the client does that brought the entity in.
func (k *Keeper) NetworkOf(ctx context.Context, client uuid.UUID) (string, error) {
	network, err := db.New(k.Pool).NetworkOfClient(ctx, db.NetworkOfClientParams{ID: client, Scope: string(LineSupply)})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("access: find the network of a client: %w", err)
	}
	return network, nil
}

// SuspendClient stops a client and its tokens until it is resumed.
func (k *Keeper) SuspendClient(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := k.now()
	return k.changeClient(ctx, id, audit.ClientSuspended, by, request, func(q *db.Queries) (int64, error) {
		return q.SuspendClient(ctx, db.SuspendClientParams{ID: id, At: &now})
	})
}

// ResumeClient lets a suspended client go on, with its secrets and those of its
// tokens that have not expired.
func (k *Keeper) ResumeClient(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	return k.changeClient(ctx, id, audit.ClientResumed, by, request, func(q *db.Queries) (int64, error) { return q.ResumeClient(ctx, id) })
}

// RevokeClient ends a client and every token that it holds, for good.
func (k *Keeper) RevokeClient(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := k.now()
	return k.changeClient(ctx, id, audit.ClientRevoked, by, request, func(q *db.Queries) (int64, error) {
		n, err := q.RevokeClient(ctx, db.RevokeClientParams{ID: id, At: &now})
		if err != nil || n == 0 {
			return n, err
		}
		return n, q.RevokeTokensOfClient(ctx, db.RevokeTokensOfClientParams{ClientID: id, At: &now})
	})
}

func (k *Keeper) changeClient(ctx context.Context, id uuid.UUID, what audit.Action, by audit.Actor, request uuid.UUID, change func(*db.Queries) (int64, error)) error {
	defer k.memory.forget(id)
	return pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		n, err := change(db.New(tx))
		if err != nil {
			return fmt.Errorf("access: %s: %w", what, err)
		}
		if n == 0 {
			return ErrNoClient
		}
		return audit.Write(ctx, tx, audit.Entry{At: k.now(), Actor: by, Action: what, Subject: id, Request: request})
	})
}

func checkLabel(wrong *fault.Form, field, s string, longest int) {
	wrong.Check(strings.TrimSpace(s) != "", field, fault.Required, "Give a name.")
	wrong.Check(utf8.RuneCountInString(s) <= longest, field, fault.TooLong, fmt.Sprintf("Use at most %d characters.", longest))
}

func scopeList() string {
	list := make([]string, len(Scopes))
	for i, s := range Scopes {
		list[i] = string(s)
	}
	return strings.Join(list, ", ")
}
