package registry

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
)

// RequestChange carries out a change that takes two people, in the caller's transaction:
// at once if the operator acts alone, because there is nobody else yet, and otherwise
// when a second person confirms it. It returns the approval that waits; zero if the
// change is carried out. The caller has checked that the change is possible at present;
// the effect checks it again. Only a change that waits needs a reason: the second
// person decides by it.
func RequestChange(ctx context.Context, tx pg.Tx, r approval.Request, effect approval.Effect) (pending uuid.UUID, err error) {
	if err := CheckStaff(ctx, tx, r.By, approval.ActionOf(r.Kind).Request...); err != nil {
		return uuid.Nil, err
	}
	alone, err := MayActAlone(ctx, tx, r.By)
	if err != nil {
		return uuid.Nil, err
	}
	if alone {
		return uuid.Nil, effect(ctx, tx, approval.Alone(r))
	}
	return approval.Create(ctx, tx, CheckStaff, r)
}
