// Package staffaccess is the one way in which a member of staff looks up the history of a
// number or reads the records of an organisation, in the portal and over the API.
//
// What it guarantees:
//
//   - Who looks up what, and why, is in the audit trail before anything is shown.
//   - A person looks up so many different numbers and pages of records on a day in UTC, over
//     all nodes and with concurrent requests. A second person can allow as many again.
//   - Accounts that may be one person, because one gave the other access alone and no second
//     administrator has confirmed it, have together as much as one: [registry.SharesPerson].
//   - When somebody reaches the limit of a day, all administrators are notified, once.
//
// The operator at the command line, who can read the database itself, has no limit.
package staffaccess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// MoreKind is the approval of more look-ups. It is stored; never change it.
const MoreKind approval.Kind = "staff.lookups"

// DefaultDaily is how many look-ups a person has on a day if the settings do not say.
const DefaultDaily = 200

// ErrSpent is the cause of a refusal because the look-ups of a day are used up.
var ErrSpent = errors.New("staffaccess: the look-ups of the day are used up")

// counted are the actions in the audit trail that are look-ups.
var counted = []audit.Action{audit.HistoryRead, audit.JournalRead}

// Budget is how much each member of staff may look up on a day. Pool and Now are required.
type Budget struct {
	Pool  *pgxpool.Pool
	Daily int // different numbers and pages of records on a day; 0 means [DefaultDaily]
	// Notify tells the administrators that an account has used its look-ups of the day, in
	// the transaction of the last one; nil tells nobody.
	Notify func(ctx context.Context, tx pg.Tx, account uuid.UUID, daily int) error
	Now    func() time.Time
}

// Access says which member of staff looks something up, and why.
type Access struct {
	Budget  Budget
	By      audit.Actor
	Reason  string
	Request uuid.UUID
}

// LookUp is the subject of a look-up.
type LookUp struct {
	Action  audit.Action
	Subject uuid.UUID      // the same subject counts once on a day
	Entity  uuid.UUID      // to which it belongs; zero for none
	Details map[string]any // which part of it
}

// Check reports a reason that is missing or too short.
func (r Access) Check(form *fault.Form) { audit.CheckReason(form, "reason", r.Reason) }

// Record counts a look-up and writes it to the audit trail. It has committed when it returns
// nil; after an error the caller must show nothing.
func (r Access) Record(ctx context.Context, l LookUp) error {
	var form fault.Form
	r.Check(&form)
	if err := form.Err(); err != nil {
		return err
	}
	after := map[string]any{"reason": r.Reason}
	for name, value := range l.Details {
		if value != "" {
			after[name] = value
		}
	}
	return pg.InTx(ctx, r.Budget.Pool, func(tx pg.Tx) error {
		now := r.Budget.now()
		if r.By.Kind == audit.Account {
			if err := r.Budget.count(ctx, tx, r.By.ID, l.Subject, now); err != nil {
				return err
			}
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: r.By, Action: l.Action, Subject: l.Subject, Entity: l.Entity, Request: r.Request, After: after,
		})
	})
}

// FindRecord looks up the record of a request. Find returns the organisation that it belongs
// to. The access is audited even if there is no such record, because that is information too.
func (r Access) FindRecord(ctx context.Context, id uuid.UUID, find func(context.Context, uuid.UUID) (entity uuid.UUID, err error)) error {
	entity, err := find(ctx, id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	if auditErr := r.Record(ctx, LookUp{Action: audit.JournalRead, Subject: id, Entity: entity}); auditErr != nil {
		return auditErr
	}
	return err
}

func (b Budget) now() time.Time { return b.Now().UTC().Truncate(time.Microsecond) }

func (b Budget) daily() int { return cmp.Or(b.Daily, DefaultDaily) }

// count refuses a look-up that is beyond the budget of its person. The audit trail counts
// them, from which the serving role cannot delete.
func (b Budget) count(ctx context.Context, tx pg.Tx, account, subject uuid.UUID, now time.Time) error {
	// Look-ups count one after the other, on all nodes. There is one lock for all staff,
	// because who shares a budget with whom changes, and staff look up little.
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof look-ups', 0))`)
	if err != nil {
		return fmt.Errorf("staffaccess: lock the look-ups: %w", err)
	}
	person, err := registry.SharesPerson(ctx, tx, account)
	if err != nil {
		return err
	}
	seen, err := lookedUp(ctx, tx, person, now)
	if err != nil || slices.Contains(seen, subject) {
		return err
	}
	allowed, err := b.allowed(ctx, tx, person, now)
	if err != nil {
		return err
	}
	if len(seen) >= allowed {
		return spent(len(seen), len(person) > 1, now)
	}
	if len(seen)+1 == b.daily() && b.Notify != nil {
		return b.Notify(ctx, tx, account, b.daily())
	}
	return nil
}

// spent is the refusal of a look-up beyond the budget.
func spent(seen int, shared bool, now time.Time) error {
	text := fmt.Sprintf("You have looked up %d different numbers and pages of records today, which is your limit. "+
		"Request more in the portal, under Look-ups of today, for a second person to confirm, or go on after midnight UTC.", seen)
	if shared {
		text = fmt.Sprintf("You and those with whom you share a limit have looked up %d different numbers and pages of records today. "+
			"People share one limit while one of them alone gave the others access. To have your own, ask an administrator to request your role again, for another administrator to confirm. "+
			"Request more in the portal, under Look-ups of today, for a second person to confirm, or go on after midnight UTC.", seen)
	}
	f := fault.New(fault.QuotaExceeded, text).Because(ErrSpent)
	f.RetryAfter = midnight(now).Add(24*time.Hour).Sub(now).Truncate(time.Second) + time.Second
	return f
}

// lookedUp returns the different things that accounts looked up on the day of a time.
func lookedUp(ctx context.Context, from pg.DB, person []uuid.UUID, now time.Time) ([]uuid.UUID, error) {
	return audit.Subjects(ctx, from, person, midnight(now), counted...)
}

// allowed returns how much the accounts of one person may look up today: as much again for
// every request that a second person has confirmed today. The confirmations are signed.
func (b Budget) allowed(ctx context.Context, from pg.DB, person []uuid.UUID, now time.Time) (int, error) {
	allowed := b.daily()
	for _, account := range person {
		more, err := approval.Given(ctx, from, MoreKind, account, midnight(now))
		if err != nil {
			return 0, err
		}
		allowed += more * b.daily()
	}
	return allowed, nil
}

func midnight(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }

// Today returns how much an account has looked up today, with all that may be the same
// person, and how much it may.
func (b Budget) Today(ctx context.Context, account uuid.UUID) (used, allowed int, err error) {
	now := b.now()
	person, err := registry.SharesPerson(ctx, b.Pool, account)
	if err != nil {
		return 0, 0, err
	}
	seen, err := lookedUp(ctx, b.Pool, person, now)
	if err != nil {
		return 0, 0, err
	}
	allowed, err = b.allowed(ctx, b.Pool, person, now)
	return len(seen), allowed, err
}

// RequestMore requests as many look-ups again for an account, for the day on which a second
// person confirms it, and returns the id of the approval.
func (b Budget) RequestMore(
	ctx context.Context, account uuid.UUID, reason string, by audit.Actor, request uuid.UUID,
) (id uuid.UUID, err error) {
	err = pg.InTx(ctx, b.Pool, func(tx pg.Tx) error {
		id, err = approval.Create(ctx, tx, registry.CheckStaff, approval.Request{
			Kind: MoreKind, Subject: account, Reason: reason, By: by, Request: request, At: b.now(),
			Details: map[string]string{"more": strconv.Itoa(b.daily())},
		})
		return err
	})
	return id, err
}

// Effects returns the effect of the approval: there is none but the approval itself, which
// [Budget] counts, because it is signed.
func Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{MoreKind: func(context.Context, pg.Tx, approval.Approval) error { return nil }}
}
