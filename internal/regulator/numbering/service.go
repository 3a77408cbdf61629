package numbering

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const maxSource = 2000

// Errors about the time at which a plan takes effect.
var (
	errPast = fault.ErrInvalid.With(fault.Violation{
		Field: "effectiveAt", Code: fault.NotAllowed,
		Message: "A plan cannot take effect in the past, because answers were given by another version then.",
	})
	errBeforeLast = fault.ErrInvalid.With(fault.Violation{
		Field: "effectiveAt", Code: fault.NotAllowed,
		Message: "A plan must take effect after every earlier version. To see their times, run: lineproof plan history",
	})
)

// Service creates versions of the plan.
type Service struct {
	Pool *pgxpool.Pool
	Now  func() time.Time
	// Digits is how many digits a complete number has, with its country code. 0
	// means as many as in the previous version, and 13 in the first one.
	Digits int
}

// Draft is a version of the plan that is to be created.
type Draft struct {
	Rows        []Row
	Source      string
	EffectiveAt time.Time // zero: immediately
	By          audit.Actor
	Request     uuid.UUID // zero for none
	Reason      string    // for the second person; empty: the source
	// BaseVersion is the latest version when the draft was written. If there is a newer
	// one, the draft is refused, so that nobody replaces a version unseen.
	BaseVersion int32
}

var errChanged = fault.New(fault.Aborted, "Somebody else has set a new version of the plan in the meantime. Review it, then start over from there.")

// Set creates the next version of the plan from rows, on behalf of the operator of
// the service. It takes effect at effectiveAt, or immediately when that is zero.
// Networks that are named for the first time are added. A second person has to confirm
// it: then it returns an [approval.WaitsError], and a plan without a time takes effect
// when it is confirmed.
func (s *Service) Set(ctx context.Context, rows []Row, source string, effectiveAt time.Time) (*Plan, error) {
	return s.Create(ctx, Draft{Rows: rows, Source: source, EffectiveAt: effectiveAt, By: audit.Actor{Kind: audit.Operator}})
}

// Create creates the next version from a draft, whichever version it was based on.
func (s *Service) Create(ctx context.Context, d Draft) (*Plan, error) { return s.issue(ctx, d, false) }

// Issue creates the next version from a draft. Unlike Create it checks that the
// draft follows the latest version.
func (s *Service) Issue(ctx context.Context, d Draft) (*Plan, error) { return s.issue(ctx, d, true) }

func (s *Service) issue(ctx context.Context, d Draft, checkFollows bool) (*Plan, error) {
	var plan *Plan
	var pending uuid.UUID
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		p, now, err := s.lockNext(ctx, tx, d)
		if err != nil {
			return err
		}
		if checkFollows && p.Version != d.BaseVersion+1 {
			return errChanged
		}
		if err := registry.CheckAdministrator(ctx, tx, d.By); err != nil {
			return err
		}
		alone, err := registry.MayActAlone(ctx, tx, d.By)
		if err != nil {
			return err
		}
		if !alone {
			pending, err = request(ctx, tx, p, d, now)
			return err
		}
		plan, err = store(ctx, tx, p, d.Rows, uuid.Must(uuid.NewV7()), audit.Entry{At: now, Actor: d.By, Request: d.Request, After: map[string]any{}})
		return err
	})
	if err != nil {
		return nil, err
	}
	return plan, approval.Waits(pending)
}

// lockNext keeps others from creating a version until the transaction ends, and returns
// the version that a draft would be, checked and still without its ranges.
func (s *Service) lockNext(ctx context.Context, tx pg.Tx, d Draft) (Plan, time.Time, error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof numbering plan', 0))`); err != nil {
		return Plan{}, time.Time{}, fmt.Errorf("numbering: lock the plan: %w", err)
	}
	p, now, err := s.next(ctx, tx, d.EffectiveAt)
	if err != nil {
		return Plan{}, time.Time{}, err
	}
	p.Source = strings.TrimSpace(d.Source)
	return p, now, check(p, d.Rows)
}

// Preview returns the plan that [Service.Issue] would create, and the version before
// it. It changes nothing.
func (s *Service) Preview(ctx context.Context, d Draft) (before, after *Plan, err error) {
	p, _, err := s.next(ctx, s.Pool, d.EffectiveAt)
	if err != nil {
		return nil, nil, err
	}
	p.Source = strings.TrimSpace(d.Source)
	if err := check(p, d.Rows); err != nil {
		return nil, nil, err
	}
	if before, err = Load(ctx, s.Pool, p.Version-1); err != nil {
		return nil, nil, err
	}
	ids, codes := assignIDs(d.Rows)
	return before, planOf(p, d.Rows, ids, codes), nil
}

// next returns the next version of the plan, still without ranges. The caller
// holds the lock when the clock is read here, so that of two concurrent versions
// the second takes effect after the first.
func (s *Service) next(ctx context.Context, from pg.DB, effectiveAt time.Time) (p Plan, now time.Time, err error) {
	var last Plan
	err = from.QueryRow(ctx, `SELECT version, effective_at, digits FROM numbering_plan ORDER BY version DESC LIMIT 1`).Scan(&last.Version, &last.EffectiveAt, &last.Digits)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Plan{}, time.Time{}, fmt.Errorf("numbering: read the last version: %w", err)
	}
	// Times in the journal are in milliseconds, so a version takes effect on one.
	now = s.Now().UTC().Truncate(time.Millisecond)
	p = Plan{Version: last.Version + 1, EffectiveAt: now, Digits: defaultDigits}
	if !effectiveAt.IsZero() {
		p.EffectiveAt = effectiveAt.UTC().Truncate(time.Millisecond)
	}
	switch {
	case s.Digits != 0:
		p.Digits = s.Digits
	case last.Version > 0:
		p.Digits = last.Digits
	}
	if p.EffectiveAt.Before(now) {
		return Plan{}, time.Time{}, errPast
	}
	if last.Version > 0 && !p.EffectiveAt.After(last.EffectiveAt) {
		return Plan{}, time.Time{}, errBeforeLast
	}
	return p, now, nil
}

func check(p Plan, rows []Row) error {
	var wrong violations
	wrong.check(p.Source != "", "source", fault.Required, "Say where the plan comes from.")
	wrong.check(utf8.RuneCountInString(p.Source) <= maxSource, "source", fault.TooLong, fmt.Sprintf("Use at most %d characters.", maxSource))
	wrong.check(utf8.ValidString(p.Source) && !strings.ContainsRune(p.Source, 0), "source", fault.BadFormat, "Use text in UTF-8.")
	wrong.check(p.Digits >= minDigits && p.Digits <= maxDigits, "digits", fault.NotAllowed,
		fmt.Sprintf("A number has %d to %d digits.", minDigits, maxDigits))
	rowName := func(i int) string { return fmt.Sprintf("row %d", i+1) }
	wrong.rows(rows, rowName)
	for i, r := range rows {
		wrong.check(len(r.Prefix) <= p.Digits, rowName(i)+", prefix", fault.TooLong, fmt.Sprintf("A number of this plan has only %d digits.", p.Digits))
	}
	return wrong.err()
}

// store writes the version, and its audit entry with the actor and the reason.
func store(ctx context.Context, tx pg.Tx, p Plan, rows []Row, id uuid.UUID, e audit.Entry) (*Plan, error) {
	ids, codes, err := ensureNetworks(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	plan := planOf(p, rows, ids, codes)
	_, err = tx.Exec(ctx, `INSERT INTO numbering_plan (version, id, effective_at, digits, source, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		p.Version, id, p.EffectiveAt, p.Digits, p.Source, e.At)
	if err != nil {
		return nil, fmt.Errorf("numbering: insert the version: %w", err)
	}
	if err := insertContents(ctx, tx, plan); err != nil {
		return nil, err
	}
	e.Action, e.Subject = audit.PlanSet, id
	e.After["version"], e.After["effectiveAt"], e.After["ranges"], e.After["source"] = p.Version, p.EffectiveAt, len(rows), p.Source
	return plan, audit.Write(ctx, tx, e)
}

// insertContents writes the networks and ranges of a version.
func insertContents(ctx context.Context, tx pg.Tx, p *Plan) error {
	names := make([]string, len(p.networks))
	for i, id := range p.networks {
		names[i] = p.names[id]
	}
	_, err := tx.Exec(ctx, `INSERT INTO numbering_network (version, network, name) SELECT $1, unnest($2::smallint[]), unnest($3::text[])`, p.Version, p.networks, names)
	if err != nil {
		return fmt.Errorf("numbering: insert the names: %w", err)
	}
	var prefixes []string
	var networks []Network
	var allocated, withdrawn []pgtype.Date
	for _, r := range p.ranges {
		prefixes, networks = append(prefixes, r.Prefix), append(networks, r.Network)
		allocated = append(allocated, pgtype.Date{Time: r.Allocated, Valid: true})
		withdrawn = append(withdrawn, pgtype.Date{Time: r.Withdrawn, Valid: !r.Withdrawn.IsZero()})
	}
	_, err = tx.Exec(ctx, `INSERT INTO numbering_range (version, prefix, network, allocated, withdrawn)
		SELECT $1, unnest($2::text[]), unnest($3::smallint[]), unnest($4::date[]), unnest($5::date[])`, p.Version, prefixes, networks, allocated, withdrawn)
	return fault.Wrap(err, "numbering: insert the ranges")
}

// ensureNetworks adds the networks that rows name for the first time, and returns
// all networks by code and by id.
func ensureNetworks(ctx context.Context, tx pg.Tx, rows []Row) (ids map[string]Network, codes map[Network]string, err error) {
	// Otherwise two transactions could choose the same id.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof networks', 0))`); err != nil {
		return nil, nil, fmt.Errorf("numbering: lock the networks: %w", err)
	}
	if codes, err = readCodes(ctx, tx); err != nil {
		return nil, nil, err
	}
	ids = make(map[string]Network, len(codes))
	for id, code := range codes {
		ids[code] = id
	}
	for _, r := range rows {
		if _, seen := ids[r.Network]; seen {
			continue
		}
		var id Network
		if err := tx.QueryRow(ctx, `INSERT INTO network (id, name) SELECT coalesce(max(id), 0) + 1, $1 FROM network RETURNING id`, r.Network).Scan(&id); err != nil {
			return nil, nil, fmt.Errorf("numbering: add a network: %w", err)
		}
		ids[r.Network], codes[id] = id, r.Network
	}
	return ids, codes, nil
}
