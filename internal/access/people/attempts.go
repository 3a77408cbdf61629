package people

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	// window is how long attempts are counted: a counter expires when no attempt
	// has failed for so long.
	window = 30 * time.Minute
	// maxFromSource is how many attempts at one account are evaluated in a window
	// from one source: a network, or a device that the account knows.
	maxFromSource = 10
	// maxFromAll is how many are evaluated from all networks together.
	maxFromAll = 100
	// maxWithoutPause is how many may fail without a pause before the next.
	maxWithoutPause = 3
	// maxInvitations is how many invitation e-mails one person can cause in a
	// window.
	maxInvitations = 50
	// maxResets is how many e-mails for a new password can be sent to one address
	// in a window.
	maxResets = 3
)

// errTooManyAttempts rejects an attempt without evaluating it. For an address
// without an account it comes after the same number of attempts, so that it does
// not reveal who has an account.
var errTooManyAttempts = fault.New(fault.TooManyRequests,
	"Too many attempts to log in with this e-mail address. Wait for the time in the Retry-After header, or request a new password by e-mail.")

// counters are the counters that an attempt counts in. Each is identified by an
// HMAC of the account and of where the attempt comes from.
type counters struct {
	source []byte   // the account with the network, or with the device
	all    [][]byte // every counter, source first
	limits []int32  // of each of them
}

// countersOf returns the counters of an attempt. A device that the account knows
// has a counter of its own and counts in no other, so that attempts of others
// cannot use it up.
func (p *People) countersOf(email string, from netip.Addr, device string) counters {
	who := accountKey(email)
	if device != "" {
		source := p.Peppers.Sign(secret.ForAttempts, "device", who, device)
		return counters{source: source, all: [][]byte{source}, limits: []int32{maxFromSource}}
	}
	source := p.Peppers.Sign(secret.ForAttempts, "network", who, network(from))
	return counters{source: source, all: [][]byte{source, p.Peppers.Sign(secret.ForAttempts, "account", who)}, limits: []int32{maxFromSource, maxFromAll}}
}

// accountKey returns the key of the account with an address, whether the account
// exists or not.
func accountKey(email string) string {
	if key, ok := registry.EmailKey(email); ok {
		return key
	}
	return strings.ToLower(email)
}

// network returns the network that one caller can be expected to control: 256
// addresses of IPv4 (/24), or a site of IPv6 (/48).
func network(from netip.Addr) string {
	from = from.Unmap().WithZone("")
	bits := 48
	if from.Is4() {
		bits = 24
	}
	n, err := from.Prefix(bits)
	if err != nil {
		return "" // all unknown addresses count as one network
	}
	return n.String()
}

// countAttemptSQL counts an attempt, so that of a thousand concurrent ones only the allowed
// number is evaluated. It changes no row if no attempt is left.
const countAttemptSQL = `INSERT INTO login_trouble AS t (mac, tries, counted_at, not_before) VALUES ($1, 1, $2, $2)
	ON CONFLICT (mac) DO UPDATE SET
	    tries = CASE WHEN t.counted_at > $3 THEN t.tries + 1 ELSE 1 END,
	    counted_at = CASE WHEN t.counted_at > $3 THEN t.counted_at ELSE excluded.counted_at END,
	    not_before = CASE WHEN t.counted_at > $3 THEN t.not_before ELSE excluded.not_before END
	WHERE t.counted_at <= $3 OR (t.tries < $4 AND t.not_before <= $2)`

// countAttempt counts an attempt before it is evaluated. It returns
// errTooManyAttempts, with the time to wait, if the attempt must not be evaluated.
func (p *People) countAttempt(ctx context.Context, c counters) error {
	now := p.now()
	since := now.Add(-window)
	type counter struct {
		MAC                  []byte
		Tries                int32
		CountedAt, NotBefore time.Time
	}
	// Most attempts of an attack are rejected by this alone, which locks and writes nothing.
	rows, err := pg.Collect(ctx, p.Pool, pgx.RowToStructByPos[counter],
		`SELECT mac, tries, counted_at, not_before FROM login_trouble WHERE mac = ANY($1::bytea[]) AND counted_at > $2`, c.all, since)
	if err != nil {
		return fmt.Errorf("people: read counters of attempts: %w", err)
	}
	for _, row := range rows {
		for i, mac := range c.all {
			switch {
			case string(mac) != string(row.MAC):
			case row.Tries >= c.limits[i]:
				return tooManyAttempts(row.CountedAt.Add(window).Sub(now))
			case row.NotBefore.After(now):
				return tooManyAttempts(row.NotBefore.Sub(now))
			}
		}
	}
	for i, mac := range c.all {
		tag, err := p.Pool.Exec(ctx, countAttemptSQL, mac, now, since, c.limits[i])
		if err != nil {
			return fmt.Errorf("people: count an attempt: %w", err)
		}
		if tag.RowsAffected() == 0 { // concurrent attempts used up the last one; what is already counted stays counted
			return tooManyAttempts(time.Second)
		}
	}
	return nil
}

// throttle limits legitimate actions that could be abused, such as sending e-mail.
// It returns errTooManyAttempts if the action was done too often in a window.
func (p *People) throttle(ctx context.Context, what, of string, limit int32) error {
	counter := p.Peppers.Sign(secret.ForAttempts, what, of)
	return p.countAttempt(ctx, counters{source: counter, all: [][]byte{counter}, limits: []int32{limit}})
}

func tooManyAttempts(wait time.Duration) error {
	e := *errTooManyAttempts
	e.RetryAfter = max(wait, time.Second)
	return &e
}

// pauses are the waits after a number of failed attempts: none at first, then a
// second, doubled each time.
var pauses = func() (list [maxFromSource + 1]time.Duration) {
	for i := maxWithoutPause + 1; i < maxFromSource; i++ {
		list[i] = time.Second << (i - maxWithoutPause - 1)
	}
	list[maxFromSource] = window
	return list
}()

// attemptFailed restarts the window, makes the next attempt from the same source
// wait, and counts the failure of the account, which is zero for an address without
// one; see RecordFailures.
func (p *People) attemptFailed(ctx context.Context, c counters, account uuid.UUID) error {
	now, until := p.now(), make([]time.Time, len(pauses))
	for i, d := range pauses {
		until[i] = now.Add(d)
	}
	// The zero id is stored like any other, so that both cases take the same time.
	_, err := p.Pool.Exec(ctx, `UPDATE login_trouble t SET counted_at = $3, account_id = $6, failed = t.failed + (t.mac = $2)::integer, not_before = CASE WHEN t.mac = $2
		THEN (SELECT u.at FROM unnest($4::timestamptz[]) WITH ORDINALITY AS u (at, n) WHERE u.n = least(t.tries, $5::integer) + 1) ELSE t.not_before END
		WHERE t.mac = ANY($1::bytea[])`, c.all, c.source, now, until, maxFromSource, account)
	return fault.Wrap(err, "people: delay further attempts")
}

// attemptSucceeded takes an attempt back: only failed ones count.
func (p *People) attemptSucceeded(ctx context.Context, from pg.DB, c counters) error {
	_, err := from.Exec(ctx, `UPDATE login_trouble SET tries = greatest(tries - 1, 0) WHERE mac = ANY($1::bytea[]) AND counted_at > $2`, c.all, p.now().Add(-window))
	return fault.Wrap(err, "people: take an attempt back")
}
