package access

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// limits returns the limits of a key. Each is that of the key if set, else that
// of its entity, else the default from the settings.
func (s *Service) limits(key storedKey) Limits {
	d := s.Limits
	l := Limits{
		KeyRate: cmp.Or(key.Rate, d.KeyRate), KeyBurst: cmp.Or(key.Burst, d.KeyBurst),
		EntityRate: cmp.Or(key.EntityRate, d.EntityRate), EntityBurst: cmp.Or(key.EntityBurst, d.EntityBurst),
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
	l, err := registry.EntityLimitsOf(ctx, s.Pool, entity)
	return Limits{EntityRate: l.Rate, EntityBurst: l.Burst, DayQuota: l.DayQuota, MonthQuota: l.MonthQuota, DayNumbers: l.DayNumbers, YearNumbers: l.YearNumbers}, err
}

// SetLimits sets the limits of an entity like [registry.Service.Set].
func (s *Service) SetLimits(ctx context.Context, entity uuid.UUID, l Limits, reason string, by audit.Actor, request uuid.UUID) error {
	return s.EntityLimits().Set(ctx, entity, l.ofEntity(), reason, by, request)
}

// EntityLimits returns the service that sets the limits of entities.
func (s *Service) EntityLimits() *registry.LimitService {
	return &registry.LimitService{Pool: s.Pool, Defaults: s.Limits.ofEntity(), Now: s.Now}
}

func (l Limits) ofEntity() registry.EntityLimits {
	return registry.EntityLimits{Rate: l.EntityRate, Burst: l.EntityBurst, DayQuota: l.DayQuota, MonthQuota: l.MonthQuota, DayNumbers: l.DayNumbers, YearNumbers: l.YearNumbers}
}
