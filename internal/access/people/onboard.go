package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Onboarded is an entity that was just onboarded, with its first admin.
type Onboarded struct {
	Entity registry.Entity
	Admin  registry.Admin
}

// PrepareOnboarding checks an application that a client sent and returns the
// function that onboards the entity in a transaction of [pg.InTx]. It hashes the
// password of the admin, which is slow by design, so it must not be called inside a
// transaction.
//
// An admin whom the client does not vouch for is sent an e-mail with a link to
// confirm the address; the e-mail is queued in the same transaction.
//
// A client is told that somebody has the admin's e-mail address or phone number, but only
// for so many applications on a day (UTC). The trail counts them: the serving role cannot
// delete from it.
func (p *People) PrepareOnboarding(ctx context.Context, f registry.ApplicationForm, who access.Principal, request uuid.UUID) (onboard func(pg.Tx) (Onboarded, error), err error) {
	application, err := p.Registry.Prepare(ctx, f)
	if err != nil {
		return nil, err
	}
	by := registry.Onboarder{Client: who.Client, Token: who.ID, Vouches: who.Vouches, Sole: who.Sole, Request: request, From: who.From}
	return func(tx pg.Tx) (Onboarded, error) {
		refused, err := p.refusedToday(ctx, tx, who.Client)
		if err != nil {
			return Onboarded{}, err
		}
		entity, admin, err := p.Registry.Onboard(ctx, tx, application, by)
		if errors.Is(err, registry.ErrAdminTaken) {
			return Onboarded{}, p.refuse(ctx, tx, application, by, refused)
		}
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

// refusedToday returns the applications of a client that were refused today because the
// admin has an account, or an error if they are as many as may be. It serialises the
// onboardings of the client, so that concurrent ones cannot exceed the limit.
func (p *People) refusedToday(ctx context.Context, tx pg.Tx, client uuid.UUID) ([]uuid.UUID, error) {
	if p.Clashes == 0 {
		return nil, nil
	}
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof clashes ' || $1::text, 0))`, client.String()); err != nil {
		return nil, fmt.Errorf("people: lock the refused applications of a client: %w", err)
	}
	now, today := p.now(), p.now().Truncate(24*time.Hour)
	refused, err := audit.Subjects(ctx, tx, []uuid.UUID{client}, today, audit.EntityRefused)
	if err != nil || len(refused) < p.Clashes {
		return refused, err
	}
	renews := today.Add(24 * time.Hour)
	f := fault.New(fault.QuotaExceeded, fmt.Sprintf("The admins of %d applications of this client had accounts already, which is the limit of a day. It onboards again at %s; the regulator has been notified.",
		p.Clashes, renews.Format(time.RFC3339)))
	f.RetryAfter = renews.Sub(now).Truncate(time.Second) + time.Second
	return nil, f
}

// refuse records a refused application, once on a day for the same address and number, and
// notifies the administrators when it was the last that may be. The transaction commits.
func (p *People) refuse(ctx context.Context, tx pg.Tx, a registry.Application, by registry.Onboarder, before []uuid.UUID) error {
	email, phone := a.Contact()
	macs := p.Peppers.Candidates(secret.ForApplications, by.Client.String(), email, phone)
	if slices.ContainsFunc(macs, func(mac []byte) bool { return slices.Contains(before, uuid.UUID(mac[:16])) }) {
		return registry.ErrAdminTaken
	}
	err := audit.Write(ctx, tx, audit.Entry{
		At: p.now(), Actor: audit.Actor{Kind: audit.Client, ID: by.Client, From: by.From}, Action: audit.EntityRefused, Subject: uuid.UUID(macs[0][:16]), Request: by.Request,
	})
	if err == nil && len(before)+1 == p.Clashes {
		err = p.notifyOfClashes(ctx, tx, by.Client)
	}
	if err != nil {
		return err
	}
	return pg.Keep(registry.ErrAdminTaken)
}

func (p *People) notifyOfClashes(ctx context.Context, tx pg.Tx, client uuid.UUID) error {
	name, err := access.ClientName(ctx, tx, client)
	if err != nil {
		return err
	}
	return p.NotifyStaff(ctx, tx, Notice{ClientRefused, message.Content{
		About: name, Path: "/portal/desk/clients/" + client.String(),
		Detail: fmt.Sprintf("Today it sent %d applications whose admins have accounts already, which is the limit. It onboards nobody until tomorrow (UTC).", p.Clashes),
	}}, uuid.Nil, access.Administrator)
}
