package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// MaxSecrets is how many secrets a client may have at a time: the one in use,
// and the one that is about to replace it.
const MaxSecrets = 2

// NewSecret is a client secret that was just created. It is shown only now.
type NewSecret struct {
	ID      uuid.UUID
	Text    secret.Text
	Pending uuid.UUID // the approval that must be confirmed before it can be used; zero for none
}

// SecretRow is a client secret as lists show it.
type SecretRow struct {
	ID         uuid.UUID
	Preview    string
	CreatedAt  time.Time
	LastUsedAt time.Time // exact to about a minute; zero if never used
	Waits      bool      // it cannot be used before a second person confirms it
}

// Secrets lists the secrets of a client that are not revoked, oldest first.
func (s *Service) Secrets(ctx context.Context, client uuid.UUID) ([]SecretRow, error) {
	list, err := secretsOf(ctx, s.Pool, client)
	if err != nil {
		return nil, fmt.Errorf("access: list secrets: %w", err)
	}
	return list, nil
}

func secretsOf(ctx context.Context, from pg.DB, client uuid.UUID) ([]SecretRow, error) {
	return pg.Collect(ctx, from, func(row pgx.CollectableRow) (r SecretRow, err error) {
		var used *time.Time
		err = row.Scan(&r.ID, &r.Preview, &r.Waits, &r.CreatedAt, &used)
		r.LastUsedAt = timeOrZero(used)
		return r, err
	}, `SELECT id, preview, waits, created_at, last_used_at FROM client_secret WHERE client_id = $1 AND revoked_at IS NULL ORDER BY created_at`, client)
}

// AddSecret gives a client a second secret, so that the first can be replaced
// without an interruption. If the client has a scope that changes lines, the secret
// cannot be used until a second person has confirmed it.
func (s *Service) AddSecret(ctx context.Context, client uuid.UUID, reason string, by audit.Actor, request uuid.UUID) (NewSecret, error) {
	return s.addSecret(ctx, client, reason, by, request, func(tx pg.Tx, c lockedClient) (bool, error) { return takesTwo(ctx, tx, c.Scopes, by) })
}

// AddOwnSecret is [Service.AddSecret] for an admin of the organisation to which the
// client belongs. The admin needs what the creator of a live key needs, and no second
// person: the organisation has the access of its client already.
func (s *Service) AddOwnSecret(ctx context.Context, client, entity uuid.UUID, by audit.Actor, request uuid.UUID) (NewSecret, error) {
	return s.addSecret(ctx, client, "", by, request, func(tx pg.Tx, c lockedClient) (bool, error) {
		if err := checkOwn(ctx, tx, client, entity, c.Scopes, c.Sole); err != nil {
			return false, err
		}
		if s.CheckKeyMaker == nil {
			return false, errors.New("access: CheckKeyMaker is not set, so organisations add no secrets")
		}
		return false, s.CheckKeyMaker(ctx, tx, by.ID)
	})
}

// ErrNotOwn reports a client whose secrets only the regulator's staff change.
var ErrNotOwn = fault.New(fault.PermissionDenied, "This client may onboard other organisations, or has rights beyond those of a telco, so only the regulator's staff can change its secrets.")

// CheckOwn returns nil if a client belongs to an organisation alone, which may then change
// its secrets.
func (s *Service) CheckOwn(ctx context.Context, c *ClientRow, entity uuid.UUID) error {
	return checkOwn(ctx, s.Pool, c.ID, entity, c.Scopes, c.Sole)
}

func checkOwn(ctx context.Context, from pg.DB, client, entity uuid.UUID, scopes []string, sole bool) error {
	if !sole {
		return ErrNotOwn
	}
	for _, scope := range scopes {
		if !slices.Contains([]Scope{EntityOnboard, DocumentUpload, LineSupply}, Scope(scope)) {
			return ErrNotOwn
		}
	}
	switch only, err := registry.OnlyEntityOf(ctx, from, client); {
	case err != nil:
		return err
	case only == uuid.Nil || only != entity:
		return ErrNotOwn
	}
	return nil
}

// lockedClient is the state of a client that decides who may change its secrets.
type lockedClient struct {
	Scopes         []string
	Sole           bool
	RowSum, RowMAC []byte
}

// addSecret adds a secret. Decide checks whether the actor may add it, and says whether a
// second person has to confirm it.
func (s *Service) addSecret(ctx context.Context, client uuid.UUID, reason string, by audit.Actor, request uuid.UUID, decide func(pg.Tx, lockedClient) (bool, error)) (created NewSecret, err error) {
	created.Text = secret.New(secret.ClientSecret)
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		// The lock serialises changes of the secrets of one client.
		row, err := pg.CollectOne(ctx, tx, pgx.RowToStructByPos[lockedClient],
			`SELECT scopes, sole, row_sum, row_mac FROM client WHERE id = $1 AND revoked_at IS NULL FOR UPDATE`, client)
		err = pg.Signed(ctx, tx, err, pg.Row{Table: "client", ID: client, Sum: row.RowSum, MAC: row.RowMAC})
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoClient
		}
		if err != nil {
			return err
		}
		waits, err := decide(tx, row)
		if err != nil {
			return err
		}
		active, err := secretsOf(ctx, tx, client)
		if err != nil {
			return err
		}
		if len(active) >= MaxSecrets {
			return ErrSecrets
		}
		if created.ID, err = s.insertSecret(ctx, tx, client, created.Text, waits); err != nil {
			return err
		}
		if err := registry.RecordAccess(ctx, tx, client, registry.AccessReset, by, s.now()); err != nil {
			return err
		}
		err = audit.Write(ctx, tx, audit.Entry{
			At: s.now(), Actor: by, Action: audit.SecretAdded, Subject: client, Request: request, After: map[string]any{"secretId": created.ID.String(), "waits": waits},
		})
		if err != nil {
			return err
		}
		if err := s.notifyOfSecret(ctx, tx, client, row.Sole, created.Text, by); err != nil || !waits {
			return err
		}
		created.Pending, err = approval.Create(ctx, tx, registry.CheckStaff, approval.Request{
			Kind: UseSecret, Subject: client, Details: map[string]string{"secretId": created.ID.String()}, Reason: reason, By: by, Request: request, At: s.now(),
		})
		return err
	})
	if err != nil {
		return NewSecret{}, fmt.Errorf("access: add a secret: %w", err)
	}
	return created, nil
}

// notifyOfSecret tells the admins of the organisation to which a client belongs of a new
// secret of it. A client that onboards others belongs to none of them.
func (s *Service) notifyOfSecret(ctx context.Context, tx pg.Tx, client uuid.UUID, sole bool, text secret.Text, by audit.Actor) error {
	if !sole {
		return nil
	}
	entity, err := registry.OnlyEntityOf(ctx, tx, client)
	if err != nil || entity == uuid.Nil {
		return err
	}
	return s.notify(ctx, tx, Notice{Kind: CredentialAdded, Entity: entity, About: "a secret of your client (" + secret.Preview(text) + ")", Path: "/portal/client", By: by})
}

// RevokeSecret revokes one secret of a client. It cannot be undone. Tokens that
// were issued for the secret end with it.
func (s *Service) RevokeSecret(ctx context.Context, client, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	defer s.cache.invalidate(id)
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE client_secret SET revoked_at = $3 WHERE id = $1 AND client_id = $2 AND revoked_at IS NULL`, id, client, now)
		if err != nil {
			return fmt.Errorf("access: revoke a secret: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrNoSecret
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.SecretRevoked, Subject: client, Request: request, Before: map[string]any{"secretId": id.String()},
		})
	})
}

func (s *Service) insertSecret(ctx context.Context, tx pg.Tx, client uuid.UUID, text secret.Text, waits bool) (uuid.UUID, error) {
	id := uuid.Must(uuid.NewV7())
	_, err := tx.Exec(ctx, `INSERT INTO client_secret (id, client_id, mac, preview, waits, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		id, client, s.Peppers.Sign(secret.ForCredentials, text.Reveal()), secret.Preview(text), waits, s.now())
	return id, err
}
