// This part of the package stores the limits that staff set for one entity: its rate, its
// quotas and its budget of different numbers.
//
// What it guarantees: lower limits apply at once, so that one person can protect the
// register; higher ones apply when a second person has confirmed them.

package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// EntityLimits are the limits of an entity. Zero means the default of the settings.
type EntityLimits struct {
	Rate                 float64 // requests a second
	Burst                int
	DayQuota, MonthQuota int64 // verifications
	DayNumbers           int64 // distinct numbers in a day
	YearNumbers          int64 // distinct numbers in a year
}

// LimitService sets the limits of entities. All fields are required.
type LimitService struct {
	Pool     *pgxpool.Pool
	Defaults EntityLimits // zero means no limit
	Now      func() time.Time
}

// EntityLimitsOf returns the limits that staff set for an entity.
func EntityLimitsOf(ctx context.Context, from pg.DB, entity uuid.UUID) (l EntityLimits, err error) {
	row := pg.Row{Table: "entity_limit", ID: entity}
	err = from.QueryRow(ctx, `SELECT rate, burst, day_quota, month_quota, day_numbers, year_numbers, row_sum, row_mac FROM entity_limit WHERE entity_id = $1`, entity).
		Scan(&l.Rate, &l.Burst, &l.DayQuota, &l.MonthQuota, &l.DayNumbers, &l.YearNumbers, &row.Sum, &row.MAC)
	if err == nil {
		_, err = pg.RowsSigned(ctx, from, row) // reports it; keys of the entity are refused
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return EntityLimits{}, fmt.Errorf("registry: read the limits: %w", err)
	}
	return l, nil
}

// MaxBurst is more requests than a node can accept at once.
const MaxBurst = 1_000_000

// RaiseLimits is the approval of higher limits of an entity.
const RaiseLimits approval.Kind = "entity.limits"

// errChanged reports a request that somebody else has overtaken.
var errChanged = fault.New(fault.Aborted, "Somebody has changed the limits of this entity since this was requested. Refuse it and request it again.")

// Set sets the limits of an entity; zero means the default. Lower limits apply at
// once. If any limit is raised, a second person has to confirm all of them; then it
// returns an [approval.WaitsError].
func (s *LimitService) Set(ctx context.Context, entity uuid.UUID, l EntityLimits, reason string, by audit.Actor, request uuid.UUID) error {
	var wrong fault.Form
	wrong.Check(l.Rate >= 0 && l.Rate <= MaxBurst, "rate", fault.NotAllowed, "Give requests per second, from 0 (use the default) to 1,000,000.")
	wrong.Check(l.Burst >= 0 && l.Burst <= MaxBurst, "burst", fault.NotAllowed, "Give a number from 0 (use the default) to 1,000,000.")
	for field, n := range map[string]int64{"dayQuota": l.DayQuota, "monthQuota": l.MonthQuota, "dayNumbers": l.DayNumbers, "yearNumbers": l.YearNumbers} {
		wrong.Check(n >= 0, field, fault.NotAllowed, "Give 0 (use the default) or a positive number.")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	now, pending := s.Now().UTC().Truncate(time.Microsecond), uuid.Nil
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		before, err := EntityLimitsOf(ctx, tx, entity)
		if err != nil {
			return err
		}
		if !s.raises(before, l) {
			return s.store(ctx, tx, entity, before, l, audit.Entry{At: now, Actor: by, Request: request, After: map[string]any{}})
		}
		var found bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM entity WHERE id = $1)`, entity).Scan(&found); err != nil {
			return err
		}
		if !found {
			return ErrNoEntity
		}
		details := l.details()
		details["before"] = before.text()
		pending, err = RequestChange(ctx, tx, approval.Request{
			Kind: RaiseLimits, Subject: entity, Entity: entity, Details: details, Reason: reason, By: by, Request: request, At: now,
		}, s.raise)
		return err
	})
	if pg.Violated(err) == "entity_limit_entity_id_fkey" {
		return ErrNoEntity
	}
	if err != nil {
		return fmt.Errorf("registry: set the limits: %w", err)
	}
	return approval.Waits(pending)
}

// raises reports whether any limit becomes higher. Zero is the default of the settings,
// and no limit if there is none.
func (s *LimitService) raises(before, after EntityLimits) bool {
	higher := func(before, after, byDefault float64) bool {
		before, after = cmp.Or(before, byDefault), cmp.Or(after, byDefault)
		return before != 0 && (after == 0 || after > before)
	}
	d := s.Defaults
	return higher(before.Rate, after.Rate, d.Rate) ||
		higher(float64(before.Burst), float64(after.Burst), float64(d.Burst)) ||
		higher(float64(before.DayQuota), float64(after.DayQuota), float64(d.DayQuota)) ||
		higher(float64(before.MonthQuota), float64(after.MonthQuota), float64(d.MonthQuota)) ||
		higher(float64(before.DayNumbers), float64(after.DayNumbers), float64(d.DayNumbers)) ||
		higher(float64(before.YearNumbers), float64(after.YearNumbers), float64(d.YearNumbers))
}

func (s *LimitService) store(ctx context.Context, tx pg.Tx, entity uuid.UUID, before, l EntityLimits, e audit.Entry) error {
	_, err := tx.Exec(ctx, `INSERT INTO entity_limit (entity_id, rate, burst, day_quota, month_quota, day_numbers, year_numbers, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (entity_id) DO UPDATE SET rate = excluded.rate, burst = excluded.burst, day_quota = excluded.day_quota,
		month_quota = excluded.month_quota, day_numbers = excluded.day_numbers, year_numbers = excluded.year_numbers, updated_at = excluded.updated_at`,
		entity, l.Rate, l.Burst, l.DayQuota, l.MonthQuota, l.DayNumbers, l.YearNumbers, e.At)
	if err != nil {
		return err
	}
	e.Action, e.Subject, e.Entity, e.Before = audit.LimitsSet, entity, entity, before.facts()
	maps.Copy(e.After, l.facts())
	return audit.Write(ctx, tx, e)
}

// raise is the effect of [RaiseLimits].
func (s *LimitService) raise(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	before, err := EntityLimitsOf(ctx, tx, a.Subject)
	if err != nil {
		return err
	}
	if before.text() != a.Details["before"] {
		return errChanged
	}
	l, err := fromDetails(a.Details)
	if err != nil {
		return fmt.Errorf("registry: read the approval of limits: %w", err)
	}
	return s.store(ctx, tx, a.Subject, before, l, audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Request: a.Request, After: a.Both()})
}

// details returns the limits as the details of an approval.
func (l EntityLimits) details() map[string]string {
	return map[string]string{
		"rate": strconv.FormatFloat(l.Rate, 'f', -1, 64), "burst": grouped(int64(l.Burst)),
		"dayQuota": grouped(l.DayQuota), "monthQuota": grouped(l.MonthQuota), "dayNumbers": grouped(l.DayNumbers), "yearNumbers": grouped(l.YearNumbers),
	}
}

// grouped writes a number with commas: many digits in a row look like a phone number,
// which an approval must not hold.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func fromDetails(details map[string]string) (l EntityLimits, err error) {
	whole := func(name string) int64 {
		n, wrong := strconv.ParseInt(strings.ReplaceAll(details[name], ",", ""), 10, 64)
		err = errors.Join(err, wrong)
		return n
	}
	rate, wrong := strconv.ParseFloat(details["rate"], 64)
	l = EntityLimits{Rate: rate, Burst: int(whole("burst")), DayQuota: whole("dayQuota"), MonthQuota: whole("monthQuota"), DayNumbers: whole("dayNumbers"), YearNumbers: whole("yearNumbers")}
	return l, errors.Join(err, wrong)
}

// names are the names of the limits in the details of an approval.
var names = []string{"rate", "burst", "dayQuota", "monthQuota", "dayNumbers", "yearNumbers"}

// text names the limits that staff have set, for people to compare.
func (l EntityLimits) text() string { return LimitsText(l.details()) }

// LimitsText names the limits that staff have set in the details of an approval.
func LimitsText(details map[string]string) string {
	var set []string
	for _, name := range names {
		if n := details[name]; n != "0" {
			set = append(set, name+" "+n)
		}
	}
	return cmp.Or(strings.Join(set, ", "), "the defaults")
}

func (l EntityLimits) facts() map[string]any {
	return map[string]any{"rate": l.Rate, "burst": l.Burst, "dayQuota": l.DayQuota, "monthQuota": l.MonthQuota, "dayNumbers": l.DayNumbers, "yearNumbers": l.YearNumbers}
}

// Effects returns the effects of the approvals that this package requests.
func (s *LimitService) Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{RaiseLimits: s.raise}
}
