package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// overlap is how long the key before a roll signs, too.
const overlap = 24 * time.Hour

var (
	errNotActive  = fault.New(fault.IncompatibleState, "Only an active endpoint can be paused.")
	errNotPaused  = fault.New(fault.IncompatibleState, "Only a paused endpoint can be resumed. One that is new or disabled must be confirmed.")
	errKeyRevoked = fault.New(fault.IncompatibleState, "The API key that created this endpoint is revoked, so it gets no events. An admin of your organisation can resume or confirm it in the portal.")
	errStillRolls = fault.New(fault.IncompatibleState, "The key was rolled within the last 24 hours, and the key before still signs. Wait until it has expired.")
	errConfirmed  = fault.New(fault.IncompatibleState, "The endpoint is confirmed already.")
)

// change changes an endpoint in a transaction that holds its row, with an entry in the
// audit trail.
func (s *Service) change(ctx context.Context, o feed.Owner, id uuid.UUID, by By, action audit.Action, fn func(tx pg.Tx, e *Endpoint) error) (e Endpoint, err error) {
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		if e, err = endpoint(ctx, tx, o, id, ` FOR UPDATE OF e`); err != nil {
			return err
		}
		before := e
		e.ChangedAt = s.now()
		if err := fn(tx, &e); err != nil {
			return err
		}
		entry := audit.Entry{At: e.ChangedAt, Actor: by.Actor, Action: action, Subject: id, Entity: o.Entity, Request: by.Request}
		if before.State != e.State {
			entry.Before, entry.After = map[string]any{"state": before.State}, map[string]any{"state": e.State}
		}
		return audit.Write(ctx, tx, entry)
	})
	if err != nil {
		return Endpoint{}, err
	}
	return e, nil
}

// setState stores the state. Senders notice that the version has changed.
func setState(ctx context.Context, tx pg.Tx, e *Endpoint, state State, reason string) error {
	e.State, e.Reason = state, reason
	_, err := tx.Exec(ctx, `UPDATE hook_endpoint SET state = $2, reason = $3, changed_at = $4, version = version + 1 WHERE id = $1`, e.ID, state, reason, e.ChangedAt)
	return fault.Wrap(err, "webhook: set the state of an endpoint")
}

// forgive forgets the failures of an endpoint, so that it is tried at once, and moves its
// cursor to seq.
func forgive(ctx context.Context, tx pg.Tx, e *Endpoint, seq int64) error {
	e.Seq, e.Failures, e.FailingSince, e.NextAt = seq, 0, time.Time{}, time.Time{}
	_, err := tx.Exec(ctx, `UPDATE hook_cursor SET seq = $2, failures = 0, failing_since = NULL, next_at = NULL, notified_at = NULL, refusals = 0, refused_since = NULL,
		lease = lease + 1, leased_until = NULL WHERE endpoint_id = $1`, e.ID, seq)
	return fault.Wrap(err, "webhook: move the cursor of an endpoint")
}

// Pause stops sending. Events wait, for as long as the feed keeps them.
func (s *Service) Pause(ctx context.Context, o feed.Owner, id uuid.UUID, by By) (Endpoint, error) {
	return s.change(ctx, o, id, by, audit.WebhookPaused, func(tx pg.Tx, e *Endpoint) error {
		if e.State != Active {
			return errNotActive
		}
		return setState(ctx, tx, e, Paused, "")
	})
}

// Resume goes on where [Service.Pause] stopped.
func (s *Service) Resume(ctx context.Context, o feed.Owner, id uuid.UUID, by By) (Endpoint, error) {
	return s.change(ctx, o, id, by, audit.WebhookResumed, func(tx pg.Tx, e *Endpoint) error {
		if e.State != Paused {
			return errNotPaused
		}
		if err := s.checkPerson(ctx, tx, e.Mode, by, stepup.ResumeWebhook); err != nil {
			return err
		}
		return activate(ctx, tx, e, by)
	})
}

// activate lets an endpoint have its events. If the key that created it is revoked, only a
// person can do so, who takes the endpoint over.
func activate(ctx context.Context, tx pg.Tx, e *Endpoint, by By) error {
	if e.keyRevoked {
		if by.Actor.Kind == audit.APIKey {
			return errKeyRevoked
		}
		if _, err := tx.Exec(ctx, `UPDATE hook_endpoint SET made_by_key = NULL WHERE id = $1`, e.ID); err != nil {
			return fmt.Errorf("webhook: take an endpoint over: %w", err)
		}
		e.keyRevoked = false
	}
	if err := setState(ctx, tx, e, Active, ""); err != nil {
		return err
	}
	return forgive(ctx, tx, e, e.Seq)
}

// PauseMadeBy records that the active endpoints which an API key created are paused, in the
// transaction that revokes the key, and returns the names of those for live events. The
// revocation itself pauses them: see [keyRevoked].
func PauseMadeBy(ctx context.Context, tx pg.Tx, key uuid.UUID, by By, now time.Time) (live []string, err error) {
	list, err := pg.Collect(ctx, tx, func(row pgx.CollectableRow) (e Endpoint, err error) {
		return e, row.Scan(&e.ID, &e.entity, &e.Mode, &e.Name)
	}, `SELECT id, entity_id, mode, name FROM hook_endpoint WHERE made_by_key = $1 AND state = 'active' ORDER BY created_at, id`, key)
	if err != nil {
		return nil, fmt.Errorf("webhook: find the endpoints of a key: %w", err)
	}
	for i := range list {
		if list[i].Mode != "test" {
			live = append(live, list[i].Name)
		}
		err := audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by.Actor, Action: audit.WebhookPaused, Subject: list[i].ID, Entity: list[i].entity, Request: by.Request,
			Before: map[string]any{"state": Active}, After: map[string]any{"state": Paused, "reason": ReasonKeyRevoked},
		})
		if err != nil {
			return nil, err
		}
	}
	return live, nil
}

// Roll gives the endpoint a new key. Requests are signed with both keys for 24 hours.
func (s *Service) Roll(ctx context.Context, o feed.Owner, id uuid.UUID, by By) (c Created, err error) {
	c.Endpoint, err = s.change(ctx, o, id, by, audit.WebhookRolled, func(tx pg.Tx, e *Endpoint) error {
		if e.ChangedAt.Before(e.PreviousUntil) {
			return errStillRolls
		}
		if err := s.checkPerson(ctx, tx, e.Mode, by, stepup.RollWebhook); err != nil {
			return err
		}
		key := NewKey(e.Algorithm)
		c.Key, e.PreviousUntil = key.Receiver(), e.ChangedAt.Add(overlap)
		_, err = tx.Exec(ctx, `UPDATE hook_endpoint SET previous_key = key, previous_until = $2, key = $3, changed_at = $4, version = version + 1 WHERE id = $1`, id, e.PreviousUntil, s.encryptKey(e, key), e.ChangedAt)
		return fault.Wrap(err, "webhook: roll a key")
	})
	if err != nil {
		return Created{}, err
	}
	return c, nil
}

// Replay sends the feed again from a cursor of the feed on; from the oldest event that is
// kept if it is empty.
func (s *Service) Replay(ctx context.Context, o feed.Owner, id uuid.UUID, cursor string, by By) (Endpoint, error) {
	e, err := s.Endpoint(ctx, o, id)
	if err != nil {
		return Endpoint{}, err
	}
	seq, err := s.Feed.Resume(ctx, e.Owner(), cursor)
	if err != nil {
		return Endpoint{}, err
	}
	return s.change(ctx, o, id, by, audit.WebhookReplayed, func(tx pg.Tx, e *Endpoint) error { return forgive(ctx, tx, e, seq) })
}

// Delete deletes an endpoint, its attempts and its dead events.
func (s *Service) Delete(ctx context.Context, o feed.Owner, id uuid.UUID, by By) error {
	_, err := s.change(ctx, o, id, by, audit.WebhookDeleted, func(tx pg.Tx, e *Endpoint) error {
		if _, err := tx.Exec(ctx, `DELETE FROM hook_endpoint WHERE id = $1`, e.ID); err != nil {
			return fmt.Errorf("webhook: delete an endpoint: %w", err)
		}
		if e.Mode != "test" && s.NotifyDeleted != nil {
			return s.NotifyDeleted(ctx, tx, e, by.Actor)
		}
		return nil
	})
	return err
}
