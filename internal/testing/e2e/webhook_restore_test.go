package e2e_test

import (
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/notify/webhook"
)

// restoredHistory is what a receiver has that takes restores into account.
type restoredHistory struct {
	epochs   []int                         // of the events that count, by sequence
	sums     map[eventID][sha256.Size]byte // of everything that ever came
	missing  bool                          // events count that it does not have: they have to be sent again
	replayed int
	void     int
}

// isNext reports whether an event is to be counted as the next one, and does what the how-to
// says when it tells of a restore.
func (h *hooked) isNext(e *sentEvent, text []byte) bool {
	r := h.restores
	id, err := parseID(e.ID)
	sum := sha256.Sum256(text)
	if before, seen := r.sums[id]; err != nil || seen && before != sum {
		h.wrong = append(h.wrong, "the same event with other bytes: "+e.ID)
		return false
	}
	r.sums[id] = sum
	kept, isRestore := eventID{}, e.Type == rebasedEvent
	if isRestore {
		if kept, err = parseID(e.Data.Cursor); err != nil {
			h.wrong = append(h.wrong, err.Error())
			return false
		}
	}
	newest := 0
	if len(r.epochs) > 0 {
		newest = r.epochs[len(r.epochs)-1]
	}
	switch {
	case r.missing:
		return false // until everything is sent again
	case r.has(id):
		h.repeated++
		return false
	case isRestore && kept.seq > 0 && !r.has(kept), id.epoch < newest:
		r.missing = true
		return false
	case isRestore:
		r.void += len(r.epochs) - kept.seq
		r.epochs, h.next = r.epochs[:kept.seq], kept.seq+1
	case r.replayed > 0 && id.seq != h.next:
		// It is of a request that was under way when everything was to be sent again. If an
		// event should be missing, the end does not come.
		h.repeated++
		return false
	case newest > 0 && id.epoch > newest:
		h.wrong = append(h.wrong, e.ID+" begins an epoch, and nothing said so")
		return false
	}
	r.epochs = append(r.epochs, id.epoch)
	return true
}

// has reports whether an event is among those that count.
func (r *restoredHistory) has(id eventID) bool {
	return id.seq <= len(r.epochs) && r.epochs[id.seq-1] == id.epoch
}

func (h *hooked) isAt(next int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next == next
}

// sendAgain has everything sent again to the receivers that miss something, as the how-to says.
func (f *feedFaults) sendAgain() {
	f.t.Helper()
	for _, h := range f.all {
		h.mu.Lock()
		missing := h.restores.missing
		h.mu.Unlock()
		if !missing {
			continue
		}
		var id uuid.UUID
		if err := f.w.pool.QueryRow(f.t.Context(), `SELECT id FROM hook_endpoint WHERE entity_id = $1`, h.owner.Entity).Scan(&id); err != nil {
			continue // tried again
		}
		if _, err := f.service.Replay(f.t.Context(), h.owner, id, "", webhook.By{Actor: access.Operator}); err != nil {
			continue
		}
		h.mu.Lock()
		h.restores.missing, h.restores.epochs, h.next = false, nil, 1
		h.restores.replayed++
		h.mu.Unlock()
	}
}

// sentSummary is what all receivers have got.
type sentSummary struct{ count, void, repeated, replayed int }

// compareSent waits until the receivers have everything, and compares it with the feeds.
func (f *feedFaults) compareSent() (all sentSummary) {
	f.t.Helper()
	for i, h := range f.all {
		var last int
		if err := f.w.pool.QueryRow(f.t.Context(), `SELECT seq FROM feed_head WHERE entity_id = $1 AND mode = $2`, h.owner.Entity, h.owner.Mode).Scan(&last); err != nil {
			f.t.Fatal(err)
		}
		for deadline := time.Now().Add(5 * time.Minute); !h.isAt(last + 1); <-time.After(20 * time.Millisecond) {
			if f.sendAgain(); time.Now().After(deadline) {
				f.t.Fatalf("bank %d: of %d events %d were sent: %v", i, last, h.next-1, h.wrong)
			}
		}
		h.mu.Lock()
		for _, text := range h.wrong {
			f.t.Errorf("bank %d: %s", i, text)
		}
		r := h.restores
		all.count, all.void, all.repeated, all.replayed = all.count+len(r.epochs), all.void+r.void, all.repeated+h.repeated, all.replayed+r.replayed
		for seq := int64(0); seq < int64(last); {
			entries := must(f.service.Feed.After(f.t.Context(), h.owner, seq, 1000))(f.t)
			for k := range entries {
				e := &entries[k]
				id := eventID{e.Epoch, int(e.Seq)}
				if !r.has(id) || r.sums[id] != sha256.Sum256(e.JSON()) {
					f.t.Fatalf("bank %d: the event %s was not sent as it is", i, e.ID())
				}
				seq = e.Seq
			}
			if len(entries) == 0 {
				f.t.Fatalf("bank %d: the feed ends at %d of %d", i, seq, last)
			}
		}
		h.mu.Unlock()
	}
	if all.void == 0 {
		f.t.Errorf("of %d events that were sent none became void, so this proves nothing", all.count)
	}
	return all
}
