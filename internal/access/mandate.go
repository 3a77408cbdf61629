package access

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	// ErrNotMandated refuses a request on behalf of a principal for whom the caller may
	// not ask.
	ErrNotMandated = fault.New(fault.PermissionDenied,
		"Your organisation has no mandate to ask on behalf of this principal for the purpose of this key. Write onBehalfOf exactly as in the mandate, or ask the regulator to record one.")

	// ErrNoMandate reports a mandate that does not exist or has already ended.
	ErrNoMandate = fault.New(fault.NotFound, "There is no such mandate, or it has already ended.")
)

const (
	// MaxPrincipal is the longest name of a principal, in characters.
	MaxPrincipal = 100
	maxDocument  = 200
)

// mandate is a mandate as it is cached with the keys of the agent.
type mandate struct {
	Principal string    `json:"principal"`
	Purposes  []string  `json:"purposes"`
	Until     time.Time `json:"until"`
	ID        uuid.UUID `json:"id"`
	Sum       []byte    `json:"sum"`
	MAC       []byte    `json:"mac"`
}

// parseMandates reads the mandates that the query for a key returns, if they are signed.
func parseMandates(ctx context.Context, from pg.DB, text []byte) (list []mandate, err error) {
	if string(text) == "[]" { // nearly always
		return nil, nil
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("access: read mandates: %w", err)
	}
	list = slices.DeleteFunc(list, func(m mandate) bool {
		ok, failed := pg.RowsSigned(ctx, from, pg.Row{Table: "mandate", ID: m.ID, Sum: m.Sum, MAC: m.MAC})
		err = errors.Join(err, failed)
		return !ok
	})
	return list, err
}

// CheckMandate returns ErrNotMandated unless the caller may ask on behalf of a
// principal, with the purpose of its key. It makes no query: mandates are cached with
// the key, and every change of one invalidates the keys of the agent on every node.
func (s *Service) CheckMandate(who *Principal, onBehalfOf string) error {
	now := s.now()
	for i := range who.mandates {
		m := &who.mandates[i]
		if m.Principal == onBehalfOf && now.Before(m.Until) && (len(m.Purposes) == 0 || slices.Contains(m.Purposes, who.Purpose)) {
			return nil
		}
	}
	return ErrNotMandated
}

// MandateForm is the form for a new mandate.
type MandateForm struct {
	Entity    uuid.UUID // the agent
	Principal string    // for whom it asks
	Purposes  []string  // codes of the policy; none means all
	Until     time.Time
	Document  string // where the mandate is written down
}

// check reports what is wrong with the form, by the purposes of the policy.
func (f *MandateForm) check(now time.Time, purposes []string) error {
	var wrong fault.Form
	wrong.Check(fault.IsPrintable(f.Principal, MaxPrincipal), "principal", fault.BadFormat, "Enter 1 to 100 printable characters.")
	for i, code := range f.Purposes {
		if !slices.Contains(purposes, code) || slices.Contains(f.Purposes[:i], code) {
			wrong.Once("purposes", fault.NotAllowed, "Name each purpose once, and only these: "+strings.Join(purposes, ", ")+".")
		}
	}
	wrong.Check(f.Until.After(now), "until", fault.NotAllowed, "Enter a time in the future.")
	wrong.Check(fault.IsPrintable(f.Document, maxDocument), "document", fault.BadFormat, "Enter 1 to 200 printable characters, such as the reference of the letter.")
	return wrong.Err()
}

// AddMandate records that an entity may ask on behalf of a principal.
func (s *Service) AddMandate(ctx context.Context, f MandateForm, by audit.Actor, request uuid.UUID) (uuid.UUID, error) {
	f.Principal, f.Document = strings.TrimSpace(f.Principal), strings.TrimSpace(f.Document)
	f.Until = f.Until.UTC().Truncate(time.Microsecond)
	now, id := s.now(), uuid.Must(uuid.NewV7())
	defer s.cache.invalidate(f.Entity)
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		current, err := policy.Current(ctx, tx, now)
		if err != nil {
			return err
		}
		if err := f.check(now, current.PurposeCodes()); err != nil {
			return err
		}
		purposes := append([]string{}, f.Purposes...) // the column is never null
		_, err = tx.Exec(ctx, `INSERT INTO mandate (id, entity_id, principal, purposes, until, document, created_at, created_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			id, f.Entity, f.Principal, purposes, f.Until, f.Document, now, pg.ID(by.ID))
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.MandateAdded, Subject: id, Entity: f.Entity, Request: request,
			After: map[string]any{"principal": f.Principal, "purposes": purposes, "until": f.Until.Format(time.RFC3339), "document": f.Document},
		})
	})
	switch {
	case pg.Violated(err) == "mandate_entity_id_fkey":
		return uuid.Nil, errNoEntity
	case err != nil:
		return uuid.Nil, fmt.Errorf("access: add a mandate: %w", err)
	}
	return id, nil
}

// EndMandate ends a mandate now. It cannot be undone.
func (s *Service) EndMandate(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	var entity uuid.UUID
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) (err error) {
		err = tx.QueryRow(ctx, `UPDATE mandate SET ended_at = $2, ended_by = $3 WHERE id = $1 AND ended_at IS NULL RETURNING entity_id`, id, now, pg.ID(by.ID)).Scan(&entity)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoMandate
		}
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by, Action: audit.MandateEnded, Subject: id, Entity: entity, Request: request})
	})
	if err != nil {
		return fmt.Errorf("access: end a mandate: %w", err)
	}
	s.cache.invalidate(entity)
	return nil
}

// Mandate is a mandate as lists show it.
type Mandate struct {
	ID, EntityID       uuid.UUID
	Entity             string // the name of the agent
	Principal          string
	Purposes           []string // none means all
	Until              time.Time
	Document           string
	CreatedAt, EndedAt time.Time // EndedAt is zero if nobody ended it
	CreatedBy, EndedBy uuid.UUID // accounts; zero for the command line
}

// Active reports whether the mandate is valid at that time.
func (m *Mandate) Active(at time.Time) bool { return m.EndedAt.IsZero() && at.Before(m.Until) }

// Mandates lists the mandates of an entity, or of all entities for the zero id, oldest
// first, with those that have ended.
func (s *Service) Mandates(ctx context.Context, entity uuid.UUID) ([]Mandate, error) {
	list, err := pg.Collect(ctx, s.Pool, func(row pgx.CollectableRow) (m Mandate, err error) {
		var ended *time.Time
		var createdBy, endedBy uuid.NullUUID
		err = row.Scan(&m.ID, &m.EntityID, &m.Entity, &m.Principal, &m.Purposes, &m.Until, &m.Document, &m.CreatedAt, &createdBy, &ended, &endedBy)
		m.EndedAt, m.CreatedBy, m.EndedBy = timeOrZero(ended), createdBy.UUID, endedBy.UUID
		return m, err
	}, `SELECT m.id, m.entity_id, e.name, m.principal, m.purposes, m.until, m.document, m.created_at, m.created_by, m.ended_at, m.ended_by
		FROM mandate m JOIN entity e ON e.id = m.entity_id
		WHERE m.entity_id = $1 OR $1 = '00000000-0000-0000-0000-000000000000'::uuid ORDER BY m.created_at, m.id`, entity)
	return list, fault.Wrap(err, "access: list mandates")
}
