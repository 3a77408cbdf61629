package access

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	// ErrNoRevokeRight reports a member who may not revoke a live key of somebody else.
	ErrNoRevokeRight = fault.New(fault.PermissionDenied,
		"A live key is revoked by an admin of your organisation, by a member who may create live keys, or by whoever created it. Report the key as leaked instead: all admins are told at once.")

	errReportTest = fault.New(fault.IncompatibleState, "Everybody in your organisation may revoke a test key: revoke it instead of reporting it.")
)

// leakNoticeStep is how long the admins are not told again that the same key has leaked.
const leakNoticeStep = time.Hour

// MayRevoke reports whether a person of the organisation may revoke a key: anybody may
// revoke a test key, and a live key whoever created it or may create live keys. Otherwise
// one phished member could stop the organisation.
func (k *KeyRow) MayRevoke(person uuid.UUID, makesKeys bool) bool {
	return k.Mode != Live || makesKeys || k.CreatedBy == person
}

// RevokeKey revokes a key and ends what was made with it. It cannot be undone. The key
// must belong to the entity, unless entity is the zero id. This node rejects the next
// request with the key, other nodes as soon as they are notified.
func (s *Service) RevokeKey(ctx context.Context, entity, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	defer s.cache.invalidate(id)
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		key, err := lockKey(ctx, tx, entity, id)
		if err != nil {
			return err
		}
		if err := s.checkRevoke(ctx, tx, &KeyRow{Mode: key.Mode, CreatedBy: key.CreatedBy.UUID}, by); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE api_key SET revoked_at = $2, revoked_by = $3 WHERE id = $1`, id, now, pg.ID(by.ID)); err != nil {
			return err
		}
		if s.KeyRevoked != nil {
			if err := s.KeyRevoked(ctx, tx, key.EntityID, id, by, request); err != nil {
				return err
			}
		}
		if key.Mode == Live {
			if err := s.notify(ctx, tx, Notice{Kind: CredentialEnded, Entity: key.EntityID, About: keyText(key.Mode, key.Name, key.Preview), Path: "/portal/keys", By: by}); err != nil {
				return err
			}
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by, Action: audit.KeyRevoked, Subject: id, Entity: key.EntityID, Request: request})
	})
	return fault.Wrap(err, "access: revoke a key")
}

// checkRevoke returns why this actor may not revoke a key.
func (s *Service) checkRevoke(ctx context.Context, tx pg.Tx, k *KeyRow, by audit.Actor) error {
	if by.Kind == audit.Operator || k.MayRevoke(by.ID, false) {
		return nil
	}
	if s.MakesKeys == nil {
		return ErrNoRevokeRight
	}
	makes, err := s.MakesKeys(ctx, tx, by.ID)
	if err == nil && !makes {
		err = ErrNoRevokeRight
	}
	return err
}

// ReportLeak tells all admins of an entity that somebody of theirs says that a live key has
// leaked. It changes nothing about the key. The admins are told once in an hour.
func (s *Service) ReportLeak(ctx context.Context, entity, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		key, err := lockKey(ctx, tx, entity, id)
		if err != nil {
			return err
		}
		switch {
		case key.ExpiresAt != nil && !key.ExpiresAt.After(now):
			return ErrNoKey
		case key.Mode != Live:
			return errReportTest
		}
		if now.Sub(timeOrZero(key.LeakNoticeAt)) >= leakNoticeStep {
			if _, err := tx.Exec(ctx, `UPDATE api_key SET leak_notice_at = $2 WHERE id = $1`, id, now); err != nil {
				return err
			}
			if err := s.notify(ctx, tx, Notice{Kind: KeyLeaked, Entity: key.EntityID, About: keyText(key.Mode, key.Name, key.Preview), Path: keyPath(id) + "/revoke", By: by}); err != nil {
				return err
			}
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by, Action: audit.KeyReported, Subject: id, Entity: key.EntityID, Request: request})
	})
	return fault.Wrap(err, "access: report a leaked key")
}

// lockedKey is a key whose row is locked.
type lockedKey struct {
	EntityID             uuid.UUID
	Name, Mode           string
	Purpose, PurposeText string
	Preview              string
	Networks             []netip.Prefix
	Rate                 float64
	Burst                int
	Rights               []string
	ExpiresAt            *time.Time
	LeakNoticeAt         *time.Time
	CreatedAt            time.Time
	CreatedBy            uuid.NullUUID
	RowSum, RowMAC       []byte
}

// lockKey returns a key that is not revoked, and holds its row. The key must belong to the
// entity, unless entity is the zero id.
func lockKey(ctx context.Context, tx pg.Tx, entity, id uuid.UUID) (lockedKey, error) {
	key, err := pg.CollectOne(ctx, tx, pgx.RowToStructByPos[lockedKey],
		`SELECT entity_id, name, mode, purpose, purpose_text, preview, networks, rate, burst, rights, expires_at, leak_notice_at, created_at, created_by, row_sum, row_mac
		FROM api_key WHERE id = $1 AND revoked_at IS NULL AND (entity_id = $2 OR $2 = '00000000-0000-0000-0000-000000000000'::uuid) FOR UPDATE`, id, entity)
	err = pg.Signed(ctx, tx, err, pg.Row{Table: "api_key", ID: id, Sum: key.RowSum, MAC: key.RowMAC})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNoKey
	}
	return key, err
}
