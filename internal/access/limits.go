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

// limits returns the limits of a key. Each is that of the key if set, else that
// of its entity, else the default from the settings.
func (s *Service) limits(key db.KeyByMACRow) Limits {
	d := s.Limits
	l := Limits{
		KeyRate: cmp.Or(key.Rate, d.KeyRate), KeyBurst: cmp.Or(int(key.Burst), d.KeyBurst),
		EntityRate: cmp.Or(key.EntityRate, d.EntityRate), EntityBurst: cmp.Or(int(key.EntityBurst), d.EntityBurst),
		DayQuota: cmp.Or(key.DayQuota, d.DayQuota), MonthQuota: cmp.Or(key.MonthQuota, d.MonthQuota), DayNumbers: cmp.Or(key.DayNumbers, d.DayNumbers),
		YearNumbers: cmp.Or(key.YearNumbers, d.YearNumbers), OwnDay: key.DayNumbers != 0, OwnYear: key.YearNumbers != 0,
	}
	if d.SponsorNumbers > 0 { // what staff allow one entity, its sponsor has too
		l.SponsorNumbers = max(d.SponsorNumbers, key.DayNumbers)
	}
	if d.SponsorYear > 0 {
		l.SponsorYear = max(d.SponsorYear, key.YearNumbers)
	}
	return l
}

// LimitsOf returns the limits that staff set for an entity; zero means the default.
func (s *Service) LimitsOf(ctx context.Context, entity uuid.UUID) (Limits, error) {
	return limitsOf(ctx, s.Pool, entity)
}

func limitsOf(ctx context.Context, from pg.DB, entity uuid.UUID) (Limits, error) {
	l, err := db.New(from).LimitsOf(ctx, entity)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Limits{}, fmt.Errorf("access: read the limits: %w", err)
	}
	return Limits{EntityRate: l.Rate, EntityBurst: int(l.Burst), DayQuota: l.DayQuota, MonthQuota: l.MonthQuota, DayNumbers: l.DayNumbers, YearNumbers: l.YearNumbers}, nil
}

// maxBurst is more requests than a node can accept at once.
const maxBurst = 1_000_000

// SetLimits sets the limits of an entity; zero means the default.
func (s *Service) SetLimits(ctx context.Context, entity uuid.UUID, l Limits, by audit.Actor, request uuid.UUID) error {
	var wrong fault.Form
	wrong.Check(l.EntityRate >= 0 && l.EntityRate <= maxBurst, "rate", fault.NotAllowed, "Give requests per second, from 0 (use the default) to 1,000,000.")
	wrong.Check(l.EntityBurst >= 0 && l.EntityBurst <= maxBurst, "burst", fault.NotAllowed, "Give a number from 0 (use the default) to 1,000,000.")
	for field, n := range map[string]int64{"dayQuota": l.DayQuota, "monthQuota": l.MonthQuota, "dayNumbers": l.DayNumbers, "yearNumbers": l.YearNumbers} {
		wrong.Check(n >= 0, field, fault.NotAllowed, "Give 0 (use the default) or a positive number.")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	now := s.now()
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		before, err := limitsOf(ctx, tx, entity)
		if err != nil {
			return err
		}
		err = db.New(tx).SetLimits(ctx, db.SetLimitsParams{
			EntityID: entity, Rate: l.EntityRate, Burst: int32(l.EntityBurst), DayQuota: l.DayQuota, MonthQuota: l.MonthQuota, DayNumbers: l.DayNumbers, YearNumbers: l.YearNumbers, UpdatedAt: now, //nolint:gosec // at most maxBurst
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
	return map[string]any{"rate": l.EntityRate, "burst": l.EntityBurst, "dayQuota": l.DayQuota, "monthQuota": l.MonthQuota, "dayNumbers": l.DayNumbers, "yearNumbers": l.YearNumbers}
}
