package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// The approvals about clients whose scopes change lines: whoever holds such a client's
// secret changes what banks are told about numbers.
const (
	GiveScopes approval.Kind = "client.scopes" // to a new client
	UseSecret  approval.Kind = "client.secret" // another secret of a client that has such a scope
)

// ChangesLines reports whether a client with a scope can change lines.
func ChangesLines(scope string) bool {
	return slices.Contains([]Scope{LineSupply, LinePort, LineFlag, LineOrder}, Scope(scope))
}

// takesTwo reports whether a second person has to confirm that somebody gives access to
// a client with these scopes.
func takesTwo(ctx context.Context, tx pg.Tx, scopes []string, by audit.Actor) (bool, error) {
	if !slices.ContainsFunc(scopes, ChangesLines) {
		return false, nil
	}
	alone, err := registry.MayActAlone(ctx, tx, by)
	return !alone, err
}

// CheckOrders checks that a client may still give orders, and that nobody but the service
// has said so.
func CheckOrders(ctx context.Context, tx pg.Tx, id uuid.UUID) error {
	var may bool
	client := pg.Row{Table: "client", ID: id}
	err := tx.QueryRow(ctx, `SELECT revoked_at IS NULL AND suspended_at IS NULL AND 'line:order' = ANY(scopes), row_sum, row_mac FROM client WHERE id = $1`, id).
		Scan(&may, &client.Sum, &client.MAC)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // a client is never deleted
	}
	if err == nil && may {
		may, err = pg.RowsSigned(ctx, tx, client)
	}
	switch {
	case err != nil:
		return fmt.Errorf("access: look up the client that gave an order: %w", err)
	case !may:
		return approval.ErrRequesterGone
	}
	return nil
}

// giveScopes is the effect of [GiveScopes]. A token that the client has already does not
// get the scopes, and a secret that somebody added meanwhile is revoked: the two people
// did not agree on that.
func giveScopes(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	scopes := strings.Fields(a.Details["scopes"])
	tag, err := tx.Exec(ctx, `UPDATE client SET scopes = $2 WHERE id = $1 AND revoked_at IS NULL`, a.Subject, scopes)
	if err != nil {
		return fmt.Errorf("access: give scopes: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoClient
	}
	_, err = tx.Exec(ctx, `UPDATE client_secret SET revoked_at = $3 WHERE client_id = $1 AND created_at > $2 AND revoked_at IS NULL`, a.Subject, a.RequestedAt, a.DecidedAt)
	if err != nil {
		return fmt.Errorf("access: revoke secrets: %w", err)
	}
	after := a.Both()
	after["scopes"] = scopes
	return audit.Write(ctx, tx, audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Action: audit.ScopesGiven, Subject: a.Subject, Request: a.Request, After: after})
}

// useSecret is the effect of [UseSecret]: the client can use the secret from now on. The
// requester still knows it, and stays behind the client.
func useSecret(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	secret, err := uuid.Parse(a.Details["secretId"])
	if err != nil {
		return fmt.Errorf("access: read the approval of a secret: %w", err)
	}
	tag, err := tx.Exec(ctx, `UPDATE client_secret SET waits = false WHERE id = $1 AND client_id = $2 AND waits AND revoked_at IS NULL`, secret, a.Subject)
	if err != nil {
		return fmt.Errorf("access: let a secret be used: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoSecret
	}
	after := a.Both()
	after["secretId"] = secret.String()
	return audit.Write(ctx, tx, audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Action: audit.SecretAllowed, Subject: a.Subject, Request: a.Request, After: after})
}

// Effects returns the effects of the approvals that this package requests.
func Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{GiveScopes: giveScopes, UseSecret: useSecret}
}
