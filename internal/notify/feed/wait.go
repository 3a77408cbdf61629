package feed

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Channel is notified of every feed that got entries: entity and mode, with a space
// between them. Every login of the database can send such a notification, so it is only a
// hint to read the head of the feed.
const Channel = "feed"

// Service reads feeds, and lets readers wait for entries. Pool and Now are required, Run
// must be running, and a listener should have its Channel.
type Service struct {
	Pool *pgxpool.Pool
	Now  func() time.Time

	mu      sync.Mutex
	waiting map[Owner]*waiters
	hinted  map[Owner]bool // whose heads are to be read; only feeds that somebody waits for
	hints   chan struct{}

	confirmed confirmations
}

// waiters are the readers that wait for one feed.
type waiters struct {
	readers int
	seq     int64         // of the last entry, as the head was last read
	woken   chan struct{} // closed when seq grows, and replaced
}

// pollInterval is how often heads are read that somebody waits for. A notification is
// faster; this is for those that were missed while the connection was down.
const pollInterval = 2 * time.Second

// hintInterval is the shortest time between two reads of heads. Hints that come meanwhile
// cost one read together, however many there are.
const hintInterval = 10 * time.Millisecond

// Wait returns as soon as the feed has an entry after seq, or when ctx ends, with its
// error.
func (s *Service) Wait(ctx context.Context, o Owner, seq int64) error {
	w := s.enter(o)
	defer s.leave(o)
	// Read after entering: whatever is added from now on is notified.
	h, err := readHead(ctx, s.Pool, o)
	if err != nil {
		return err
	}
	s.wake(o, h.seq)
	for {
		s.mu.Lock()
		last, woken := w.seq, w.woken
		s.mu.Unlock()
		if last > seq {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-woken:
		}
	}
}

func (s *Service) enter(o Owner) *waiters {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	w := s.waiting[o]
	if w == nil {
		w = &waiters{woken: make(chan struct{})}
		s.waiting[o] = w
	}
	w.readers++
	return w
}

// init prepares the zero value. The caller has the lock.
func (s *Service) init() {
	if s.waiting == nil {
		s.waiting, s.hinted, s.hints = make(map[Owner]*waiters), make(map[Owner]bool), make(chan struct{}, 1)
	}
}

func (s *Service) leave(o Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[o]
	if w.readers--; w.readers == 0 {
		delete(s.waiting, o)
		delete(s.hinted, o)
	}
}

// hint has the head of a feed read soon, if somebody waits for it.
func (s *Service) hint(o Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting[o] == nil {
		return
	}
	s.hinted[o] = true
	select {
	case s.hints <- struct{}{}:
	default: // the next read has it
	}
}

// wake tells those who wait for a feed up to where it goes.
func (s *Service) wake(o Owner, seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waiting[o]; w != nil && seq > w.seq {
		w.seq = seq
		close(w.woken)
		w.woken = make(chan struct{})
	}
}

// Channel receives notifications of entries.
func (s *Service) Channel() pg.Channel {
	return pg.Channel{Name: pg.Named(Channel), Notified: s.notified}
}

func (s *Service) notified(payload string) {
	id, mode, _ := strings.Cut(payload, " ")
	if entity, err := uuid.Parse(id); err == nil {
		s.hint(Owner{Entity: entity, Mode: mode})
	}
}

// Run wakes readers until ctx ends, by notifications and by a slow poll.
func (s *Service) Run(ctx context.Context) {
	s.mu.Lock()
	s.init()
	s.mu.Unlock()
	polled := time.NewTicker(pollInterval)
	defer polled.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-polled.C:
			_ = s.readHeads(ctx, s.waitedFor()) // tried again; the outage is in the log already
		case <-s.hints:
			_ = s.readHeads(ctx, s.takeHinted())
			pause.For(ctx, hintInterval)
		}
	}
}

// waitedFor returns the feeds that somebody waits for.
func (s *Service) waitedFor() []Owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.waiting))
}

// takeHinted returns the feeds of which a notification came since the last call.
func (s *Service) takeHinted() []Owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	hinted := slices.Collect(maps.Keys(s.hinted))
	clear(s.hinted)
	return hinted
}

// readHeads reads how far feeds go, and wakes those who wait for more.
func (s *Service) readHeads(ctx context.Context, owners []Owner) error {
	if len(owners) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pollInterval)
	defer cancel()
	entities, modes := split(owners)
	var o Owner
	var seq int64
	err := pg.ForEach(ctx, s.Pool, []any{&o.Entity, &o.Mode, &seq}, func() error {
		s.wake(o, seq)
		return nil
	}, `SELECT h.entity_id, h.mode, h.seq FROM feed_head h JOIN unnest($1::uuid[], $2::text[]) AS t (e, m) ON h.entity_id = t.e AND h.mode = t.m`, entities, modes)
	return fault.Wrap(err, "feed: read heads")
}
