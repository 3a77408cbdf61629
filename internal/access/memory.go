package access

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// keyMemory is how long a key that was found to stand is believed to stand.
	// A key that was revoked on another node works no longer than that.
	keyMemory = 2 * time.Second
	// mostKeys bounds the memory. Past it all is forgotten, and asked again.
	mostKeys = 10_000
)

// keyMac is what is kept of a key: its HMAC under the newest pepper.
type keyMac [32]byte

// memory remembers keys that stood a moment ago, so that a caller who asks a
// hundred times a second is looked up once in two seconds. What did not stand is
// not remembered: a key works as soon as it is made.
type memory struct {
	mu   sync.RWMutex
	keys map[keyMac]remembered
}

type remembered struct {
	who   Principal
	until time.Time
}

func (m *memory) find(mac keyMac, now time.Time) (Principal, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r, ok := m.keys[mac]
	return r.who, ok && now.Before(r.until)
}

func (m *memory) keep(mac keyMac, who Principal, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys == nil || len(m.keys) >= mostKeys {
		m.keys = make(map[keyMac]remembered)
	}
	m.keys[mac] = remembered{who, until}
}

// forget drops a key that was revoked on this node: here it ends at once.
func (m *memory) forget(id uuid.UUID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for mac, r := range m.keys {
		if r.who.ID == id {
			delete(m.keys, mac)
		}
	}
}
