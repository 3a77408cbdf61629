// Package people is about the persons who have an account: how they get in, how
// they come back when they have lost something, and how others join them.
//
// What it promises:
//
//   - Nobody can find out who has an account: an address without one is answered
//     in the same words, after the same work, and is counted like any other.
//   - Of guesses at one account, at most ten in half an hour are evaluated from
//     one network and a hundred from all of them. Nobody can use that to lock
//     the owner out: a device from which they have logged in before has guesses
//     of its own.
//   - What lets somebody in without a password (links, recovery codes, devices)
//     is random, works once or on one device, and lies in the database as an
//     HMAC. A link is made when its letter is written, so that no secret ever
//     waits in a queue.
//   - A code of a second factor is accepted once.
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

// People looks after those who have an account. All fields but Mail are
// required.
type People struct {
	Pool        *pgxpool.Pool
	Keeper      *access.Keeper
	Registry    *registry.Registry
	Peppers     *secret.Peppers
	Passwords   *secret.Passwords // checks them; the registry's hashes new ones
	StaffFactor bool              // staff must have a second factor
	Issuer      string            // what authenticators call the service
	PublicURL   string            // where links lead, without a slash at its end
	Mail        *mail.Server      // nil: letters wait until there is one
	Now         func() time.Time

	// Post queues a letter in the transaction of its cause.
	Post func(ctx context.Context, tx pg.Tx, l Letter) error
}

// now is the present to the microsecond, which is what PostgreSQL keeps.
func (p *People) now() time.Time { return p.Now().UTC().Truncate(time.Microsecond) }

// Forget drops what is over: windows in which guesses were counted, devices
// that nobody uses, links that have expired. It returns how many there were.
func (p *People) Forget(ctx context.Context) (int64, error) {
	q, now, total := db.New(p.Pool), p.now(), int64(0)
	for _, forget := range []struct {
		bite   func(context.Context, time.Time) (int64, error)
		before time.Time
	}{
		{q.ForgetTroubles, now.Add(-window)},
		{q.ForgetDevices, now.Add(-deviceLife)},
		{q.ForgetLinks, now.AddDate(0, 0, -7)}, // a while longer, for whoever asks why a link did not work
	} {
		n, err := pg.InBites(func() (int64, error) { return forget.bite(ctx, forget.before) })
		total += n
		if err != nil {
			return total, fmt.Errorf("people: forget: %w", err)
		}
	}
	return total, nil
}
