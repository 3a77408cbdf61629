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

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/numbering/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
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
	q := db.New(tx)
	if err := q.LockPlan(ctx); err != nil {
		return Plan{}, time.Time{}, fmt.Errorf("numbering: lock the plan: %w", err)
	}
	p, now, err := s.next(ctx, q, d.EffectiveAt)
	if err != nil {
		return Plan{}, time.Time{}, err
	}
	p.Source = strings.TrimSpace(d.Source)
	return p, now, check(p, d.Rows)
}

// Preview returns the plan that [Service.Issue] would create, and the version before
// it. It changes nothing.
func (s *Service) Preview(ctx context.Context, d Draft) (before, after *Plan, err error) {
	p, _, err := s.next(ctx, db.New(s.Pool), d.EffectiveAt)
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
func (s *Service) next(ctx context.Context, q *db.Queries, effectiveAt time.Time) (p Plan, now time.Time, err error) {
	last, err := q.LastPlan(ctx)
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
		p.Digits = int(last.Digits)
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
	q := db.New(tx)
	ids, codes, err := ensureNetworks(ctx, q, rows)
	if err != nil {
		return nil, err
	}
	plan := planOf(p, rows, ids, codes)
	err = q.InsertPlan(ctx, db.InsertPlanParams{
		Version: p.Version, ID: id, EffectiveAt: p.EffectiveAt, Digits: int16(p.Digits), Source: p.Source, CreatedAt: e.At, //nolint:gosec // checked: at most 15
	})
	if err != nil {
		return nil, fmt.Errorf("numbering: insert the version: %w", err)
	}
	if err := insertContents(ctx, q, plan); err != nil {
		return nil, err
	}
	e.Action, e.Subject = audit.PlanSet, id
	e.After["version"], e.After["effectiveAt"], e.After["ranges"], e.After["source"] = p.Version, p.EffectiveAt, len(rows), p.Source
	return plan, audit.Write(ctx, tx, e)
}

// insertContents writes the networks and ranges of a version.
func insertContents(ctx context.Context, q *db.Queries, p *Plan) error {
	n, r := db.InsertNetworksParams{Version: p.Version}, db.InsertRangesParams{Version: p.Version}
	for _, id := range p.networks {
		n.Networks, n.Names = append(n.Networks, int16(id)), append(n.Names, p.names[id])
	}
	if err := q.InsertNetworks(ctx, n); err != nil {
		return fmt.Errorf("numbering: insert the names: %w", err)
	}
	for _, rg := range p.ranges {
		r.Prefixes, r.Networks = append(r.Prefixes, rg.Prefix), append(r.Networks, int16(rg.Network))
		r.Allocated = append(r.Allocated, pgtype.Date{Time: rg.Allocated, Valid: true})
		r.Withdrawn = append(r.Withdrawn, pgtype.Date{Time: rg.Withdrawn, Valid: !rg.Withdrawn.IsZero()})
	}
	if err := q.InsertRanges(ctx, r); err != nil {
		return fmt.Errorf("numbering: insert the ranges: %w", err)
	}
	return nil
}

// ensureNetworks adds the networks that rows name for the first time, and returns
// all networks by code and by id.
func ensureNetworks(ctx context.Context, q *db.Queries, rows []Row) (ids map[string]Network, codes map[Network]string, err error) {
	if err := q.LockNetworks(ctx); err != nil {
		return nil, nil, fmt.Errorf("numbering: lock the networks: %w", err)
	}
	known, err := q.Networks(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("numbering: read the networks: %w", err)
	}
	ids, codes = map[string]Network{}, map[Network]string{}
	for _, n := range known {
		ids[n.Name], codes[Network(n.ID)] = Network(n.ID), n.Name
	}
	for _, r := range rows {
		if _, seen := ids[r.Network]; seen {
			continue
		}
		id, err := q.AddNetwork(ctx, r.Network)
		if err != nil {
			return nil, nil, fmt.Errorf("numbering: add a network: %w", err)
		}
		ids[r.Network], codes[Network(id)] = Network(id), r.Network
	}
	return ids, codes, nil
}
