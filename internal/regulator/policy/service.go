package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrNoVersion reports a version of the policy that does not exist.
var ErrNoVersion = fault.New(fault.NotFound, "There is no such version of the policy.")

// ErrStale reports a policy that is based on a version that is no longer the
// latest.
var ErrStale = fault.New(fault.Aborted, "Somebody else has changed the policy in the meantime. Review its latest version, and try again.")

// Errors about the time at which a policy takes effect.
var (
	errPast = fault.ErrInvalid.With(fault.Violation{
		Field: "effectiveAt", Code: fault.NotAllowed,
		Message: "A policy cannot take effect in the past, because answers were given by another version then.",
	})
	errBeforeLast = fault.ErrInvalid.With(fault.Violation{
		Field: "effectiveAt", Code: fault.NotAllowed,
		Message: "A policy must take effect after every earlier version. The history of the policy has their times.",
	})
)

// columns are those of the table that a [Policy] has, in the order of columnsOf.
const columns = `version, effective_at, created_at, recycled_days, swapped_hours, ported_hours, flagged_days, quarantine_days, notice_days,
	lifecycle_freshness_hours, sim_freshness_hours, port_freshness_hours, false_assurance_percent,
	sim_report_hours, port_report_hours, bar_report_hours, churn_report_days, backdating_days, hold_percent, personal_years,
	warm_up_days, warm_up_percent, undocumented_percent, time_zone, clearing_house, purposes, note`

func columnsOf(p *Policy) []any {
	return []any{
		&p.Version, &p.EffectiveAt, &p.CreatedAt, &p.RecycledDays, &p.SwappedHours, &p.PortedHours, &p.FlaggedDays, &p.QuarantineDays, &p.NoticeDays,
		&p.LifecycleFreshnessHours, &p.SIMFreshnessHours, &p.PortFreshnessHours, &p.FalseAssurancePercent,
		&p.SIMReportHours, &p.PortReportHours, &p.BarReportHours, &p.ChurnReportDays, &p.BackdatingDays, &p.HoldPercent, &p.PersonalYears,
		&p.WarmUpDays, &p.WarmUpPercent, &p.UndocumentedPercent, &p.TimeZone, &p.ClearingHouse, &p.Purposes, &p.Note,
	}
}

func scan(row pgx.CollectableRow) (p Policy, err error) {
	if err = row.Scan(columnsOf(&p)...); err != nil {
		return Policy{}, err
	}
	p.EffectiveAt, p.CreatedAt = p.EffectiveAt.UTC(), p.CreatedAt.UTC()
	if p.zone, err = loadZone(p.TimeZone); err != nil {
		return Policy{}, fmt.Errorf("version %d: %w", p.Version, err)
	}
	return p, nil
}

// Load returns one version of the policy.
func Load(ctx context.Context, from pg.DB, version int32) (Policy, error) {
	return load(ctx, from, `SELECT `+columns+` FROM policy WHERE version = $1`, version)
}

// Current returns the version of the policy in effect at a time: the one that took
// effect last.
func Current(ctx context.Context, from pg.DB, at time.Time) (Policy, error) {
	return load(ctx, from, `SELECT `+columns+` FROM policy WHERE effective_at <= $1 ORDER BY effective_at DESC, version DESC LIMIT 1`, at)
}

// last returns the latest version, which may have yet to take effect.
func last(ctx context.Context, from pg.DB) (Policy, error) {
	return load(ctx, from, `SELECT `+columns+` FROM policy ORDER BY version DESC LIMIT 1`)
}

func load(ctx context.Context, from pg.DB, sql string, args ...any) (Policy, error) {
	p, err := pg.CollectOne(ctx, from, scan, sql, args...)
	if errors.Is(err, pgx.ErrNoRows) {
		return Policy{}, ErrNoVersion
	}
	if err != nil {
		return Policy{}, fmt.Errorf("policy: load: %w", err)
	}
	return p, nil
}

// History lists the versions of the policy, oldest first.
func History(ctx context.Context, from pg.DB) ([]Policy, error) {
	list, err := pg.Collect(ctx, from, scan, `SELECT `+columns+` FROM policy ORDER BY version`)
	return list, fault.Wrap(err, "policy: list the versions")
}

// Service creates versions of the policy.
type Service struct {
	Pool *pgxpool.Pool
	Now  func() time.Time
}

// Set makes p the next version of the policy, on behalf of the operator, and returns it
// with its version and times. It takes effect at p.EffectiveAt, or immediately when that
// is zero. p.Version is the version that p is based on, which must be the latest one, so
// that nobody undoes a change unseen; zero skips this check. A second person has to
// confirm it: then it returns an [approval.WaitsError], and a policy without a time takes
// effect when it is confirmed.
func (s *Service) Set(ctx context.Context, p Policy) (Policy, error) {
	return s.SetBy(ctx, p, audit.Actor{Kind: audit.Operator}, uuid.Nil)
}

// SetBy is Set on behalf of somebody else. Request is the id of the HTTP request; zero
// for none.
func (s *Service) SetBy(ctx context.Context, p Policy, by audit.Actor, requestID uuid.UUID) (Policy, error) {
	p = p.trimmed()
	if err := p.check(); err != nil {
		return Policy{}, err
	}
	p.zone = p.Zone()
	created, pending := Policy{}, uuid.Nil
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		last, err := lockLast(ctx, tx)
		if err != nil {
			return err
		}
		next, err := s.next(p, last)
		if err != nil {
			return err
		}
		id := uuid.Must(uuid.NewV7())
		alone, err := registry.MayActAlone(ctx, tx, by)
		if err != nil {
			return err
		}
		if alone {
			created = next
			return insert(ctx, tx, id, next, last.Version, audit.Entry{Actor: by, Request: requestID, After: map[string]any{}})
		}
		pending, err = request(ctx, tx, approval.Request{Kind: SetKind, Subject: id, Reason: p.Note, By: by, Request: requestID, At: next.CreatedAt}, p, last)
		return err
	})
	if err != nil {
		return Policy{}, err
	}
	return created, approval.Waits(pending)
}

// trimmed returns p without spaces around its texts.
func (p Policy) trimmed() Policy {
	for _, text := range []*string{&p.TimeZone, &p.ClearingHouse, &p.Note} {
		*text = strings.TrimSpace(*text)
	}
	p.Purposes = strings.Join(strings.Fields(p.Purposes), "")
	return p
}

// Preview checks p like SetBy and returns it with its version and times, and the latest
// version, which it would follow. Nothing is stored.
func (s *Service) Preview(ctx context.Context, p Policy) (next, last Policy, err error) {
	p = p.trimmed()
	if err := p.check(); err != nil {
		return Policy{}, Policy{}, err
	}
	if last, err = s.Last(ctx); err != nil {
		return Policy{}, Policy{}, err
	}
	next, err = s.next(p, last)
	return next, last, err
}

// Last returns the latest version, which may have yet to take effect.
func (s *Service) Last(ctx context.Context) (Policy, error) { return last(ctx, s.Pool) }

// lockLast keeps others from creating a version until the transaction ends, and returns
// the latest one: version and time of the next one depend on it.
func lockLast(ctx context.Context, tx pg.Tx) (Policy, error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof policy', 0))`); err != nil {
		return Policy{}, fmt.Errorf("policy: lock: %w", err)
	}
	return last(ctx, tx)
}

// next returns p with its version and times. The clock is read while the lock is held,
// so that of two concurrent versions the second takes effect after the first. Times in
// the journal are in milliseconds, so a version takes effect on one.
func (s *Service) next(p, last Policy) (Policy, error) {
	now, base := s.Now().UTC().Truncate(time.Millisecond), p.Version
	p.Version, p.CreatedAt = last.Version+1, now
	if p.EffectiveAt.IsZero() {
		p.EffectiveAt = now
	}
	p.EffectiveAt = p.EffectiveAt.UTC().Truncate(time.Millisecond)
	switch {
	case p.EffectiveAt.Before(now):
		return Policy{}, errPast
	case !p.EffectiveAt.After(last.EffectiveAt):
		return Policy{}, errBeforeLast
	case base != 0 && base != last.Version:
		return Policy{}, ErrStale
	}
	return p, nil
}

// insert stores a version, and its audit entry with the actor and the reason.
func insert(ctx context.Context, tx pg.Tx, id uuid.UUID, p Policy, last int32, e audit.Entry) error {
	_, err := tx.Exec(ctx, `INSERT INTO policy (id, `+columns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)`,
		append([]any{id}, columnsOf(&p)...)...)
	if err != nil {
		return fmt.Errorf("policy: insert: %w", err)
	}
	e.At, e.Action, e.Subject, e.Before = p.CreatedAt, audit.PolicySet, id, map[string]any{"version": last}
	e.After["version"], e.After["effectiveAt"] = p.Version, p.EffectiveAt
	return audit.Write(ctx, tx, e)
}
