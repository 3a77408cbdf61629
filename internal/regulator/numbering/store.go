package numbering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrNoVersion reports a version of the plan that does not exist.
var ErrNoVersion = fault.New(fault.NotFound, "There is no such version of the numbering plan.")

// defaultDigits is how many digits a number has before the first plan: Nigeria's
// 234 and ten more.
const defaultDigits = 13

// Load returns one version of the plan. Version 0 is the empty plan before the
// first one.
func Load(ctx context.Context, from pg.DB, version int32) (*Plan, error) {
	if version == 0 {
		return loadContents(ctx, from, Plan{Digits: defaultDigits})
	}
	p, err := loadHead(ctx, from, `WHERE version = $1`, version)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoVersion
	}
	if err != nil {
		return nil, fmt.Errorf("numbering: load version %d: %w", version, err)
	}
	return loadContents(ctx, from, p)
}

// Current returns the version of the plan in effect at a time: the one that took
// effect last. Before the first one it is version 0.
func Current(ctx context.Context, from pg.DB, at time.Time) (*Plan, error) {
	p, err := loadHead(ctx, from, `WHERE effective_at <= $1 ORDER BY effective_at DESC, version DESC LIMIT 1`, at)
	if errors.Is(err, pgx.ErrNoRows) {
		return loadContents(ctx, from, Plan{Digits: defaultDigits})
	}
	if err != nil {
		return nil, fmt.Errorf("numbering: find the current version: %w", err)
	}
	return loadContents(ctx, from, p)
}

func loadHead(ctx context.Context, from pg.DB, condition string, arg any) (p Plan, err error) {
	err = from.QueryRow(ctx, `SELECT version, effective_at, digits, source FROM numbering_plan `+condition, arg).Scan(&p.Version, &p.EffectiveAt, &p.Digits, &p.Source)
	p.EffectiveAt = p.EffectiveAt.UTC()
	return p, err
}

// readCodes returns the codes of all networks.
func readCodes(ctx context.Context, from pg.DB) (map[Network]string, error) {
	codes, err := pg.CollectMap[Network, string](ctx, from, `SELECT id, name FROM network`)
	return codes, fault.Wrap(err, "numbering: read the networks")
}

// loadContents reads the networks and ranges of a version. It needs no
// transaction: a version is written in one transaction and never changes.
func loadContents(ctx context.Context, from pg.DB, p Plan) (*Plan, error) {
	codes, err := readCodes(ctx, from)
	if err != nil {
		return nil, err
	}
	names, err := pg.CollectMap[Network, string](ctx, from, `SELECT network, name FROM numbering_network WHERE version = $1`, p.Version)
	if err != nil {
		return nil, fmt.Errorf("numbering: read the names: %w", err)
	}
	ranges, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (r Range, err error) {
		var allocated, withdrawn pgtype.Date // a null date becomes the zero time
		err = row.Scan(&r.Prefix, &r.Network, &allocated, &withdrawn)
		r.Allocated, r.Withdrawn = allocated.Time, withdrawn.Time
		return r, err
	}, `SELECT prefix, network, allocated, withdrawn FROM numbering_range WHERE version = $1`, p.Version)
	if err != nil {
		return nil, fmt.Errorf("numbering: read the ranges: %w", err)
	}
	return newPlan(p, ranges, names, codes), nil
}

// VersionSummary summarises one version of the plan.
type VersionSummary struct {
	Version     int32
	EffectiveAt time.Time
	CreatedAt   time.Time
	Source      string
	Networks    int
	Ranges      int
}

// History lists the versions of the plan, oldest first.
func History(ctx context.Context, from pg.DB) ([]VersionSummary, error) {
	list, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (v VersionSummary, err error) {
		err = row.Scan(&v.Version, &v.EffectiveAt, &v.Source, &v.CreatedAt, &v.Ranges, &v.Networks)
		v.EffectiveAt, v.CreatedAt = v.EffectiveAt.UTC(), v.CreatedAt.UTC()
		return v, err
	}, `SELECT p.version, p.effective_at, p.source, p.created_at,
		(SELECT count(*) FROM numbering_range r WHERE r.version = p.version),
		(SELECT count(*) FROM numbering_network n WHERE n.version = p.version)
		FROM numbering_plan p ORDER BY p.version`)
	return list, fault.Wrap(err, "numbering: list the versions")
}
