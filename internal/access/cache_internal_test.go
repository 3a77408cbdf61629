package access

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// A row that was read before a revocation and arrives after its notification is
// used once and not cached.
func TestRowReadBeforeAChangeIsNotCached(t *testing.T) {
	t.Parallel()
	var c credentialCache
	c.setListening(true)
	now, id := time.Now(), uuid.New()
	read := &cachedCredential{who: Principal{ID: id}, readAt: now, freshFor: freshness}
	version := c.version()
	c.invalidate(id)
	c.store(mac{1}, read, version)
	if _, fresh := c.find(mac{1}, now); fresh {
		t.Error("what was read before the change is used after it")
	}
	c.store(mac{1}, read, c.version())
	if _, fresh := c.find(mac{1}, now); !fresh {
		t.Error("what was read after the change is not used")
	}
}

// After a gap in listening every entry is stale, and kept for the grace period.
func TestReconnectMarksEntriesStaleAndKeepsThem(t *testing.T) {
	t.Parallel()
	var c credentialCache
	c.setListening(true)
	now := time.Now()
	c.store(mac{1}, &cachedCredential{readAt: now, freshFor: freshness}, c.version())
	for _, listening := range []bool{false, true} {
		c.setListening(listening)
		if cached, fresh := c.find(mac{1}, now); fresh || cached == nil || !cached.readAt.Equal(now) {
			t.Errorf("listening: %v; the entry is fresh: %v, and cached as %+v", listening, fresh, cached)
		}
	}
	c.store(mac{1}, &cachedCredential{readAt: now, freshFor: freshness}, c.version())
	if _, fresh := c.find(mac{1}, now); !fresh {
		t.Error("what was read after the reconnect is not used")
	}
}

// What is stored while the node does not listen is stale once it listens.
func TestEntryStoredWhileNotListeningIsStale(t *testing.T) {
	t.Parallel()
	var c credentialCache
	now := time.Now()
	c.store(mac{1}, &cachedCredential{readAt: now, freshFor: freshness}, c.version())
	for _, listening := range []bool{false, true} {
		c.setListening(listening)
		if cached, fresh := c.find(mac{1}, now); fresh || cached == nil {
			t.Errorf("listening: %v; the entry is fresh: %v, and cached: %v", listening, fresh, cached != nil)
		}
	}
}

// A change of an entity, account or client removes all of its credentials, and
// no others.
func TestChangeInvalidatesEveryCredentialOfItsSubject(t *testing.T) {
	t.Parallel()
	subject, other := uuid.New(), uuid.New()
	for name, who := range map[string]Principal{"credential": {ID: subject}, "client": {Client: subject}, "account": {Account: subject}, "entity": {Entity: subject}} {
		var c credentialCache
		for i := range 2000 {
			cached := &cachedCredential{who: Principal{ID: uuid.New(), Client: other, Account: other, Entity: other}}
			if i%2 == 0 {
				cached.who = who
			}
			c.store(cacheKey(i), cached, c.version())
		}
		c.invalidate(subject)
		for i := range 2000 {
			if cached, _ := c.find(cacheKey(i), time.Now()); (cached != nil) != (i%2 == 1) {
				t.Fatalf("%s: entry %d is cached: %v", name, i, cached != nil)
			}
		}
	}
}

// A full cache makes room for one more entry by evicting a single one.
func TestFullCacheEvictsSingleEntries(t *testing.T) {
	t.Parallel()
	var c credentialCache
	for i := range maxCached + 1 {
		c.store(cacheKey(i), &cachedCredential{}, 0)
	}
	kept := 0
	for i := range maxCached + 1 {
		if cached, _ := c.find(cacheKey(i), time.Now()); cached != nil {
			kept++
		}
	}
	if kept != maxCached {
		t.Errorf("%d of %d entries are cached, want %d", kept, maxCached+1, maxCached)
	}
}

func cacheKey(i int) mac { return mac{byte(i), byte(i >> 8), byte(i >> 16)} }
