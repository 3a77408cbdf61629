package rules

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// LimitsOf returns the limits of an organisation, and how much of them it has used: those
// that staff have set for it, and the limits in the settings for the rest. Of the budgets
// in the settings a new organisation has only a part.
func LimitsOf(ctx context.Context, p *portal.Portal, entity uuid.UUID) (limits access.Limits, used guard.Usage, err error) {
	own, err := p.Access.LimitsOf(ctx, entity)
	if err != nil {
		return limits, used, err
	}
	if used, err = guard.UsageOf(ctx, p.Pool, entity, p.Now()); err != nil {
		return limits, used, err
	}
	d := p.Access.Limits
	return access.Limits{
		KeyRate: d.KeyRate, KeyBurst: d.KeyBurst, EntityRate: cmp.Or(own.EntityRate, d.EntityRate), EntityBurst: cmp.Or(own.EntityBurst, d.EntityBurst),
		DayQuota: cmp.Or(own.DayQuota, d.DayQuota), MonthQuota: cmp.Or(own.MonthQuota, d.MonthQuota), DayNumbers: cmp.Or(own.DayNumbers, used.Allowed(d.DayNumbers)),
		YearNumbers: cmp.Or(own.YearNumbers, used.Allowed(d.YearNumbers)), OwnDay: own.DayNumbers != 0, OwnYear: own.YearNumbers != 0,
	}, used, nil
}
