package numbering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/numbering/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
)

// ErrNoVersion reports a version of the plan that does not exist.
var ErrNoVersion = fault.New(fault.NotFound, "There is no such version of the numbering plan.")

// defaultDigits is how many digits a number has before the first plan: Nigeria's
// 234 and ten more.
const defaultDigits = 13

// Load returns one version of the plan. Version 0 is the empty plan before the
// first one.
func Load(ctx context.Context, from pg.DB, version int32) (*Plan, error) {
	q := db.New(from)
	if version == 0 {
		return loadContents(ctx, q, Plan{Digits: defaultDigits})
	}
	row, err := q.PlanByVersion(ctx, version)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoVersion
	}
	if err != nil {
		return nil, fmt.Errorf("numbering: load version %d: %w", version, err)
	}
	return loadContents(ctx, q, Plan{Version: row.Version, EffectiveAt: row.EffectiveAt.UTC(), Source: row.Source, Digits: int(row.Digits)})
}

// Current returns the version of the plan in effect at a time: the one that took
// effect last. Before the first one it is version 0.
func Current(ctx context.Context, from pg.DB, at time.Time) (*Plan, error) {
	q := db.New(from)
	row, err := q.CurrentPlan(ctx, at)
	if errors.Is(err, pgx.ErrNoRows) {
		return loadContents(ctx, q, Plan{Digits: defaultDigits})
	}
	if err != nil {
		return nil, fmt.Errorf("numbering: find the current version: %w", err)
	}
	return loadContents(ctx, q, Plan{Version: row.Version, EffectiveAt: row.EffectiveAt.UTC(), Source: row.Source, Digits: int(row.Digits)})
}

// loadContents reads the networks and ranges of a version. It needs no
// transaction: a version is written in one transaction and never changes.
func loadContents(ctx context.Context, q *db.Queries, p Plan) (*Plan, error) {
	known, err := q.Networks(ctx)
	if err != nil {
		return nil, fmt.Errorf("numbering: read the networks: %w", err)
	}
	codes := make(map[Network]string, len(known))
	for _, n := range known {
		codes[Network(n.ID)] = n.Name
	}
	named, err := q.NetworksOfPlan(ctx, p.Version)
	if err != nil {
		return nil, fmt.Errorf("numbering: read the names: %w", err)
	}
	names := make(map[Network]string, len(named))
	for _, n := range named {
		names[Network(n.Network)] = n.Name
	}
	rows, err := q.RangesOfPlan(ctx, p.Version)
	if err != nil {
		return nil, fmt.Errorf("numbering: read the ranges: %w", err)
	}
	ranges := make([]Range, 0, len(rows))
	for _, r := range rows {
		// A null date becomes the zero time.
		ranges = append(ranges, Range{Prefix: r.Prefix, Network: Network(r.Network), Allocated: r.Allocated.Time, Withdrawn: r.Withdrawn.Time})
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
	rows, err := db.New(from).History(ctx)
	if err != nil {
		return nil, fmt.Errorf("numbering: list the versions: %w", err)
	}
	list := make([]VersionSummary, 0, len(rows))
	for _, r := range rows {
		list = append(list, VersionSummary{
			Version: r.Version, EffectiveAt: r.EffectiveAt.UTC(), CreatedAt: r.CreatedAt.UTC(), Source: r.Source,
			Networks: int(r.Networks), Ranges: int(r.Ranges),
		})
	}
	return list, nil
}
