package people

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/registry"
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
		source := p.Peppers.Sign("guesses of a device\x00" + who + "\x00" + device)
		return counters{source: source, all: [][]byte{source}, limits: []int32{maxFromSource}}
	}
	source := p.Peppers.Sign("guesses of a network\x00" + who + "\x00" + network(from))
	return counters{source: source, all: [][]byte{source, p.Peppers.Sign("guesses\x00" + who)}, limits: []int32{maxFromSource, maxFromAll}}
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

// countAttempt counts an attempt before it is evaluated. It returns
// errTooManyAttempts, with the time to wait, if the attempt must not be evaluated.
func (p *People) countAttempt(ctx context.Context, c counters) error {
	q, now := db.New(p.Pool), p.now()
	since := now.Add(-window)
	rows, err := q.Counters(ctx, db.CountersParams{Macs: c.all, Since: since})
	if err != nil {
		return fmt.Errorf("people: read counters of attempts: %w", err)
	}
	for _, row := range rows {
		for i, mac := range c.all {
			switch {
			case string(mac) != string(row.Mac):
			case row.Tries >= c.limits[i]:
				return tooManyAttempts(row.CountedAt.Add(window).Sub(now))
			case row.NotBefore.After(now):
				return tooManyAttempts(row.NotBefore.Sub(now))
			}
		}
	}
	for i, mac := range c.all {
		n, err := q.CountAttempt(ctx, db.CountAttemptParams{Mac: mac, Now: now, Since: since, MaxTries: c.limits[i]})
		if err != nil {
			return fmt.Errorf("people: count an attempt: %w", err)
		}
		if n == 0 { // concurrent attempts used up the last one; what is already counted stays counted
			return tooManyAttempts(time.Second)
		}
	}
	return nil
}

// throttle limits legitimate actions that could be abused, such as sending e-mail.
// It returns errTooManyAttempts if the action was done too often in a window.
func (p *People) throttle(ctx context.Context, what string, limit int32) error {
	counter := p.Peppers.Sign(what)
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
	err := db.New(p.Pool).AttemptFailed(ctx, db.AttemptFailedParams{
		Macs: c.all, Source: c.source, Now: now, Until: until, MaxTries: maxFromSource,
		AccountID: uuid.NullUUID{UUID: account, Valid: true}, // the zero id is stored like any other, so that both cases take the same time
	})
	if err != nil {
		return fmt.Errorf("people: delay further attempts: %w", err)
	}
	return nil
}

// attemptSucceeded takes an attempt back: only failed ones count.
func (p *People) attemptSucceeded(ctx context.Context, q *db.Queries, c counters) error {
	if err := q.AttemptSucceeded(ctx, db.AttemptSucceededParams{Macs: c.all, Since: p.now().Add(-window)}); err != nil {
		return fmt.Errorf("people: take an attempt back: %w", err)
	}
	return nil
}
