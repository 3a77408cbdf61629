package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// An address belongs to the account that holds its key. An invitation holds none: it
// creates an account that claims the address, with a key that is no address, whether or
// not another account has the address. So nobody who invites learns that, and nobody who
// merely wrote an address into an application keeps its owner out: when the invited person
// follows the link, which proves that they read the mail of the address, the claim takes
// the address, and an account that never confirmed it gives way. One that did keeps it, and
// its owner gets an e-mail that says so instead of a link. An organisation has one claim to
// an address at a time.

// claimKey is the key of an account of an organisation, or of staff for the zero id, that
// claims the address with a key.
func claimKey(entity uuid.UUID, key string) string { return "claim " + entity.String() + " " + key }

// AddressConfirmed reports whether an account claims an address that another account has
// and has confirmed.
func (r *Registry) AddressConfirmed(ctx context.Context, a Account) (bool, error) {
	key, _ := EmailKey(a.Email)
	var confirmed bool
	err := r.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM account c JOIN account h ON h.email_key = $2
		WHERE c.id = $1 AND c.email_key LIKE 'claim %' AND h.verified_at IS NOT NULL)`, a.ID, key).Scan(&confirmed)
	return confirmed, fault.Wrap(err, "registry: look for the holder of an address")
}

// errAddressConfirmed reports a claim that came too late.
var errAddressConfirmed = fault.New(fault.IncompatibleState,
	"This e-mail address was confirmed for another account in the meantime. Log in with that account, or ask for an invitation to another address.")

// takeAddress gives an account that claims an address the address. The caller has made
// sure that its owner agrees. It returns the account that gave way and is disabled now; its
// id is zero if there is none.
func (r *Registry) takeAddress(ctx context.Context, tx pg.Tx, a Account) (gaveWay Account, err error) {
	var claims, verified bool
	if err := tx.QueryRow(ctx, `SELECT email_key LIKE 'claim %' FROM account WHERE id = $1`, a.ID).Scan(&claims); err != nil {
		return Account{}, fmt.Errorf("registry: read a claim: %w", err)
	}
	if !claims {
		return Account{}, nil
	}
	key, _ := EmailKey(a.Email)
	// The lock makes a claim to an address wait for its confirmation at the same time.
	var entity uuid.NullUUID
	err = tx.QueryRow(ctx, `SELECT id, entity_id, verified_at IS NOT NULL FROM account WHERE email_key = $1 FOR UPDATE`, key).Scan(&gaveWay.ID, &entity, &verified)
	gaveWay.Entity = entity.UUID
	switch {
	case errors.Is(err, pgx.ErrNoRows): // it was given up in the meantime
	case err != nil:
		return Account{}, fmt.Errorf("registry: lock the holder of an address: %w", err)
	case verified:
		return Account{}, errAddressConfirmed
	default:
		_, err := tx.Exec(ctx, `UPDATE account SET email_key = 'released ' || id, disabled_at = coalesce(disabled_at, $2) WHERE id = $1`, gaveWay.ID, r.now())
		if err != nil {
			return Account{}, fmt.Errorf("registry: take an address: %w", err)
		}
	}
	_, err = tx.Exec(ctx, `UPDATE account SET email_key = $2 WHERE id = $1`, a.ID, key)
	if pg.Violated(err) == "account_email_unique" { // at the same moment
		return Account{}, errAddressConfirmed
	}
	if err != nil {
		return Account{}, fmt.Errorf("registry: take an address: %w", err)
	}
	return gaveWay, nil
}
