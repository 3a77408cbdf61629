package policy

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// SetKind is the approval of a new version of the policy.
const SetKind approval.Kind = "policy.set"

// The details of an approval beside the fields that change.
const (
	baseDetail      = "basedOn"     // the version
	effectiveDetail = "effectiveAt" // missing: when it is confirmed
	arrow           = " → "         // between the value before and the value after
)

// request stores the request for a version that differs from the last one. Its details
// are what changes, so that the second person reads only that; its reason is the note.
func request(ctx context.Context, tx pg.Tx, r approval.Request, p, last Policy) (uuid.UUID, error) {
	details := map[string]string{baseDetail: strconv.Itoa(int(last.Version))}
	if !p.EffectiveAt.IsZero() {
		details[effectiveDetail] = p.EffectiveAt.UTC().Format(time.RFC3339)
	}
	for _, f := range Fields {
		if before, after := *f.of(&last), *f.of(&p); before != after {
			details[f.Name] = strconv.Itoa(before) + arrow + strconv.Itoa(after)
		}
	}
	for _, f := range TextFields {
		if before, after := *f.of(&last), *f.of(&p); before != after {
			details[f.Name] = before + arrow + after
		}
	}
	r.Details = details
	return approval.Create(ctx, tx, registry.CheckStaff, r)
}

// Changes describes what an approval changes, one field after the other.
func Changes(a *approval.Approval) []string {
	var list []string
	add := func(name string) {
		if value, ok := a.Details[name]; ok {
			list = append(list, name+": "+value)
		}
	}
	for _, f := range Fields {
		add(f.Name)
	}
	for _, f := range TextFields {
		add(f.Name)
	}
	add(effectiveDetail)
	return list
}

// setApproved is the effect of [SetKind].
func (s *Service) setApproved(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	last, err := lockLast(ctx, tx)
	if err != nil {
		return err
	}
	p, err := apply(last, a)
	if err != nil {
		return fmt.Errorf("policy: read the approval of a version: %w", err)
	}
	if err := p.check(); err != nil {
		return err
	}
	p.zone = p.Zone()
	if p, err = s.next(p, last); err != nil {
		return err
	}
	return insert(ctx, tx, a.Subject, p, last.Version, audit.Entry{Actor: a.DecidedBy, Request: a.Request, After: a.Both()})
}

// apply returns a version with what the approval changes in it. If it is not the one that
// the approval is based on, next refuses the result.
func apply(p Policy, a approval.Approval) (Policy, error) {
	base, err := strconv.ParseInt(a.Details[baseDetail], 10, 32)
	if err != nil {
		return Policy{}, err
	}
	p.Version, p.EffectiveAt, p.Note = int32(base), time.Time{}, a.Reason
	if text := a.Details[effectiveDetail]; text != "" {
		if p.EffectiveAt, err = time.Parse(time.RFC3339, text); err != nil {
			return Policy{}, err
		}
	}
	for _, f := range Fields {
		if _, after, ok := strings.Cut(a.Details[f.Name], arrow); ok {
			if *f.of(&p), err = strconv.Atoi(after); err != nil {
				return Policy{}, err
			}
		}
	}
	for _, f := range TextFields {
		if _, after, ok := strings.Cut(a.Details[f.Name], arrow); ok {
			*f.of(&p) = after
		}
	}
	return p, nil
}

// Effects returns the effects of the approvals that this package requests.
func (s *Service) Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{SetKind: s.setApproved}
}
