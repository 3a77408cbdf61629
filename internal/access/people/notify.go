package people

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
)

// Notice is something that people should know: a message in the portal and an e-mail.
type Notice struct {
	Kind EmailKind
	message.Content
}

// NotifyAdmins notifies the admins of organisations, in the caller's transaction.
func (p *People) NotifyAdmins(ctx context.Context, tx pg.Tx, n Notice, entities ...uuid.UUID) error {
	admins, err := pg.Collect(ctx, tx, pgx.RowTo[uuid.UUID], `SELECT id FROM account
		WHERE kind = 'admin' AND entity_id = ANY($1::uuid[]) AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY created_at`, entities)
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
	admins, err := pg.Collect(ctx, tx, pgx.RowTo[uuid.UUID], `SELECT a.id FROM account a JOIN entity e ON e.id = a.entity_id
		WHERE e.client_id = $1 AND e.status = 'Approved' AND a.kind = 'admin' AND a.disabled_at IS NULL AND a.password_hash IS NOT NULL
		ORDER BY e.created_at DESC LIMIT $2`, client, maxSponsored)
	if err != nil {
		return fmt.Errorf("people: find the admins of a client: %w", err)
	}
	return p.Notify(ctx, tx, n, admins)
}

// NotifyNetwork notifies the admins of the organisations that supply for a network, in
// the caller's transaction.
func (p *People) NotifyNetwork(ctx context.Context, tx pg.Tx, n Notice, network string) error {
	admins, err := pg.Collect(ctx, tx, pgx.RowTo[uuid.UUID], `SELECT a.id FROM account a JOIN entity e ON e.id = a.entity_id JOIN client c ON c.id = e.client_id
		WHERE c.network = $1 AND c.revoked_at IS NULL AND e.status = 'Approved' AND a.kind = 'admin' AND a.disabled_at IS NULL AND a.password_hash IS NOT NULL
		ORDER BY a.created_at LIMIT $2`, network, maxSponsored)
	if err != nil {
		return fmt.Errorf("people: find the admins of a network: %w", err)
	}
	return p.Notify(ctx, tx, n, admins)
}

// NotifyStaff notifies the staff with one of the roles, but for one account that knows
// already, in the caller's transaction.
func (p *People) NotifyStaff(ctx context.Context, tx pg.Tx, n Notice, except uuid.UUID, roles ...access.Role) error {
	staff, err := pg.Collect(ctx, tx, pgx.RowTo[uuid.UUID], `SELECT id FROM account
		WHERE kind = 'staff' AND role = ANY($1::text[]) AND id <> $2 AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY created_at`, roles, except)
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

// Lookups is how much members of staff may look up on a day.
func (p *People) Lookups() staffaccess.Budget {
	return staffaccess.Budget{Pool: p.Pool, Daily: p.StaffLookups, Notify: p.notifyOfLookups, Now: p.Now}
}

// notifyOfLookups notifies the administrators that somebody has used the look-ups of a day,
// in the caller's transaction. If that is an administrator, they learn it too: it may be
// their session that somebody else uses.
func (p *People) notifyOfLookups(ctx context.Context, tx pg.Tx, account uuid.UUID, daily int) error {
	a, err := p.Registry.Account(ctx, tx, account)
	if err != nil {
		return err
	}
	return p.NotifyStaff(ctx, tx, Notice{LookupsSpent, message.Content{
		About: a.Name, Path: "/portal/desk/audit?actor=" + account.String(),
		Detail: fmt.Sprintf("Today this member of staff has looked up %d different numbers and pages of records, which is the limit of one person.", daily),
	}}, uuid.Nil, access.Administrator)
}

// decides reports whether an account is of staff who decide.
func decides(a registry.Account) bool {
	return a.Kind == registry.StaffAccount && (a.Role == string(access.Administrator) || a.Role == string(access.Reviewer))
}

// NotifyOfCredential notifies the admins of an organisation of what has happened to its
// credentials, in the caller's transaction.
func (p *People) NotifyOfCredential(ctx context.Context, tx pg.Tx, n access.Notice) error {
	kind := CredentialAdded
	switch n.Kind {
	case access.KeyLeaked:
		kind = KeyLeaked
	case access.CredentialEnded:
		kind = CredentialEnded
	case access.CredentialAdded:
	}
	return p.NotifyOf(ctx, tx, kind, message.Content{About: n.About, Path: n.Path}, n.Entity, n.By)
}

// NotifyOf notifies the admins of an organisation of what somebody did, in the caller's
// transaction. The detail of the message becomes who it was.
func (p *People) NotifyOf(ctx context.Context, tx pg.Tx, kind EmailKind, c message.Content, entity uuid.UUID, by audit.Actor) error {
	name, err := p.actorName(ctx, tx, entity, by)
	if err != nil {
		return err
	}
	c.Detail = "by " + name
	if kind == CredentialEnded {
		c.Detail += " on " + p.now().Format("2006-01-02 at 15:04") + " UTC"
	}
	return p.NotifyAdmins(ctx, tx, Notice{kind, c}, entity)
}

// actorName says to an organisation who did something. People outside it are not named.
func (p *People) actorName(ctx context.Context, from pg.DB, entity uuid.UUID, by audit.Actor) (string, error) {
	switch by.Kind {
	case audit.Account:
		a, err := p.Registry.Account(ctx, from, by.ID)
		if err == nil && a.Entity != entity {
			a.Name = "the regulator's staff"
		}
		return a.Name, err
	case audit.APIKey:
		name, err := access.KeyName(ctx, from, entity, by.ID)
		return "a program with the API key “" + name + "”", err
	case audit.Operator:
		return "the operator of the service", nil
	case audit.Client, audit.System:
	}
	return "a program", nil
}
