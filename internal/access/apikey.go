package access

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// The modes of a key.
const (
	Live = "live" // verifies the lines of the country
	Test = "test" // verifies test numbers only, and never reads a line
)

// KeyForm is the form for a new API key.
type KeyForm struct {
	Entity   uuid.UUID
	Name     string         // of the application
	Mode     string         // Live or Test
	Purpose  string         // a code of the policy, or any words
	Expires  time.Duration  // 0 means LiveLifetime for a live key, and never for a test key; NoExpiry means never
	Networks []netip.Prefix // source addresses it may be used from; none means any
	Rate     float64        // requests a second; 0 means the limit of the entity or the settings
	Burst    int            // requests at once; 0 likewise
	Rights   []string       // beyond verifying; see KeyRights
}

// NewKey is a key that was just created. Its text is shown only now.
type NewKey struct {
	ID   uuid.UUID
	Text secret.Text
}

// prefixes maps each mode to a prefix of its own, so that people and secret
// scanners can tell live keys from test keys.
var prefixes = map[string]secret.Prefix{Live: secret.LiveKey, Test: secret.TestKey}

const maxNetworks = 64

// ParseNetwork reads an IP network. A single address is a network of one.
func ParseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Prefix(address.BitLen())
	}
	return netip.ParsePrefix(text)
}

// NetworkText writes an IP network as people write it: a network of one address
// without the length of its prefix.
func NetworkText(n netip.Prefix) string {
	if n.IsSingleIP() {
		return n.Addr().String()
	}
	return n.String()
}

var (
	errNoEntity = fault.New(fault.NotFound, "There is no entity with this id.")

	// ErrNoKey reports a key that does not exist for this caller, or that is
	// already revoked or expired.
	ErrNoKey = fault.New(fault.NotFound, "There is no such key, or it is already revoked or expired.")

	// ErrRolled reports a key that already has a successor.
	ErrRolled = fault.New(fault.IncompatibleState, "This key already has a successor. Roll the successor instead.")
)

func (f *KeyForm) check() error {
	var wrong fault.Form
	wrong.CheckLabel("name", f.Name, 100)
	wrong.CheckChoice(prefixes[f.Mode] != "", "mode", f.Mode, "The mode must be live or test.")
	wrong.Check(utf8.RuneCountInString(f.Purpose) <= 100, "purpose", fault.TooLong, "Use at most 100 characters.")
	wrong.Check(utf8.ValidString(f.Purpose) && !strings.ContainsRune(f.Purpose, 0), "purpose", fault.BadFormat, "Use text in UTF-8.")
	wrong.Check(f.Expires >= 0 || f.Expires == NoExpiry, "expires", fault.NotAllowed, "Give a time in the future, or none.")
	wrong.Check(len(f.Networks) <= maxNetworks, "networks", fault.TooLong, "Give at most 64 networks.")
	for _, n := range f.Networks {
		wrong.Check(n.IsValid() && n.Masked() == n, "networks", fault.BadFormat, "Write an address as 192.0.2.7, or a network as 192.0.2.0/24 or 2001:db8::/32, with no address bits set after the prefix length.")
	}
	wrong.Check(f.Rate >= 0 && f.Rate <= registry.MaxBurst, "rate", fault.NotAllowed, "Give requests per second, from 0 (use the default) to 1,000,000.")
	wrong.Check(f.Burst >= 0 && f.Burst <= registry.MaxBurst, "burst", fault.NotAllowed, "Give a number from 0 (use the default) to 1,000,000.")
	CheckKeyRights(&wrong, f.Rights)
	return wrong.Err()
}

// CreateKey creates an API key for an entity.
func (s *Service) CreateKey(ctx context.Context, f KeyForm, by audit.Actor, request uuid.UUID) (key NewKey, err error) {
	f.Purpose = strings.TrimSpace(f.Purpose)
	if err := f.check(); err != nil {
		return NewKey{}, err
	}
	now := s.now()
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		purpose, err := purposeOf(ctx, tx, f.Purpose, now)
		if err != nil {
			return err
		}
		if key, err = s.insertKey(ctx, tx, &f, purpose, f.expiresAt(now), uuid.Nil, by); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.KeyCreated, Subject: key.ID, Entity: f.Entity, Request: request, After: f.facts(purpose),
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

func (s *Service) insertKey(ctx context.Context, tx pg.Tx, f *KeyForm, p purpose, expires *time.Time, replaces uuid.UUID, by audit.Actor) (NewKey, error) {
	if f.Mode == Live {
		if err := s.checkLiveKey(ctx, tx, f.Entity, by); err != nil {
			return NewKey{}, err
		}
	}
	key := NewKey{ID: uuid.Must(uuid.NewV7()), Text: secret.New(prefixes[f.Mode])}
	networks, rights := append([]netip.Prefix{}, f.Networks...), append([]string{}, f.Rights...) // the columns are never null
	_, err := tx.Exec(ctx, `INSERT INTO api_key (id, entity_id, name, mode, purpose, purpose_text, mac, preview, networks, rate, burst, expires_at, created_at, created_by, replaces, rights)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		key.ID, f.Entity, f.Name, f.Mode, p.code, p.text, s.Peppers.Sign(secret.ForCredentials, key.Text.Reveal()), secret.Preview(key.Text),
		networks, f.Rate, f.Burst, expires, s.now(), pg.ID(by.ID), pg.ID(replaces), rights)
	if err != nil || f.Mode != Live {
		return key, err
	}
	return key, s.notify(ctx, tx, Notice{Kind: CredentialAdded, Entity: f.Entity, About: keyText(f.Mode, f.Name, secret.Preview(key.Text)), Path: keyPath(key.ID), By: by})
}

// checkLiveKey returns why this actor may not create a live key of an entity now.
func (s *Service) checkLiveKey(ctx context.Context, tx pg.Tx, entity uuid.UUID, by audit.Actor) error {
	if by.Kind != audit.Operator {
		if s.CheckKeyMaker == nil {
			return errors.New("access: CheckKeyMaker is not set, so only the operator can create live keys")
		}
		if err := s.CheckKeyMaker(ctx, tx, by.ID); err != nil {
			return err
		}
	}
	if s.CheckNewKey == nil {
		return nil
	}
	return s.CheckNewKey(ctx, tx, entity)
}

func (f *KeyForm) facts(p purpose) map[string]any {
	networks := make([]string, len(f.Networks))
	for i, n := range f.Networks {
		networks[i] = n.String()
	}
	return map[string]any{"name": f.Name, "mode": f.Mode, "purpose": p.code, "purposeText": p.text, "networks": networks, "rate": f.Rate, "burst": f.Burst, "rights": append([]string{}, f.Rights...)}
}

// MaxOverlap is the longest time for which a key and its successor both work.
const MaxOverlap = 7 * 24 * time.Hour

// RollKey creates a successor of a key with the same rights and the same lifetime,
// which starts now. The old key expires after the overlap; with an overlap of 0 it
// expires now. The key must belong to the entity, unless entity is the zero id.
func (s *Service) RollKey(ctx context.Context, entity, id uuid.UUID, overlap time.Duration, by audit.Actor, request uuid.UUID) (key NewKey, err error) {
	var wrong fault.Form
	wrong.Check(overlap >= 0 && overlap <= MaxOverlap, "overlap", fault.NotAllowed, "Give a time from 0 to 7 days.")
	if err := wrong.Err(); err != nil {
		return NewKey{}, err
	}
	now := s.now()
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		old, err := lockKey(ctx, tx, entity, id)
		if err != nil {
			return err
		}
		// A key that was rolled without an overlap has expired, too: the caller needs to
		// know of the successor. Only after the lock: a statement that waits for one still
		// sees the other rows as they were before the wait.
		var rolled bool
		err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM api_key WHERE replaces = $1)`, id).Scan(&rolled)
		switch {
		case err != nil:
			return err
		case rolled:
			return ErrRolled
		case old.ExpiresAt != nil && !old.ExpiresAt.After(now):
			return ErrNoKey
		}
		f := KeyForm{Entity: old.EntityID, Name: old.Name, Mode: old.Mode, Networks: old.Networks, Rate: old.Rate, Burst: old.Burst, Rights: old.Rights}
		var expires *time.Time
		if old.ExpiresAt != nil {
			at := now.Add(old.ExpiresAt.Sub(old.CreatedAt))
			expires = &at
		}
		if key, err = s.insertKey(ctx, tx, &f, purpose{old.Purpose, old.PurposeText}, expires, id, by); err != nil {
			return err
		}
		ends := now.Add(overlap)
		if old.ExpiresAt != nil && old.ExpiresAt.Before(ends) {
			ends = *old.ExpiresAt
		}
		if _, err := tx.Exec(ctx, `UPDATE api_key SET expires_at = $2 WHERE id = $1`, id, ends); err != nil {
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
	s.cache.invalidate(id)
	return key, nil
}

// FindKey returns the id of a key by its text, for example of a key that leaked.
func (s *Service) FindKey(ctx context.Context, text secret.Text) (id uuid.UUID, err error) {
	if prefix, ok := secret.Parse(text.Reveal()); !ok || prefix != secret.LiveKey && prefix != secret.TestKey {
		return uuid.Nil, ErrNoKey
	}
	err = s.Pool.QueryRow(ctx, `SELECT id FROM api_key WHERE mac = ANY($1::bytea[])`, s.Peppers.Candidates(secret.ForCredentials, text.Reveal())).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, ErrNoKey
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("access: find a key: %w", err)
	}
	return id, nil
}
