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

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/policy/internal/db"
	"github.com/lineproof/lineproof/internal/registry"
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

// Load returns one version of the policy.
func Load(ctx context.Context, from pg.DB, version int32) (Policy, error) {
	row, err := db.New(from).ByVersion(ctx, version)
	return found(row, err)
}

// Current returns the version of the policy in effect at a time: the one that took
// effect last.
func Current(ctx context.Context, from pg.DB, at time.Time) (Policy, error) {
	row, err := db.New(from).Current(ctx, at)
	return found(row, err)
}

func found(row db.Policy, err error) (Policy, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return Policy{}, ErrNoVersion
	}
	if err != nil {
		return Policy{}, fmt.Errorf("policy: load: %w", err)
	}
	return policyOf(row)
}

func policyOf(r db.Policy) (Policy, error) {
	zone, err := loadZone(r.TimeZone)
	if err != nil {
		return Policy{}, fmt.Errorf("policy: version %d: %w", r.Version, err)
	}
	return Policy{
		Version: r.Version, EffectiveAt: r.EffectiveAt.UTC(), CreatedAt: r.CreatedAt.UTC(),
		RecycledDays: int(r.RecycledDays), SwappedHours: int(r.SwappedHours), PortedHours: int(r.PortedHours),
		FlaggedDays: int(r.FlaggedDays), QuarantineDays: int(r.QuarantineDays), NoticeDays: int(r.NoticeDays),
		LifecycleFreshnessHours: int(r.LifecycleFreshnessHours), SIMFreshnessHours: int(r.SimFreshnessHours), PortFreshnessHours: int(r.PortFreshnessHours),
		FalseAssurancePercent: int(r.FalseAssurancePercent),
		SIMReportHours:        int(r.SimReportHours), PortReportHours: int(r.PortReportHours), BarReportHours: int(r.BarReportHours),
		ChurnReportDays: int(r.ChurnReportDays), BackdatingDays: int(r.BackdatingDays), HoldPercent: int(r.HoldPercent), PersonalYears: int(r.PersonalYears),
		WarmUpDays: int(r.WarmUpDays), WarmUpPercent: int(r.WarmUpPercent), UndocumentedPercent: int(r.UndocumentedPercent),
		TimeZone: r.TimeZone, ClearingHouse: r.ClearingHouse, Purposes: r.Purposes, Note: r.Note, zone: zone,
	}, nil
}

// History lists the versions of the policy, oldest first.
func History(ctx context.Context, from pg.DB) ([]Policy, error) {
	rows, err := db.New(from).History(ctx)
	if err != nil {
		return nil, fmt.Errorf("policy: list the versions: %w", err)
	}
	list := make([]Policy, 0, len(rows))
	for _, r := range rows {
		p, err := policyOf(r)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
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
func (s *Service) Last(ctx context.Context) (Policy, error) {
	last, err := db.New(s.Pool).Last(ctx)
	if err != nil {
		return Policy{}, fmt.Errorf("policy: read the last version: %w", err)
	}
	return Load(ctx, s.Pool, last.Version)
}

// lockLast keeps others from creating a version until the transaction ends, and returns
// the latest one.
func lockLast(ctx context.Context, tx pg.Tx) (Policy, error) {
	q := db.New(tx)
	if err := q.Lock(ctx); err != nil {
		return Policy{}, fmt.Errorf("policy: lock: %w", err)
	}
	last, err := q.Last(ctx)
	if err != nil {
		return Policy{}, fmt.Errorf("policy: read the last version: %w", err)
	}
	return Load(ctx, tx, last.Version)
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
	if err := db.New(tx).Insert(ctx, rowOf(id, p)); err != nil {
		return fmt.Errorf("policy: insert: %w", err)
	}
	e.At, e.Action, e.Subject, e.Before = p.CreatedAt, audit.PolicySet, id, map[string]any{"version": last}
	e.After["version"], e.After["effectiveAt"] = p.Version, p.EffectiveAt
	return audit.Write(ctx, tx, e)
}

// rowOf returns a checked policy as a row of the table.
func rowOf(id uuid.UUID, p Policy) db.InsertParams {
	small := func(n int) int32 { return int32(n) } //nolint:gosec // checked: the bounds are small
	return db.InsertParams{
		Version: p.Version, ID: id, EffectiveAt: p.EffectiveAt,
		RecycledDays: small(p.RecycledDays), SwappedHours: small(p.SwappedHours), PortedHours: small(p.PortedHours),
		FlaggedDays: small(p.FlaggedDays), QuarantineDays: small(p.QuarantineDays), NoticeDays: small(p.NoticeDays),
		LifecycleFreshnessHours: small(p.LifecycleFreshnessHours), SimFreshnessHours: small(p.SIMFreshnessHours), PortFreshnessHours: small(p.PortFreshnessHours),
		FalseAssurancePercent: small(p.FalseAssurancePercent),
		SimReportHours:        small(p.SIMReportHours), PortReportHours: small(p.PortReportHours), BarReportHours: small(p.BarReportHours),
		ChurnReportDays: small(p.ChurnReportDays), BackdatingDays: small(p.BackdatingDays), HoldPercent: small(p.HoldPercent), PersonalYears: small(p.PersonalYears),
		WarmUpDays: small(p.WarmUpDays), WarmUpPercent: small(p.WarmUpPercent), UndocumentedPercent: small(p.UndocumentedPercent),
		TimeZone: p.TimeZone, ClearingHouse: p.ClearingHouse, Purposes: p.Purposes, Note: p.Note, CreatedAt: p.CreatedAt,
	}
}
