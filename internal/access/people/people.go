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
	"github.com/lineproof/lineproof/internal/platform/mail"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// People is the service for accounts of persons. All fields but Mail are required.
type People struct {
	Pool      *pgxpool.Pool
	Access    *access.Service
	Registry  *registry.Registry
	Peppers   *secret.Peppers
	Passwords *secret.Passwords // verifies passwords; the registry's hashes new ones
	Clashes   int               // how many applications of a client on a day (UTC) may name an admin who has an account; 0 means no limit
	// StaffLookups is how much a member of staff may look up on a day (UTC); 0 means
	// [staffaccess.DefaultDaily].
	StaffLookups int
	StaffFactor  bool // staff must use two-factor authentication
	// EntityFactor requires two-factor authentication of the people of organisations for what
	// package stepup says.
	EntityFactor bool
	Issuer       string       // the name of the service in authenticator apps
	PublicURL    string       // base of links, without a trailing slash
	Mail         *mail.Server // nil: e-mails wait in the queue until one is configured
	Now          func() time.Time

	// QueueEmail queues an e-mail in the transaction that causes it.
	QueueEmail func(ctx context.Context, tx pg.Tx, e Email) error
}

// now returns the current time to the microsecond, the precision of PostgreSQL.
func (p *People) now() time.Time { return p.Now().UTC().Truncate(time.Microsecond) }

// DeleteExpired deletes old counters of login attempts, devices that are no longer
// used and links that have expired. It returns how many rows were deleted.
func (p *People) DeleteExpired(ctx context.Context) (int64, error) {
	now, total := p.now(), int64(0)
	deleteBatch := func(sql string, before time.Time) func() (int64, error) {
		return func() (int64, error) {
			tag, err := p.Pool.Exec(ctx, sql, before)
			return tag.RowsAffected(), err
		}
	}
	for _, batch := range []func() (int64, error){
		deleteBatch(`DELETE FROM login_trouble WHERE mac IN (SELECT t.mac FROM login_trouble t WHERE t.counted_at < $1 AND t.failed = 0 LIMIT 5000)`, now.Add(-window)),
		deleteBatch(`DELETE FROM login_device WHERE id IN (SELECT d.id FROM login_device d WHERE d.last_used_at < $1 LIMIT 5000)`, now.Add(-deviceLifetime)),
		// A link is kept a week after expiry, to find out why it did not work.
		deleteBatch(`DELETE FROM account_link WHERE id IN (SELECT l.id FROM account_link l WHERE l.expires_at < $1 LIMIT 5000)`, now.AddDate(0, 0, -7)),
	} {
		n, err := pg.InBatches(batch)
		total += n
		if err != nil {
			return total, fmt.Errorf("people: delete expired rows: %w", err)
		}
	}
	return total, nil
}
