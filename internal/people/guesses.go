package people

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/registry"
)

const (
	// window is how long guesses are remembered: until none was wrong for so long.
	window = 30 * time.Minute
	// mostHere is how many guesses at one account are evaluated in a window that
	// come from one network, or from one device that the account knows.
	mostHere = 10
	// mostAnywhere is how many are evaluated that come from all networks together.
	mostAnywhere = 100
	// freely is how many may follow each other without a pause.
	freely = 3
	// mostInvitations is how many letters one person can have sent to others in a
	// window.
	mostInvitations = 50
	// mostResets is how many letters for a new password one address can cause in a
	// window.
	mostResets = 3
)

// errGuesses is the answer to a guess that is not evaluated. It comes for an
// address without an account after as many guesses, so that it tells nothing.
var errGuesses = fault.New(fault.TooManyRequests,
	"Too many attempts to log in with this e-mail address. Wait for the time in the Retry-After header, or ask for a new password by e-mail.")

// counted is what the counters know of an attempt: whose account it is about,
// and where it comes from. No part of it is stored but as an HMAC.
type counted struct {
	here []byte   // the account and its network, or its device
	all  [][]byte // every counter that it counts in, here first
	most []int32  // for each of them
}

// countersOf returns the counters of an attempt. A device that the account
// knows has a counter of its own and counts in no other: guesses of others
// cannot use up its own.
func (p *People) countersOf(email string, from netip.Addr, device string) counted {
	who := subject(email)
	if device != "" {
		here := p.Peppers.Sign("guesses of a device\x00" + who + "\x00" + device)
		return counted{here: here, all: [][]byte{here}, most: []int32{mostHere}}
	}
	here := p.Peppers.Sign("guesses of a network\x00" + who + "\x00" + network(from))
	return counted{here: here, all: [][]byte{here, p.Peppers.Sign("guesses\x00" + who)}, most: []int32{mostHere, mostAnywhere}}
}

// subject is the account that an address means, whether there is one or not.
func subject(email string) string {
	if key, ok := registry.EmailKey(email); ok {
		return key
	}
	return strings.ToLower(email)
}

// network returns the network of an address as far as one caller can be
// expected to own it: 256 addresses of IPv4, and a site of IPv6.
func network(from netip.Addr) string {
	from = from.Unmap().WithZone("")
	bits := 48
	if from.Is4() {
		bits = 24
	}
	n, err := from.Prefix(bits)
	if err != nil {
		return "" // not known where from: all such are one network
	}
	return n.String()
}

// reserve counts a guess before it is evaluated, or says when to come back.
func (p *People) reserve(ctx context.Context, c counted) error {
	q, now := db.New(p.Pool), p.now()
	since := now.Add(-window)
	troubles, err := q.Troubles(ctx, db.TroublesParams{Macs: c.all, Since: since})
	if err != nil {
		return fmt.Errorf("people: look for guesses: %w", err)
	}
	for _, t := range troubles {
		for i, mac := range c.all {
			switch {
			case string(mac) != string(t.Mac):
			case t.Tries >= c.most[i]:
				return later(t.CountedAt.Add(window).Sub(now))
			case t.NotBefore.After(now):
				return later(t.NotBefore.Sub(now))
			}
		}
	}
	for i, mac := range c.all {
		n, err := q.Reserve(ctx, db.ReserveParams{Mac: mac, Now: now, Since: since, Most: c.most[i]})
		if err != nil {
			return fmt.Errorf("people: count a guess: %w", err)
		}
		if n == 0 { // others came first at this moment; what was counted here before stays counted
			return later(time.Second)
		}
	}
	return nil
}

// sparing counts something that is not wrong, but must not be done too often. It
// returns errGuesses when it was.
func (p *People) sparing(ctx context.Context, what string, most int32) error {
	counter := p.Peppers.Sign(what)
	return p.reserve(ctx, counted{here: counter, all: [][]byte{counter}, most: []int32{most}})
}

func later(d time.Duration) error {
	e := *errGuesses
	e.RetryAfter = max(d, time.Second)
	return &e
}

// pauses says how long to wait after so many guesses that were wrong: not at all
// at first, then a second, and twice as long each time.
var pauses = func() (list [mostHere + 1]time.Duration) {
	for i := freely + 1; i < mostHere; i++ {
		list[i] = time.Second << (i - freely - 1)
	}
	list[mostHere] = window
	return list
}()

// wrong begins the window anew and makes the next guess from the same place
// wait.
func (p *People) wrong(ctx context.Context, c counted) error {
	now, until := p.now(), make([]time.Time, len(pauses))
	for i, d := range pauses {
		until[i] = now.Add(d)
	}
	if err := db.New(p.Pool).Wrong(ctx, db.WrongParams{Macs: c.all, Here: c.here, Now: now, Until: until, Most: mostHere}); err != nil {
		return fmt.Errorf("people: make guesses wait: %w", err)
	}
	return nil
}

// right gives a guess back that was none.
func (p *People) right(ctx context.Context, from *db.Queries, c counted) error {
	if err := from.GiveBack(ctx, db.GiveBackParams{Macs: c.all, Since: p.now().Add(-window)}); err != nil {
		return fmt.Errorf("people: give a guess back: %w", err)
	}
	return nil
}
