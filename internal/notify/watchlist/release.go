package watchlist

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ReleaseKind is the approval of a release.
const ReleaseKind approval.Kind = "watch.release"

// ReleaseForm is the decision of staff to release a held list.
type ReleaseForm struct {
	List    uuid.UUID
	Reason  string
	By      audit.Actor
	Request uuid.UUID // zero for none
}

// ErrChangedSince reports a held list that is not the one whose release was requested.
var ErrChangedSince = fault.New(fault.IncompatibleState, "The list has changed since the release was requested. Look at it again: reject this request, and request a release of the list as it is now.")

// RequestRelease lets a held list take effect. A second person has to confirm it first:
// then it returns an [approval.WaitsError].
func RequestRelease(ctx context.Context, pool *pgxpool.Pool, now time.Time, f ReleaseForm) error {
	f.Reason = strings.TrimSpace(f.Reason)
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", f.Reason)
	if err := wrong.Err(); err != nil {
		return err
	}
	pending := uuid.Nil
	err := pg.InTx(ctx, pool, func(tx pg.Tx) error {
		var entity uuid.UUID
		var members string
		var changed time.Time
		err := tx.QueryRow(ctx, `SELECT entity_id, members::text, changed_at FROM watch_list WHERE id = $1 AND state = 'held' FOR UPDATE`, f.List).Scan(&entity, &members, &changed)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotHeld
		}
		if err != nil {
			return fmt.Errorf("watchlist: find a held list: %w", err)
		}
		pending, err = registry.RequestChange(ctx, tx, approval.Request{
			Kind: ReleaseKind, Subject: f.List, Entity: entity, Details: map[string]string{"members": members, "changedAt": versionText(changed)}, Reason: f.Reason, By: f.By, Request: f.Request,
			At: now.UTC().Truncate(time.Microsecond),
		}, release)
		return err
	})
	if err != nil {
		return err
	}
	if pending != uuid.Nil {
		return approval.Waits(pending)
	}
	return nil
}

// versionText is how a request names the list as it was: the digest would be masked as a secret.
func versionText(changedAt time.Time) string { return changedAt.UTC().Format(time.RFC3339Nano) }

// release is the effect of [ReleaseKind].
func release(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	var changed time.Time
	err := tx.QueryRow(ctx, `SELECT changed_at FROM watch_list WHERE id = $1 AND state = 'held' FOR UPDATE`, a.Subject).Scan(&changed)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotHeld
	}
	if err != nil {
		return fmt.Errorf("watchlist: find a held list: %w", err)
	}
	if versionText(changed) != a.Details["changedAt"] {
		return ErrChangedSince
	}
	if err := Release(ctx, tx, a.Subject, a.DecidedAt); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: a.DecidedAt, Actor: a.DecidedBy, Action: audit.ListReleased, Subject: a.Subject, Entity: a.Entity, Request: a.Request, After: a.Both(),
	})
}

// Effects returns the effects of the approvals of this package, which a second person confirms.
func Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{ReleaseKind: release}
}
