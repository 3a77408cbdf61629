package present

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
)

// What an integrator should do with an answer.
const (
	Allow  = "Allow"
	StepUp = "Step up"
	Refuse = "Refuse"
)

// ActionTones are the colours of the actions.
var ActionTones = map[string]view.Tone{Allow: view.Good, StepUp: view.Warn, Refuse: view.Bad}

// ActionFor returns what to do about a status. Step up is the answer to a status
// that this version does not know.
func ActionFor(status string) string {
	switch line.Status(status) {
	case line.Normal:
		return Allow
	case line.Barred, line.Quarantined, line.Blacklisted, line.Unallocated:
		return Refuse
	default:
		return StepUp
	}
}

// StatusTone is the colour of a line's status in a list.
func StatusTone(status string) view.Tone { return ActionTones[ActionFor(status)] }

// RejectedUntil is the state of a bar that was rejected while it acts: it ends by itself
// when it lapses.
func RejectedUntil(lapses time.Time) string { return "Rejected, in effect until " + view.Stamp(lapses) }

// EntityTones are the colours of an organisation's states.
var EntityTones = map[registry.Status]view.Tone{registry.Approved: view.Good, registry.Suspended: view.Warn, registry.Revoked: view.Bad}

// LimitsOf returns the limits of an organisation: those that staff have set for
// it, and the limits in the settings for the rest.
func LimitsOf(ctx context.Context, s *access.Service, entity uuid.UUID) (access.Limits, error) {
	own, err := s.LimitsOf(ctx, entity)
	d := s.Limits
	return access.Limits{
		KeyRate: d.KeyRate, KeyBurst: d.KeyBurst, EntityRate: cmp.Or(own.EntityRate, d.EntityRate), EntityBurst: cmp.Or(own.EntityBurst, d.EntityBurst),
		DayQuota: cmp.Or(own.DayQuota, d.DayQuota), MonthQuota: cmp.Or(own.MonthQuota, d.MonthQuota), DayNumbers: cmp.Or(own.DayNumbers, d.DayNumbers),
		YearNumbers: cmp.Or(own.YearNumbers, d.YearNumbers), OwnDay: own.DayNumbers != 0, OwnYear: own.YearNumbers != 0,
	}, err
}
