package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// BreakGlassDelay is how long everybody else has to refuse what one person wants to do
// without a second one.
const BreakGlassDelay = 24 * time.Hour

var (
	// ErrNoBreakGlass reports an action that always takes two people.
	ErrNoBreakGlass = fault.New(fault.PermissionDenied, "There is no break-glass for this: it always takes two people.")
	// ErrNotRequester reports somebody who wants to use break-glass for the request of
	// another: they can confirm it.
	ErrNotRequester = fault.New(fault.PermissionDenied, "Only the person who requested this can use break-glass for it. If you agree with it, confirm it.")
	// ErrBroken reports a request for which break-glass is used already.
	ErrBroken = fault.New(fault.IncompatibleState, "Break-glass is already used for this request.")
	// ErrTooEarly reports a requester who uses break-glass and does not wait.
	ErrTooEarly = fault.New(fault.IncompatibleState, "Break-glass takes effect 24 hours after its notice to all staff. Confirm it then; until then another person can confirm or reject it.")
)

// BreakGlass lets the requester confirm their own request after [BreakGlassDelay], for
// the day on which there is nobody else. All staff are notified, and everybody who could
// confirm the request can refuse it until then.
func (s *Service) BreakGlass(ctx context.Context, id uuid.UUID, reason string, by audit.Actor, request uuid.UUID) (a Approval, err error) {
	var wrong fault.Form
	CheckReason(&wrong, "reason", reason)
	if err := wrong.Err(); err != nil {
		return Approval{}, err
	}
	now := s.now()
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		if a, err = lock(ctx, tx, id, now); err != nil {
			return err
		}
		action := ActionOf(a.Kind)
		if err := s.CheckStaff(ctx, tx, by, action.Request...); err != nil {
			return err
		}
		switch {
		case !by.Same(a.RequestedBy):
			return ErrNotRequester
		case !action.BreakGlass || by.Kind == audit.Account && by.ID == a.Subject:
			return ErrNoBreakGlass
		case a.State != Waiting || !now.Add(BreakGlassDelay).Before(a.ExpiresAt):
			return ErrNotWaiting
		}
		return s.storeBreakGlass(ctx, tx, &a, reason, audit.Entry{At: now, Actor: by, Request: request})
	})
	if err != nil {
		return Approval{}, err
	}
	return a, nil
}

func (s *Service) storeBreakGlass(ctx context.Context, tx pg.Tx, a *Approval, reason string, e audit.Entry) error {
	tag, err := tx.Exec(ctx, `INSERT INTO break_glass (approval_id, reason, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, a.ID, reason, e.At)
	if err != nil {
		return fmt.Errorf("approval: use break-glass: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrBroken
	}
	a.AloneFrom = e.At.Add(BreakGlassDelay)
	if err := s.NotifyStaff(ctx, tx); err != nil {
		return err
	}
	e.Action, e.Subject, e.Entity = audit.BreakGlassUsed, a.ID, a.Entity
	e.After = map[string]any{"kind": a.Kind, "subject": a.Subject, "reason": reason, "aloneFrom": a.AloneFrom}
	return audit.Write(ctx, tx, e)
}

// readBreakGlass fills in from when requesters can confirm their own requests.
func readBreakGlass(ctx context.Context, from pg.DB, list []Approval) error {
	ids, byID := make([]uuid.UUID, len(list)), make(map[uuid.UUID]*Approval, len(list))
	for i := range list {
		ids[i], byID[list[i].ID] = list[i].ID, &list[i]
	}
	var id uuid.UUID
	var at time.Time
	var sum, mac []byte
	var found []pg.Row
	err := pg.ForEach(ctx, from, []any{&id, &at, &sum, &mac}, func() error {
		byID[id].AloneFrom = at.UTC().Add(BreakGlassDelay)
		found = append(found, pg.Row{Table: "break_glass", ID: id, Sum: sum, MAC: mac})
		sum, mac = nil, nil
		return nil
	}, `SELECT approval_id, at, row_sum, row_mac FROM break_glass WHERE approval_id = ANY($1)`, ids)
	if err != nil {
		return fmt.Errorf("approval: read break-glass: %w", err)
	}
	for _, r := range found {
		ok, err := pg.RowsSigned(ctx, from, r)
		if err != nil {
			return err
		}
		if !ok {
			byID[r.ID].AloneFrom = time.Time{}
		}
	}
	return nil
}
