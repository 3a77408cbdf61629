package access

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"
)

// maxCached bounds the cache. Beyond it, the entries least likely to be used
// again are evicted one by one.
const maxCached = 10_000

// mac identifies a credential in the cache: its HMAC under the newest pepper.
type mac [32]byte

// cachedCredential is a credential that was valid when the database was last
// read. It does not change once it is stored.
type cachedCredential struct {
	who        Principal
	secret     uuid.UUID      // of a token: the client secret that it was issued for
	networks   []netip.Prefix // source addresses it may be used from; none means any
	readAt     time.Time      // when the database was read
	freshFor   time.Duration  // how long after readAt it may be used without reading again
	expiresAt  time.Time      // zero means never
	listenedIn uint64         // the listening period in which it was stored; see credentialCache
}

// expired reports whether the credential has reached its own expiry.
func (c *cachedCredential) expired(now time.Time) bool {
	return !c.expiresAt.IsZero() && !now.Before(c.expiresAt)
}

// allows reports whether the credential may be used from a source address.
func (c *cachedCredential) allows(from netip.Addr) bool {
	return FromNetworks(c.networks, from)
}

// credentialCache holds valid credentials, so that a caller with a hundred
// requests a second costs one query every freshFor. Invalid credentials are not
// cached: a key works as soon as it is created.
//
// An entry may be used without a query only in the listening period in which it
// was stored: the time during which this node received every notification of a
// change without a gap. When the node reconnects a new period begins, and every
// older entry is stale, because revocations may have been missed. Stale entries
// are kept for the grace period while the database is unavailable.
//
// The zero value is ready to use. The cache starts no goroutine.
type credentialCache struct {
	create  sync.Once
	entries *otter.Cache[mac, *cachedCredential]

	period atomic.Uint64 // the current listening period; 0 while the node does not listen

	mu      sync.Mutex // held by everything that writes; see store
	changes uint64     // how many changes were applied so far
	periods uint64     // how many listening periods have begun
}

func (c *credentialCache) all() *otter.Cache[mac, *cachedCredential] {
	c.create.Do(func() {
		c.entries = otter.Must(&otter.Options[mac, *cachedCredential]{
			MaximumSize: maxCached,
			Executor:    func(evict func()) { evict() }, // in the calling goroutine, so that no other has to be stopped
		})
	})
	return c.entries
}

// find returns the entry of a credential, or nil, and whether the entry may be
// used without reading the database.
func (c *credentialCache) find(id mac, now time.Time) (cached *cachedCredential, fresh bool) {
	cached, ok := c.all().GetIfPresent(id)
	if !ok {
		return nil, false
	}
	period := c.period.Load()
	return cached, period != 0 && cached.listenedIn == period && now.Sub(cached.readAt) < cached.freshFor && !cached.expired(now)
}

// version returns how many changes were applied so far. Take it before reading
// the database, and pass it to store.
func (c *credentialCache) version() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// store caches what was read from the database, unless a change was applied
// after version: then the row may have been read before that change.
func (c *credentialCache) store(id mac, read *cachedCredential, version uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != version {
		return
	}
	read.listenedIn = c.period.Load()
	c.all().Set(id, read)
}

// remove deletes a credential that the database no longer accepts.
func (c *credentialCache) remove(id mac) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all().Invalidate(id)
}

// invalidate deletes every credential that has this id or belongs to the
// client, client secret, account or entity with this id.
func (c *credentialCache) invalidate(id uuid.UUID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	// No entry is missed: entries are added only under the lock.
	for key, cached := range c.all().All() {
		if w := &cached.who; w.ID == id || w.Client == id || cached.secret == id || w.Account == id || w.Entity == id {
			c.all().Invalidate(key)
		}
	}
}

// setListening records whether this node receives notifications of changes. On
// reconnect every entry becomes stale, because revocations may have been missed;
// the entries stay available for grace.
func (c *credentialCache) setListening(listening bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !listening:
		c.period.Store(0)
	case c.period.Load() == 0:
		c.changes++
		c.periods++
		c.period.Store(c.periods)
	}
}

// listening reports whether this node receives notifications of changes.
func (c *credentialCache) listening() bool { return c.period.Load() != 0 }

// FromNetworks reports whether a key with these networks may be used from an address. None
// means any.
func FromNetworks(networks []netip.Prefix, from netip.Addr) bool {
	return len(networks) == 0 || slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(from.Unmap()) })
}
