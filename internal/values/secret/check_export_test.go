package secret

import (
	"context"

	"github.com/google/uuid"
)

// TestAccount is the account of passwords in tests that have only one.
var TestAccount = uuid.MustParse("01920000-0000-7000-8000-000000000001")

// Check calls Enter, Matches for TestAccount and leave, for tests that do nothing in between.
func (p *Passwords) Check(ctx context.Context, hash string, password Text) (bool, error) {
	leave, err := p.Enter(ctx, Caller{})
	if err != nil {
		return false, err
	}
	defer leave()
	return p.Matches(hash, TestAccount, password)
}
