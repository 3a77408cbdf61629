package feed

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Channel is notified of every feed that got entries: entity, mode and the seq of the
// last entry, with spaces between them.
const Channel = "feed"

// Service reads feeds, and lets readers wait for entries. Pool and Now are required, and
// Run must be running.
type Service struct {
	Pool *pgxpool.Pool
	Now  func() time.Time
	// Channels are other channels that the node's one connection for notifications listens
	// to, with what to do on a notification. It is also done when one may have been missed.
	Channels map[string]func()

	mu      sync.Mutex
	waiting map[Owner]*waiters
}

// waiters are the readers that wait for one feed.
type waiters struct {
	readers int
	seq     int64         // of the last entry, as far as notifications told
	woken   chan struct{} // closed when seq grows, and replaced
}

// pollInterval is how often heads are read that somebody waits for. A notification is
// faster; this is for those that were missed while the connection was down.
const pollInterval = 2 * time.Second

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
	if s.waiting == nil {
		s.waiting = make(map[Owner]*waiters)
	}
	w := s.waiting[o]
	if w == nil {
		w = &waiters{woken: make(chan struct{})}
		s.waiting[o] = w
	}
	w.readers++
	return w
}

func (s *Service) leave(o Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[o]
	if w.readers--; w.readers == 0 {
		delete(s.waiting, o)
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

// Run wakes readers until ctx ends, by notifications and by a slow poll.
func (s *Service) Run(ctx context.Context, log *slog.Logger) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		for ctx.Err() == nil {
			if err := s.listen(ctx); ctx.Err() == nil {
				log.LogAttrs(ctx, slog.LevelWarn, "not listening for entries of feeds; heads are polled", slog.String("error", err.Error()))
				pause(ctx, pollInterval)
			}
		}
	})
	for ctx.Err() == nil {
		_ = s.poll(ctx) // tried again; the outage is in the log already
		pause(ctx, pollInterval)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// listen uses a connection of its own, so that it does not take one of the pool for ever.
// It returns when the connection fails or ctx ends.
func (s *Service) listen(ctx context.Context) error {
	dial, cancel := context.WithTimeout(ctx, pollInterval)
	defer cancel()
	config := s.Pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = "lineproof-feed"
	conn, err := pgx.ConnectConfig(dial, config)
	if err != nil {
		return fmt.Errorf("feed: connect: %w", err)
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(end) // it is not used again
	}()
	statements := []string{"LISTEN " + pgx.Identifier{Channel}.Sanitize()}
	for name := range s.Channels {
		statements = append(statements, "LISTEN "+pgx.Identifier{name}.Sanitize())
	}
	if _, err := conn.Exec(dial, strings.Join(statements, "; ")); err != nil {
		return fmt.Errorf("feed: listen: %w", err)
	}
	for _, notified := range s.Channels {
		notified() // what happened before was missed
	}
	for {
		if err := s.receive(ctx, conn); err != nil {
			return err
		}
	}
}

// aliveInterval is how often the connection is tried when nothing is received.
const aliveInterval = 15 * time.Second

// receive waits for one notification and passes it on. Without one for some time, it
// tries whether the connection still works.
func (s *Service) receive(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, aliveInterval)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	switch {
	case err == nil:
		s.notified(n)
		return nil
	case ctx.Err() == nil && wait.Err() != nil && !conn.IsClosed():
		try, cancel := context.WithTimeout(ctx, pollInterval)
		defer cancel()
		if err := conn.Ping(try); err != nil {
			return fmt.Errorf("feed: the connection for notifications: %w", err)
		}
		return nil
	}
	return fmt.Errorf("feed: wait for notifications: %w", err)
}

func (s *Service) notified(n *pgconn.Notification) {
	if fn := s.Channels[n.Channel]; fn != nil {
		fn()
		return
	}
	parts := strings.Fields(n.Payload)
	if n.Channel != Channel || len(parts) != 3 {
		return
	}
	entity, err := uuid.Parse(parts[0])
	seq, numErr := strconv.ParseInt(parts[2], 10, 64)
	if err == nil && numErr == nil {
		s.wake(Owner{Entity: entity, Mode: parts[1]}, seq)
	}
}

// poll reads the heads of all feeds that somebody waits for.
func (s *Service) poll(ctx context.Context) error {
	s.mu.Lock()
	owners := make([]Owner, 0, len(s.waiting))
	for o := range s.waiting {
		owners = append(owners, o)
	}
	s.mu.Unlock()
	if len(owners) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pollInterval)
	defer cancel()
	entities, modes := split(owners)
	rows, err := s.Pool.Query(ctx, `SELECT h.entity_id, h.mode, h.seq FROM feed_head h JOIN unnest($1::uuid[], $2::text[]) AS t (e, m) ON h.entity_id = t.e AND h.mode = t.m`, entities, modes)
	if err != nil {
		return fmt.Errorf("feed: read heads: %w", err)
	}
	var o Owner
	var seq int64
	_, err = pgx.ForEachRow(rows, []any{&o.Entity, &o.Mode, &seq}, func() error {
		s.wake(o, seq)
		return nil
	})
	if err != nil {
		return fmt.Errorf("feed: read heads: %w", err)
	}
	return nil
}
