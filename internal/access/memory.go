package access

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// mostRemembered bounds the memory. Past it all is forgotten, and asked again.
const mostRemembered = 10_000

// mac is what is kept of a credential: its HMAC under the newest pepper.
type mac [32]byte

// remembered is a credential that stood when the database was last asked.
type remembered struct {
	who      Principal
	networks []netip.Prefix // from where it may be used; none means from anywhere
	asked    time.Time
	fresh    time.Duration // for how long after that there is no need to ask again
	until    time.Time     // it ends by itself; zero means never
}

// stands reports whether the credential has not ended by itself.
func (r *remembered) stands(now time.Time) bool { return r.until.IsZero() || now.Before(r.until) }

// opens reports whether the credential may be used from an address.
func (r *remembered) opens(from netip.Addr) bool {
	return len(r.networks) == 0 || slices.ContainsFunc(r.networks, func(p netip.Prefix) bool { return p.Contains(from.Unmap()) })
}

// memory remembers credentials that stood a moment ago, so that a caller who
// asks a hundred times a second is looked up once in a while. It is believed
// only while this node hears of what changes. What did not stand is not
// remembered: a key works as soon as it is made.
type memory struct {
	mu      sync.RWMutex
	hearing bool
	known   map[mac]*remembered
	changes uint64 // how often something was forgotten
}

// find returns what is remembered, and whether it may be believed without
// asking.
func (m *memory) find(id mac, now time.Time) (r *remembered, believed bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r = m.known[id]
	return r, r != nil && m.hearing && now.Sub(r.asked) < r.fresh && r.stands(now)
}

// changed returns how often something was forgotten so far. Whoever is about to
// ask the database keeps it for keep.
func (m *memory) changed() uint64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.changes
}

// keep remembers what the database said, unless something has changed since the
// question was asked: the answer may be older than the change.
func (m *memory) keep(id mac, r *remembered, since uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes != since {
		return
	}
	if m.known == nil || len(m.known) >= mostRemembered {
		m.known = make(map[mac]*remembered)
	}
	m.known[id] = r
}

// drop forgets one credential, which the database no longer knows.
func (m *memory) drop(id mac) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, id)
}

// forget drops every credential that is, or belongs to, the thing that changed.
func (m *memory) forget(id uuid.UUID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes++
	for key, r := range m.known {
		if w := &r.who; w.ID == id || w.Client == id || w.Account == id || w.Entity == id {
			delete(m.known, key)
		}
	}
}

// hear notes whether this node hears of what changes. When that begins,
// everything is doubted, because nobody knows what was missed: it is asked about
// again. What is known is kept, for the time when nobody can be asked.
func (m *memory) hear(hearing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if hearing && !m.hearing {
		m.changes++
		for key, r := range m.known {
			doubted := *r
			doubted.fresh = 0
			m.known[key] = &doubted
		}
	}
	m.hearing = hearing
}
