package people

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
)

// Onboarded is an entity that was just onboarded, with its first admin.
type Onboarded struct {
	Entity registry.Entity
	Admin  registry.Admin
}

// PrepareOnboarding checks an application that a client sent and returns the
// function that onboards the entity in a transaction. It hashes the password of
// the admin, which is slow by design, so it must not be called inside a
// transaction.
//
// An admin whom the client does not vouch for is sent an e-mail with a link to
// confirm the address; the e-mail is queued in the same transaction.
func (p *People) PrepareOnboarding(ctx context.Context, f registry.ApplicationForm, who access.Principal, request uuid.UUID) (onboard func(pg.Tx) (Onboarded, error), err error) {
	application, err := p.Registry.Prepare(ctx, f)
	if err != nil {
		return nil, err
	}
	by := registry.Onboarder{Client: who.Client, Token: who.ID, Vouches: who.Vouches, Sole: who.Sole, Request: request, From: who.From}
	return func(tx pg.Tx) (Onboarded, error) {
		entity, admin, err := p.Registry.Onboard(ctx, tx, application, by)
		if err != nil {
			return Onboarded{}, err
		}
		if !admin.Verified {
			if err := p.QueueEmail(ctx, tx, Email{Kind: Confirmation, Account: admin.ID}); err != nil {
				return Onboarded{}, err
			}
		}
		return Onboarded{Entity: entity, Admin: admin}, nil
	}, nil
}
