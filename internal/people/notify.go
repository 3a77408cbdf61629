package people

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/message"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
)

// Notice is something that people should know: a message in the portal and an e-mail.
type Notice struct {
	Kind EmailKind
	message.Content
}

// NotifyAdmins notifies the admins of organisations, in the caller's transaction.
func (p *People) NotifyAdmins(ctx context.Context, tx pg.Tx, n Notice, entities ...uuid.UUID) error {
	admins, err := db.New(tx).AdminsOf(ctx, entities)
	if err != nil {
		return fmt.Errorf("people: find the admins: %w", err)
	}
	return p.Notify(ctx, tx, n, admins)
}

// maxSponsored is how many admins are notified of an alert about all organisations of
// one client. The transaction that stores the alert stays short.
const maxSponsored = 200

// NotifySponsored notifies the admins of the organisations that a client onboarded, in
// the caller's transaction.
func (p *People) NotifySponsored(ctx context.Context, tx pg.Tx, n Notice, client uuid.UUID) error {
	admins, err := db.New(tx).AdminsOfSponsored(ctx, db.AdminsOfSponsoredParams{Client: client, Most: maxSponsored})
	if err != nil {
		return fmt.Errorf("people: find the admins of a client: %w", err)
	}
	return p.Notify(ctx, tx, n, admins)
}

// NotifyNetwork notifies the admins of the organisations that supply for a network, in
// the caller's transaction.
func (p *People) NotifyNetwork(ctx context.Context, tx pg.Tx, n Notice, network string) error {
	admins, err := db.New(tx).AdminsOfNetwork(ctx, db.AdminsOfNetworkParams{Network: network, Most: maxSponsored})
	if err != nil {
		return fmt.Errorf("people: find the admins of a network: %w", err)
	}
	return p.Notify(ctx, tx, n, admins)
}

// NotifyStaff notifies the staff with one of the roles, but for one account that knows
// already, in the caller's transaction.
func (p *People) NotifyStaff(ctx context.Context, tx pg.Tx, n Notice, except uuid.UUID, roles ...access.Role) error {
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	staff, err := db.New(tx).StaffIn(ctx, db.StaffInParams{Roles: words, But: except})
	if err != nil {
		return fmt.Errorf("people: find the staff: %w", err)
	}
	return p.Notify(ctx, tx, n, staff)
}

// Notify stores a message for each account, and queues an e-mail for those that have
// not muted its kind.
func (p *People) Notify(ctx context.Context, tx pg.Tx, n Notice, accounts []uuid.UUID) error {
	if len(accounts) == 0 {
		return nil
	}
	wanted, err := message.Add(ctx, tx, string(n.Kind), n.Content, p.now(), accounts...)
	if err != nil {
		return err
	}
	for i := range wanted {
		if err := p.QueueEmail(ctx, tx, Email{Kind: n.Kind, Account: wanted[i].Account, Message: wanted[i].ID}); err != nil {
			return err
		}
	}
	return nil
}

// NotifyOfExpiry notifies every admin of an organisation whose live keys expire in 30, 7
// or 1 days, once for each.
func (p *People) NotifyOfExpiry(ctx context.Context) error {
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		entities, err := p.Access.TakeExpiring(ctx, tx)
		if err != nil || len(entities) == 0 {
			return err
		}
		return p.NotifyAdmins(ctx, tx, Notice{KeyExpires, message.Content{Path: "/portal/keys"}}, entities...)
	})
}

// NotifyOfBreakGlass notifies all staff that somebody wants to act alone, in the
// caller's transaction.
func (p *People) NotifyOfBreakGlass(ctx context.Context, tx pg.Tx) error {
	return p.NotifyStaff(ctx, tx, Notice{BreakGlass, message.Content{Path: "/portal/desk/approvals"}}, uuid.Nil, access.Administrator, access.Reviewer, access.Auditor)
}

// decides reports whether an account is of staff who decide.
func decides(a registry.Account) bool {
	return a.Kind == registry.StaffAccount && (a.Role == string(access.Administrator) || a.Role == string(access.Reviewer))
}
