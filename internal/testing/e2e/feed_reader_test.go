package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/testing/process"
)

const rebasedEvent = "org.lineproof.feed.v1.rebased"

// eventID is the id of an event of a feed.
type eventID struct{ epoch, seq int }

func parseID(text string) (id eventID, err error) {
	_, err = fmt.Sscanf(text, "%d-%d", &id.epoch, &id.seq)
	return id, err
}

// told is an event that counts: its epoch, and the version of the number that it is about.
type told struct {
	epoch          int
	place, version int32 // 0 if it is about no number
}

// feedReader is what a reader of a feed has got. It does what the documents say: it drops
// what a restore has made void, and begins again when it is told that it must.
type feedReader struct {
	told     []told // by sequence
	last     []int32
	position string
	count    atomic.Int64 // of told
	sums     map[eventID][sha256.Size]byte

	void, restarts int
}

func newFeedReader(numbers int) *feedReader {
	return &feedReader{last: make([]int32, numbers), sums: map[eventID][sha256.Size]byte{}}
}

// take notes one event, and reports whether it is not the next one of its feed, not the next
// version of its number, or not what its id meant before.
func (r *feedReader) take(e *client.Event) error {
	id, err := parseID(e.ID)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %s", e.Type, e.Subject, e.Time, e.Data))
	if before, seen := r.sums[id]; seen && before != sum {
		return fmt.Errorf("the id %s came with other bytes", e.ID)
	}
	r.sums[id] = sum
	switch {
	case e.Type == rebasedEvent:
		if err := r.rebase(e); err != nil {
			return err
		}
	case len(r.told) > 0 && id.epoch != r.told[len(r.told)-1].epoch:
		return fmt.Errorf("%s begins an epoch, and nothing said so", e.ID)
	}
	if id.seq != len(r.told)+1 {
		return fmt.Errorf("%s came after %d events", e.ID, len(r.told))
	}
	next := told{epoch: id.epoch}
	if strings.HasPrefix(e.Type, "org.lineproof.line.v1.") { // the others are about many lines
		var data client.LineChange
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return err
		}
		number, err := strconv.ParseInt(data.PhoneNumber, 10, 64)
		if err != nil {
			return err
		}
		next.place, next.version = int32(number-firstWatched), int32(data.Version)
		if next.version != r.last[next.place]+1 {
			return fmt.Errorf("version %d of a number came after %d", next.version, r.last[next.place])
		}
		r.last[next.place]++
	}
	r.told = append(r.told, next)
	r.count.Store(int64(len(r.told)))
	return nil
}

// rebase drops what is void. The last event that counts must be one that the reader has.
func (r *feedReader) rebase(e *client.Event) error {
	var data client.Rebased
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	kept, err := parseID(data.Cursor)
	if err != nil {
		return err
	}
	if kept.seq > len(r.told) || kept.seq > 0 && r.told[kept.seq-1].epoch != kept.epoch {
		return fmt.Errorf("%s says that %s counts, and the reader does not have it", e.ID, data.Cursor)
	}
	r.void += len(r.told) - kept.seq
	r.drop(kept.seq)
	return nil
}

func (r *feedReader) drop(after int) {
	for _, t := range r.told[after:] {
		if t.version > 0 {
			r.last[t.place]--
		}
	}
	r.told = r.told[:after]
	r.count.Store(int64(after))
}

// follow reads a feed as a bank does, and goes on where it was after each error. If it gets
// 410, it begins again, as the how-to says. It ends with the test when something is wrong.
func (f *feedFaults) follow(ctx context.Context, i int, r *feedReader) {
	for turn := i; ctx.Err() == nil && !f.t.Failed(); turn++ {
		var pending []client.Event // since the last saved position
		save := func(_ context.Context, position string) error {
			for j := range pending {
				if err := r.take(&pending[j]); err != nil {
					f.t.Errorf("bank %d, after %d restores: %v", i, f.restored.Load(), err)
					return err
				}
			}
			pending, r.position = nil, position
			return nil
		}
		for e, err := range f.client(turn).Feed(ctx, f.keys[i], client.FeedOptions{Position: r.position, Save: save, Follow: true}) {
			switch {
			case client.CodeOf(err) == client.CodeGone && f.restored.Load() > 1: // after one restore the service knows where the histories part
				r.drop(0)
				r.position = ""
				r.restarts++
			case client.CodeOf(err) == client.CodeGone, client.CodeOf(err) == client.CodeIncompatibleState, errors.Is(err, client.ErrFeedTampered):
				f.t.Errorf("bank %d, after %d restores: %v", i, f.restored.Load(), err)
			}
			if err != nil {
				break
			}
			pending = append(pending, e)
		}
		_ = pass(ctx, 50*time.Millisecond)
	}
}

// readAll reads a feed from its beginning once all changes are distributed.
func (f *feedFaults) readAll(i int) *feedReader {
	f.t.Helper()
	process.Until(f.t, "all changes are distributed", func() bool {
		var left bool
		err := f.w.pool.QueryRow(f.t.Context(), `SELECT EXISTS (SELECT FROM line_change WHERE n > (SELECT n FROM outbox_mark WHERE reader = 'feed'))`).Scan(&left)
		return err == nil && !left
	})
	r := newFeedReader(len(f.version))
	for e, err := range f.client(i).Feed(f.t.Context(), f.keys[i], client.FeedOptions{}) {
		if err != nil {
			f.t.Fatal(err)
		}
		if err := r.take(&e); err != nil {
			f.t.Fatalf("bank %d: %v", i, err)
		}
	}
	return r
}
