package secret

import "context"

// Check enters, matches and leaves, for tests that have nothing to do between.
func (p *Passwords) Check(ctx context.Context, hash string, password Text) (bool, error) {
	leave, err := p.Enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	return p.Matches(hash, password)
}
