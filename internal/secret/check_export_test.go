package secret

import "context"

// Check calls Enter, Matches and leave, for tests that do nothing in between.
func (p *Passwords) Check(ctx context.Context, hash string, password Text) (bool, error) {
	leave, err := p.Enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	return p.Matches(hash, password)
}
