package access

import (
	"context"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// purpose is the purpose of a key: a code of the policy, and the words of its owner where
// the policy has no code.
type purpose struct{ code, text string }

// OtherPurpose is the purpose of a key for which the policy has no code.
const OtherPurpose = policy.OtherPurpose

// PurposeCodes returns the purposes of the policy that is in effect.
func (s *Service) PurposeCodes(ctx context.Context) ([]string, error) {
	current, err := policy.Current(ctx, s.Pool, s.now())
	return current.PurposeCodes(), err
}

// purposeOf returns the purpose that was entered, by the policy in effect at a time.
func purposeOf(ctx context.Context, from pg.DB, entered string, at time.Time) (purpose, error) {
	current, err := policy.Current(ctx, from, at)
	switch {
	case err != nil:
		return purpose{}, err
	case slices.Contains(current.PurposeCodes(), entered):
		return purpose{code: entered}, nil
	}
	return purpose{code: OtherPurpose, text: entered}, nil
}
