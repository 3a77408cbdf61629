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

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/numbering/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
)

const maxSource = 2000

// What Set refuses about the time.
var (
	errPast = fault.ErrInvalid.With(fault.Violation{
		Field: "effectiveAt", Code: fault.NotAllowed,
		Message: "A plan cannot take effect in the past, where answers were given by another one.",
	})
	errBeforeLast = fault.ErrInvalid.With(fault.Violation{
		Field: "effectiveAt", Code: fault.NotAllowed,
		Message: "A plan must take effect later than every version before it. See when these do with: lineproof plan history",
	})
)

// Book is where versions of the plan are made.
type Book struct {
	Pool *pgxpool.Pool
	Now  func() time.Time
	// Digits is how many digits a whole number has, with its country code. 0
	// means as many as in the version before, and 13 in the first one.
	Digits int
}

// Draft is a version of the plan that is to be made.
type Draft struct {
	Rows        []Row
	Source      string
	EffectiveAt time.Time // zero: at once
	By          audit.Actor
	Request     uuid.UUID // zero for none
	// Follows is the version that the writer of the draft had before them. Another
	// one that was made since is not overwritten unseen.
	Follows int32
}

var errChanged = fault.New(fault.Aborted, "Somebody else has made another version of the plan meanwhile. Look at it, then begin again from there.")

// Set makes the next version of the plan out of rows, for the operator. It takes
// effect at effectiveAt, or at once when that is zero. Networks that are named
// for the first time come into being.
func (b *Book) Set(ctx context.Context, rows []Row, source string, effectiveAt time.Time) (*Plan, error) {
	return b.issue(ctx, Draft{Rows: rows, Source: source, EffectiveAt: effectiveAt, By: audit.Actor{Kind: audit.Operator}}, false)
}

// Issue is Set for somebody who has seen which version comes before.
func (b *Book) Issue(ctx context.Context, d Draft) (*Plan, error) { return b.issue(ctx, d, true) }

func (b *Book) issue(ctx context.Context, d Draft, follows bool) (*Plan, error) {
	var plan *Plan
	err := pg.InTx(ctx, b.Pool, func(tx pg.Tx) error {
		q := db.New(tx)
		if err := q.LockPlan(ctx); err != nil {
			return fmt.Errorf("numbering: lock the plan: %w", err)
		}
		p, now, err := b.next(ctx, q, d.EffectiveAt)
		if err != nil {
			return err
		}
		if follows && p.Version != d.Follows+1 {
			return errChanged
		}
		p.Source = strings.TrimSpace(d.Source)
		if err := check(p, d.Rows); err != nil {
			return err
		}
		plan, err = store(ctx, tx, p, d, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return plan, nil
}

// Try returns the plan that [Book.Issue] would make, and the last version, which
// it would follow. It changes nothing.
func (b *Book) Try(ctx context.Context, d Draft) (before, after *Plan, err error) {
	p, _, err := b.next(ctx, db.New(b.Pool), d.EffectiveAt)
	if err != nil {
		return nil, nil, err
	}
	p.Source = strings.TrimSpace(d.Source)
	if err := check(p, d.Rows); err != nil {
		return nil, nil, err
	}
	if before, err = Load(ctx, b.Pool, p.Version-1); err != nil {
		return nil, nil, err
	}
	ids, codes := numbered(d.Rows)
	return before, planOf(p, d.Rows, ids, codes), nil
}

// next returns the head of the version that comes after the last one. The
// clock is read behind the lock: of two that are made at once, the second takes
// effect after the first.
func (b *Book) next(ctx context.Context, q *db.Queries, effectiveAt time.Time) (p Plan, now time.Time, err error) {
	last, err := q.LastPlan(ctx)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Plan{}, time.Time{}, fmt.Errorf("numbering: read the last version: %w", err)
	}
	// The journal knows times by the millisecond, so versions change on one.
	now = b.Now().UTC().Truncate(time.Millisecond)
	p = Plan{Version: last.Version + 1, EffectiveAt: now, Digits: usualDigits}
	if !effectiveAt.IsZero() {
		p.EffectiveAt = effectiveAt.UTC().Truncate(time.Millisecond)
	}
	switch {
	case b.Digits != 0:
		p.Digits = b.Digits
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
	var wrong complaints
	wrong.check(p.Source != "", "source", fault.Required, "Say where the plan comes from.")
	wrong.check(utf8.RuneCountInString(p.Source) <= maxSource, "source", fault.TooLong, fmt.Sprintf("Use at most %d characters.", maxSource))
	wrong.check(utf8.ValidString(p.Source) && !strings.ContainsRune(p.Source, 0), "source", fault.BadFormat, "Use text in UTF-8.")
	wrong.check(p.Digits >= minDigits && p.Digits <= maxDigits, "digits", fault.NotAllowed,
		fmt.Sprintf("A number has %d to %d digits.", minDigits, maxDigits))
	place := func(i int) string { return fmt.Sprintf("row %d", i+1) }
	wrong.rows(rows, place)
	for i, r := range rows {
		wrong.check(len(r.Prefix) <= p.Digits, place(i)+", prefix", fault.TooLong, fmt.Sprintf("A number of this plan has only %d digits.", p.Digits))
	}
	return wrong.err()
}

// store writes the version and its entry in the audit trail.
func store(ctx context.Context, tx pg.Tx, p Plan, d Draft, now time.Time) (*Plan, error) {
	q, id := db.New(tx), uuid.Must(uuid.NewV7())
	ids, codes, err := networks(ctx, q, d.Rows)
	if err != nil {
		return nil, err
	}
	plan := planOf(p, d.Rows, ids, codes)
	err = q.InsertPlan(ctx, db.InsertPlanParams{
		Version: p.Version, ID: id, EffectiveAt: p.EffectiveAt, Digits: int16(p.Digits), Source: p.Source, CreatedAt: now, //nolint:gosec // checked: at most 15
	})
	if err != nil {
		return nil, fmt.Errorf("numbering: insert the version: %w", err)
	}
	if err := insert(ctx, q, plan); err != nil {
		return nil, err
	}
	return plan, audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: d.By, Action: audit.PlanSet, Subject: id, Request: d.Request,
		After: map[string]any{"version": p.Version, "effectiveAt": p.EffectiveAt, "ranges": len(d.Rows), "source": p.Source},
	})
}

// insert writes the networks and ranges of a version.
func insert(ctx context.Context, q *db.Queries, p *Plan) error {
	n, r := db.InsertNetworksParams{Version: p.Version}, db.InsertRangesParams{Version: p.Version}
	for _, id := range p.networks {
		n.Networks, n.Names = append(n.Networks, int16(id)), append(n.Names, p.names[id])
	}
	if err := q.InsertNetworks(ctx, n); err != nil {
		return fmt.Errorf("numbering: insert the names: %w", err)
	}
	for _, held := range p.ranges {
		r.Prefixes, r.Networks = append(r.Prefixes, held.Prefix), append(r.Networks, int16(held.Network))
		r.Allocated = append(r.Allocated, pgtype.Date{Time: held.Allocated, Valid: true})
		r.Withdrawn = append(r.Withdrawn, pgtype.Date{Time: held.Withdrawn, Valid: !held.Withdrawn.IsZero()})
	}
	if err := q.InsertRanges(ctx, r); err != nil {
		return fmt.Errorf("numbering: insert the ranges: %w", err)
	}
	return nil
}

// networks returns all networks by code and by id, after adding those that rows
// name for the first time.
func networks(ctx context.Context, q *db.Queries, rows []Row) (ids map[string]Network, codes map[Network]string, err error) {
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
