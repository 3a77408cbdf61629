package access

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

// The modes of a key.
const (
	Live = "live" // asks about the lines of the nation
	Test = "test" // asks about test numbers, and never sees a line
)

// KeyForm is an API key as someone asks for it.
type KeyForm struct {
	Entity   uuid.UUID
	Name     string // of the application
	Mode     string // Live or Test
	Purpose  string
	Expires  time.Duration  // 0 means never
	Networks []netip.Prefix // from where it may be used; none means from anywhere
	Rate     float64        // requests a second; 0 leaves it to the settings
	Burst    int            // likewise
}

// NewKey is a key that was just made. Its text is shown this once.
type NewKey struct {
	ID   uuid.UUID
	Text secret.Text
}

// prefixes tell the modes apart, so that nobody takes one kind of key for the
// other.
var prefixes = map[string]secret.Prefix{Live: secret.LiveKey, Test: secret.TestKey}

const mostNetworks = 64

var (
	errNoEntity = fault.New(fault.NotFound, "There is no entity with this id.")

	// ErrNoKey reports a key that does not exist for this caller, or ended before.
	ErrNoKey = fault.New(fault.NotFound, "There is no such key, or it has ended before.")

	// ErrRolled reports a key that has a successor already.
	ErrRolled = fault.New(fault.IncompatibleState, "This key has a successor already. Roll that one instead.")
)

func (f *KeyForm) check() error {
	var wrong fault.Form
	checkLabel(&wrong, "name", f.Name, 100)
	wrong.Check(prefixes[f.Mode] != "", "mode", fault.NotAllowed, "The mode must be live or test.")
	wrong.Check(utf8.RuneCountInString(f.Purpose) <= 100, "purpose", fault.TooLong, "Use at most 100 characters.")
	wrong.Check(f.Expires >= 0, "expires", fault.NotAllowed, "Give a time in the future, or none.")
	wrong.Check(len(f.Networks) <= mostNetworks, "networks", fault.TooLong, "Give at most 64 networks.")
	for _, n := range f.Networks {
		wrong.Check(n.IsValid() && n.Masked() == n, "networks", fault.BadFormat, "Write a network as 192.0.2.0/24 or 2001:db8::/32, with no bits set behind its length.")
	}
	wrong.Check(f.Rate >= 0 && f.Rate <= mostBurst, "rate", fault.NotAllowed, "Give requests a second, from 0 (the settings hold) to 1,000,000.")
	wrong.Check(f.Burst >= 0 && f.Burst <= mostBurst, "burst", fault.NotAllowed, "Give a number from 0 (the settings hold) to 1,000,000.")
	return wrong.Err()
}

// CreateKey makes an API key for an entity.
func (k *Keeper) CreateKey(ctx context.Context, f KeyForm, by audit.Actor, request uuid.UUID) (key NewKey, err error) {
	if err := f.check(); err != nil {
		return NewKey{}, err
	}
	now := k.now()
	var expires *time.Time
	if f.Expires > 0 {
		at := now.Add(f.Expires)
		expires = &at
	}
	err = pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		key, err = k.insertKey(ctx, tx, &f, expires, uuid.Nil, by)
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.KeyCreated, Subject: key.ID, Entity: f.Entity, Request: request, After: f.facts(),
		})
	})
	if pg.Violated(err) == "api_key_entity_id_fkey" {
		return NewKey{}, errNoEntity
	}
	if err != nil {
		return NewKey{}, fmt.Errorf("access: create a key: %w", err)
	}
	return key, nil
}

func (k *Keeper) insertKey(ctx context.Context, tx pg.Tx, f *KeyForm, expires *time.Time, replaces uuid.UUID, by audit.Actor) (NewKey, error) {
	if f.Mode == Live && k.MayMakeKey != nil {
		if err := k.MayMakeKey(ctx, tx, f.Entity); err != nil {
			return NewKey{}, err
		}
	}
	key := NewKey{ID: uuid.Must(uuid.NewV7()), Text: secret.New(prefixes[f.Mode])}
	networks := f.Networks
	if networks == nil {
		networks = []netip.Prefix{}
	}
	return key, db.New(tx).InsertKey(ctx, db.InsertKeyParams{
		ID: key.ID, EntityID: f.Entity, Name: f.Name, Mode: f.Mode, Purpose: f.Purpose, Mac: k.Peppers.Sign(key.Text.Reveal()),
		Preview: secret.Preview(key.Text), Networks: networks, Rate: f.Rate, Burst: int32(f.Burst), ExpiresAt: expires, CreatedAt: k.now(), //nolint:gosec // at most mostBurst
		CreatedBy: pg.ID(by.ID), Replaces: pg.ID(replaces),
	})
}

func (f *KeyForm) facts() map[string]any {
	networks := make([]string, len(f.Networks))
	for i, n := range f.Networks {
		networks[i] = n.String()
	}
	return map[string]any{"name": f.Name, "mode": f.Mode, "purpose": f.Purpose, "networks": networks, "rate": f.Rate, "burst": f.Burst}
}

// MostOverlap is the longest time for which a key and its successor both stand.
const MostOverlap = 7 * 24 * time.Hour

// RollKey makes a successor of a key, which has the same rights. The old one
// ends after the overlap; with none it ends now. Entity is whose key it must be;
// the zero id means anybody's.
func (k *Keeper) RollKey(ctx context.Context, entity, id uuid.UUID, overlap time.Duration, by audit.Actor, request uuid.UUID) (key NewKey, err error) {
	var wrong fault.Form
	wrong.Check(overlap >= 0 && overlap <= MostOverlap, "overlap", fault.NotAllowed, "Give a time from 0 to 7 days.")
	if err := wrong.Err(); err != nil {
		return NewKey{}, err
	}
	now := k.now()
	err = pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		q := db.New(tx)
		old, err := q.LockKey(ctx, db.LockKeyParams{ID: id, EntityID: entity, Now: now})
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoKey
		}
		if err != nil {
			return err
		}
		if old.Rolled {
			return ErrRolled
		}
		f := KeyForm{Entity: old.EntityID, Name: old.Name, Mode: old.Mode, Purpose: old.Purpose, Networks: old.Networks, Rate: old.Rate, Burst: int(old.Burst)}
		if key, err = k.insertKey(ctx, tx, &f, old.ExpiresAt, id, by); err != nil {
			return err
		}
		ends := now.Add(overlap)
		if old.ExpiresAt != nil && old.ExpiresAt.Before(ends) {
			ends = *old.ExpiresAt
		}
		if err := q.ExpireKey(ctx, db.ExpireKeyParams{ID: id, At: &ends}); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.KeyRolled, Subject: id, Entity: f.Entity, Request: request,
			After: map[string]any{"successor": key.ID.String(), "endsAt": ends.Format(time.RFC3339)},
		})
	})
	if err != nil {
		return NewKey{}, fmt.Errorf("access: roll a key: %w", err)
	}
	k.memory.forget(id)
	return key, nil
}

// RevokeKey ends a key for good. Entity is whose key it must be; the zero id
// means anybody's. On this node the next request with it is refused, on others
// as soon as they hear of it.
func (k *Keeper) RevokeKey(ctx context.Context, entity, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := k.now()
	defer k.memory.forget(id)
	return pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		of, err := db.New(tx).RevokeKey(ctx, db.RevokeKeyParams{ID: id, EntityID: entity, At: &now, By: pg.ID(by.ID)})
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoKey
		}
		if err != nil {
			return fmt.Errorf("access: revoke a key: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by, Action: audit.KeyRevoked, Subject: id, Entity: of, Request: request})
	})
}

// FindKey returns the id of a key by its text, as when one was found where it
// should not be.
func (k *Keeper) FindKey(ctx context.Context, text secret.Text) (uuid.UUID, error) {
	id, err := db.New(k.Pool).KeyIDByMAC(ctx, k.Peppers.Candidates(text.Reveal()))
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, ErrNoKey
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("access: find a key: %w", err)
	}
	return id, nil
}
