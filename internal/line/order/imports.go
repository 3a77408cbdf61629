package order

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The approvals about imports.
const (
	ConfirmImport approval.Kind = "import.confirm" // a held one may be applied
	VoidImport    approval.Kind = "import.void"    // a snapshot that was applied
)

// ImportDecision is a decision about an import that takes two people.
type ImportDecision struct {
	Import  uuid.UUID
	Reason  string
	By      audit.Actor
	Request uuid.UUID // the id of the HTTP request; zero for none
}

// ConfirmHeld requests that a held import be applied, and returns the approval that
// must be confirmed first. It is zero, and the import is applied, if the operator acts
// alone because there are not two administrators yet.
func (s *Service) ConfirmHeld(ctx context.Context, d ImportDecision) (pending uuid.UUID, err error) {
	return s.decideImport(ctx, ConfirmImport, d, func(ctx context.Context, tx pg.Tx) error { return s.Supply.CheckHeld(ctx, tx, d.Import) })
}

// VoidSnapshot requests that the newest snapshot of a network be voided, like
// [Service.ConfirmHeld]. [supply.Service.VoidSnapshot] then carries it out.
func (s *Service) VoidSnapshot(ctx context.Context, d ImportDecision) (pending uuid.UUID, err error) {
	return s.decideImport(ctx, VoidImport, d, func(ctx context.Context, tx pg.Tx) error {
		_, err := s.Supply.CheckVoid(ctx, tx, d.Import)
		return err
	})
}

// decideImport requests a decision that check finds possible at present.
func (s *Service) decideImport(ctx context.Context, kind approval.Kind, d ImportDecision, check func(context.Context, pg.Tx) error) (pending uuid.UUID, err error) {
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", d.Reason)
	if err := wrong.Err(); err != nil {
		return uuid.Nil, err
	}
	now := s.now()
	err = s.Supply.InTx(ctx, func(tx pg.Tx) error {
		if err := check(ctx, tx); err != nil {
			return err
		}
		alone, err := registry.MayActAlone(ctx, tx, d.By)
		if err != nil {
			return err
		}
		if alone {
			e := audit.Entry{At: now, Actor: d.By, Request: d.Request, After: map[string]any{"reason": d.Reason}}
			return s.importEffects()[kind](ctx, tx, d.Import, e)
		}
		pending, err = approval.Create(ctx, tx, registry.CheckStaff, approval.Request{
			Kind: kind, Subject: d.Import, Reason: d.Reason, By: d.By, Request: d.Request, At: now,
		})
		return err
	})
	return pending, err
}

func (s *Service) importEffects() map[approval.Kind]func(context.Context, pg.Tx, uuid.UUID, audit.Entry) error {
	return map[approval.Kind]func(context.Context, pg.Tx, uuid.UUID, audit.Entry) error{
		ConfirmImport: s.Supply.ConfirmHeld, VoidImport: s.Supply.StartVoid,
	}
}

// Effects returns the effects of the approvals that this package requests.
func (s *Service) Effects() map[approval.Kind]approval.Effect {
	effects := map[approval.Kind]approval.Effect{}
	for kind, effect := range s.importEffects() {
		effects[kind] = func(ctx context.Context, tx pg.Tx, a approval.Approval) error {
			return effect(ctx, tx, a.Subject, audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Request: a.Request, After: a.Both()})
		}
	}
	effects[AnnounceChange] = func(ctx context.Context, tx pg.Tx, a approval.Approval) error {
		return s.announce(ctx, tx, a.Subject, a.Details, audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Request: a.Request, After: a.Both()})
	}
	effects[AcceptTopic] = s.accept
	return effects
}
