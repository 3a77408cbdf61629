package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// limits returns what may be asked with a key: what it was given, else what its
// entity was given, else what the settings say.
func (k *Keeper) limits(key db.KeyByMACRow) Limits {
	d := k.Limits
	return Limits{
		KeyRate: cmp.Or(key.Rate, d.KeyRate), KeyBurst: cmp.Or(int(key.Burst), d.KeyBurst),
		EntityRate: cmp.Or(key.EntityRate, d.EntityRate), EntityBurst: cmp.Or(int(key.EntityBurst), d.EntityBurst),
		DayQuota: cmp.Or(key.DayQuota, d.DayQuota), MonthQuota: cmp.Or(key.MonthQuota, d.MonthQuota), DayNumbers: cmp.Or(key.DayNumbers, d.DayNumbers),
	}
}

// LimitsOf returns what staff allow an entity; zero where the settings hold.
func (k *Keeper) LimitsOf(ctx context.Context, entity uuid.UUID) (Limits, error) {
	return limitsOf(ctx, k.Pool, entity)
}

func limitsOf(ctx context.Context, from pg.DB, entity uuid.UUID) (Limits, error) {
	l, err := db.New(from).LimitsOf(ctx, entity)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Limits{}, fmt.Errorf("access: read the limits: %w", err)
	}
	return Limits{EntityRate: l.Rate, EntityBurst: int(l.Burst), DayQuota: l.DayQuota, MonthQuota: l.MonthQuota, DayNumbers: l.DayNumbers}, nil
}

// mostBurst is more than a node can take in at once.
const mostBurst = 1_000_000

// SetLimits sets what staff allow an entity; zero leaves it to the settings.
func (k *Keeper) SetLimits(ctx context.Context, entity uuid.UUID, l Limits, by audit.Actor, request uuid.UUID) error {
	var wrong fault.Form
	wrong.Check(l.EntityRate >= 0 && l.EntityRate <= mostBurst, "rate", fault.NotAllowed, "Give requests a second, from 0 (the settings hold) to 1,000,000.")
	wrong.Check(l.EntityBurst >= 0 && l.EntityBurst <= mostBurst, "burst", fault.NotAllowed, "Give a number from 0 (the settings hold) to 1,000,000.")
	for field, n := range map[string]int64{"dayQuota": l.DayQuota, "monthQuota": l.MonthQuota, "dayNumbers": l.DayNumbers} {
		wrong.Check(n >= 0, field, fault.NotAllowed, "Give a number that is not negative; 0 means that the settings hold.")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	now := k.now()
	err := pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		before, err := limitsOf(ctx, tx, entity)
		if err != nil {
			return err
		}
		err = db.New(tx).SetLimits(ctx, db.SetLimitsParams{
			EntityID: entity, Rate: l.EntityRate, Burst: int32(l.EntityBurst), DayQuota: l.DayQuota, MonthQuota: l.MonthQuota, DayNumbers: l.DayNumbers, UpdatedAt: now, //nolint:gosec // at most mostBurst
		})
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.LimitsSet, Subject: entity, Entity: entity, Request: request, Before: before.facts(), After: l.facts(),
		})
	})
	if pg.Violated(err) == "entity_limit_entity_id_fkey" {
		return errNoEntity
	}
	if err != nil {
		return fmt.Errorf("access: set the limits: %w", err)
	}
	return nil
}

func (l Limits) facts() map[string]any {
	return map[string]any{"rate": l.EntityRate, "burst": l.EntityBurst, "dayQuota": l.DayQuota, "monthQuota": l.MonthQuota, "dayNumbers": l.DayNumbers}
}
