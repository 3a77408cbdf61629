package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
)

// An address belongs to the account that holds its key, and nobody who merely wrote it
// into an application should keep its owner out. So an invitation to an address that its
// account never confirmed creates a claim: an account with a key that is no address.
// When the invited person follows the link, which proves that they read the mail of the
// address, the claim takes the address and the other account gives way. An address has
// one claim at a time, as it has one invitation.

// claimKey is the key of an account that claims the address with a key.
func claimKey(key string) string { return "claim " + key }

// givesWayTo reports whether an invitation claims the address of an account: somebody
// chose its password and never confirmed the address. Where the invitation only renews
// an account that was disabled, there is nobody to give way.
func (a Account) givesWayTo(i Invitee) bool {
	renews := a.Disabled && a.Kind == i.Kind && a.Entity == i.Entity
	return a.Accepted && !a.Verified && !renews
}

// errAddressConfirmed reports a claim that came too late.
var errAddressConfirmed = fault.New(fault.IncompatibleState,
	"This e-mail address was confirmed for another account in the meantime. Log in with that account, or ask for an invitation to another address.")

// TakeAddress gives an account that claims an address the address, in the caller's
// transaction. The caller has made sure that its owner agrees. It returns the account
// that gave way and is disabled now; its id is zero if there is none.
func (r *Registry) TakeAddress(ctx context.Context, tx pg.Tx, a Account) (gaveWay Account, err error) {
	q, now := db.New(tx), r.now()
	claims, err := q.ClaimsAddress(ctx, a.ID)
	if err != nil {
		return Account{}, fmt.Errorf("registry: read a claim: %w", err)
	}
	if !claims {
		return Account{}, nil
	}
	key, _ := EmailKey(a.Email)
	holder, err := q.LockHolder(ctx, key)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // it was given up in the meantime
	case err != nil:
		return Account{}, fmt.Errorf("registry: lock the holder of an address: %w", err)
	case holder.Verified:
		return Account{}, errAddressConfirmed
	default:
		gaveWay = Account{ID: holder.ID, Entity: holder.EntityID.UUID}
		if err := q.GiveWay(ctx, db.GiveWayParams{ID: holder.ID, At: now}); err != nil {
			return Account{}, fmt.Errorf("registry: take an address: %w", err)
		}
	}
	err = q.TakeAddress(ctx, db.TakeAddressParams{ID: a.ID, EmailKey: key})
	if err != nil {
		return Account{}, fmt.Errorf("registry: take an address: %w", err)
	}
	return gaveWay, nil
}
