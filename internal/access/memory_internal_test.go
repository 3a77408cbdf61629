package access

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// A look-up that began before a revocation and ended after its notice brings
// nothing back: its answer is used once and not kept.
func TestAnswerThatCrossesAChangeIsNotKept(t *testing.T) {
	t.Parallel()
	var m memory
	m.hear(true)
	now, id := time.Now(), uuid.New()
	r := &remembered{who: Principal{ID: id}, asked: now, fresh: freshness}
	since := m.changed()
	m.forget(id)
	m.keep(mac{1}, r, since)
	if _, believed := m.find(mac{1}, now); believed {
		t.Error("what was asked before the change is believed after it")
	}
	m.keep(mac{1}, r, m.changed())
	if _, believed := m.find(mac{1}, now); !believed {
		t.Error("what was asked after the change is not believed")
	}
}

// What a node remembers from before it was deaf is asked about again, and kept
// for the time when nobody can be asked.
func TestNodeThatHearsAgainDoubtsItsMemory(t *testing.T) {
	t.Parallel()
	var m memory
	m.hear(true)
	now := time.Now()
	m.keep(mac{1}, &remembered{asked: now, fresh: freshness}, m.changed())
	for _, hears := range []bool{false, true} {
		m.hear(hears)
		if r, believed := m.find(mac{1}, now); believed || r == nil || !r.asked.Equal(now) {
			t.Errorf("hearing: %v; it is believed: %v, and remembered as %+v", hears, believed, r)
		}
	}
}

// Memory is bounded: a flood of credentials makes it begin anew.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	var m memory
	for i := range mostRemembered + 10 {
		m.keep(mac{byte(i), byte(i >> 8), byte(i >> 16)}, &remembered{}, 0)
	}
	if n := len(m.known); n > mostRemembered || n != 10 {
		t.Errorf("%d are remembered, want 10", n)
	}
}
