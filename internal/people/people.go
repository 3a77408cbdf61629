// Package people manages the accounts of persons: logging in, two-factor
// authentication, password resets, invitations and onboarding.
//
// What it guarantees:
//
//   - Nobody can find out who has an account: for an address without one the
//     response is the same, takes as long, and its attempts are counted alike.
//   - At most ten login attempts at one account in half an hour are evaluated from
//     one network, and a hundred from all networks. Nobody can use that to lock
//     the owner out: a device from which the owner has logged in before has a
//     counter of its own.
//   - What replaces a password (links, recovery codes, devices) is random, works
//     once or on one device, and is stored as an HMAC. A link is created when its
//     e-mail is sent, so that no secret ever waits in a queue.
//   - A code of an authenticator is accepted once. After a hundred wrong codes in a
//     row no code is accepted until somebody else unlocks the account.
package people

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/mail"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

// People is the service for accounts of persons. All fields but Mail are required.
type People struct {
	Pool        *pgxpool.Pool
	Access      *access.Service
	Registry    *registry.Registry
	Peppers     *secret.Peppers
	Passwords   *secret.Passwords // verifies passwords; the registry's hashes new ones
	StaffFactor bool              // staff must use two-factor authentication
	Issuer      string            // the name of the service in authenticator apps
	PublicURL   string            // base of links, without a trailing slash
	Mail        *mail.Server      // nil: e-mails wait in the queue until one is configured
	Now         func() time.Time

	// QueueEmail queues an e-mail in the transaction that causes it.
	QueueEmail func(ctx context.Context, tx pg.Tx, e Email) error
}

// now returns the current time to the microsecond, the precision of PostgreSQL.
func (p *People) now() time.Time { return p.Now().UTC().Truncate(time.Microsecond) }

// DeleteExpired deletes old counters of login attempts, devices that are no longer
// used and links that have expired. It returns how many rows were deleted.
func (p *People) DeleteExpired(ctx context.Context) (int64, error) {
	q, now, total := db.New(p.Pool), p.now(), int64(0)
	for _, expired := range []struct {
		deleteBatch func(context.Context, time.Time) (int64, error)
		before      time.Time
	}{
		{q.DeleteCounters, now.Add(-window)},
		{q.DeleteDevices, now.Add(-deviceLifetime)},
		{q.DeleteLinks, now.AddDate(0, 0, -7)}, // kept a week after expiry, to find out why a link did not work
	} {
		n, err := pg.InBatches(func() (int64, error) { return expired.deleteBatch(ctx, expired.before) })
		total += n
		if err != nil {
			return total, fmt.Errorf("people: delete expired rows: %w", err)
		}
	}
	return total, nil
}
