package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Sender sends the events of all endpoints that are leased to this node, each in a
// goroutine of its own. Service, Node and Log are required.
//
// A lease is renewed long before it ends, and a request is begun only if it ends before the
// lease does: so no two nodes send to an endpoint at the same time, and the order holds. A
// node that is killed keeps its leases until they have expired.
type Sender struct {
	Service *Service
	Node    string
	Log     *slog.Logger
	Lease   time.Duration // 0 means 30 seconds
	// Observe, if not nil, is called for every attempt with the number of events, what became
	// of them and the time since the last of them was added to the feed.
	Observe func(outcome string, events int, age time.Duration)

	slots chan struct{}
}

const (
	defaultLease = 30 * time.Second
	tickInterval = time.Second
	claimLimit   = 100 // endpoints in one tick, so that nodes that start together share them
	maxPosts     = 500 // at once
	stopTime     = 5 * time.Second
	workTime     = 5 * time.Second // of a statement
)

func (s *Sender) lease() time.Duration {
	if s.Lease > 0 {
		return s.Lease
	}
	return defaultLease
}

// postTime is how long a request may take: a third of the lease.
func (s *Sender) postTime() time.Duration { return s.lease() / 3 }

// leased is an endpoint that is leased to this node.
type leased struct {
	id      uuid.UUID
	lease   int64
	version int64
	stop    context.CancelFunc // asks the goroutine to end after the request in flight
	owner   pg.Row             // its organisation
	done    chan struct{}

	mu    sync.Mutex
	until time.Time
}

// remaining returns how long the lease is valid at least.
func (l *leased) remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.until)
}

func (l *leased) extend(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
}

// Run sends until ctx ends. Requests in flight then get a moment to finish. At its start,
// keys that are encrypted under an older pepper are encrypted again.
func (s *Sender) Run(ctx context.Context) {
	s.slots = make(chan struct{}, maxPosts)
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	var sealing sync.WaitGroup
	sealing.Go(func() { s.sealAgain(ctx) })
	defer sealing.Wait()
	held := map[uuid.UUID]*leased{}
	renewed, warned := time.Now(), time.Time{}
	ticker := time.NewTicker(min(tickInterval, s.lease()/6))
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := s.tick(ctx, work, held, &renewed); err != nil && ctx.Err() == nil && time.Since(warned) > time.Minute {
			warned = time.Now()
			s.Log.LogAttrs(ctx, slog.LevelWarn, "webhooks can't be leased; tried again", slog.String("error", err.Error()))
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	timer := time.AfterFunc(stopTime, abort)
	defer timer.Stop()
	for _, l := range held {
		l.stop()
	}
	for _, l := range held {
		<-l.done
	}
}

// tick leases endpoints, extends leases, and ends the goroutines of endpoints that were
// changed: they are leased again with what they are now.
func (s *Sender) tick(ctx, work context.Context, held map[uuid.UUID]*leased, renewed *time.Time) error {
	for id, l := range held {
		select {
		case <-l.done:
			delete(held, id)
		default:
		}
	}
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	if err := s.check(ctx, held); err != nil {
		return err
	}
	if time.Since(*renewed) >= s.lease()/3 {
		if err := s.renew(ctx, held); err != nil {
			return err
		}
		*renewed = time.Now()
	}
	return s.claim(ctx, work, held)
}

// mayGet is the condition under which events of the organisation o leave for the endpoint e: it
// is approved, the key that created the endpoint is not revoked and, for live events, neither
// the organisation nor its sponsor is stopped by the guard. Until then its events wait.
const mayGet = `o.status = 'Approved' AND NOT ` + keyRevoked + ` AND (e.mode = 'test' OR NOT EXISTS (SELECT FROM guard_alert g
	WHERE g.level = 'stopped' AND g.released_at IS NULL AND g.ends_at IS NULL AND coalesce(g.entity_id, g.sponsor_id) IN (o.id, o.client_id)))`

// check compares what is leased with what is stored.
func (s *Sender) check(ctx context.Context, held map[uuid.UUID]*leased) error {
	if len(held) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, 0, len(held))
	for id := range held {
		ids = append(ids, id)
	}
	rows, err := s.Service.Pool.Query(ctx, `SELECT e.id, e.version, c.lease, o.id, o.row_sum, o.row_mac FROM hook_endpoint e JOIN hook_cursor c ON c.endpoint_id = e.id JOIN entity o ON o.id = e.entity_id
		WHERE e.id = ANY($1) AND e.state = 'active' AND `+mayGet, ids)
	if err != nil {
		return fmt.Errorf("webhook: check leases: %w", err)
	}
	same := map[uuid.UUID]bool{}
	var id uuid.UUID
	var version, lease int64
	owner := pg.Row{Table: "entity"}
	_, err = pgx.ForEachRow(rows, []any{&id, &version, &lease, &owner.ID, &owner.Sum, &owner.MAC}, func() (err error) {
		same[id] = held[id].version == version && held[id].lease == lease
		if same[id] {
			same[id], err = pg.RowsSigned(ctx, s.Service.Pool, owner)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("webhook: check leases: %w", err)
	}
	for id, l := range held {
		if !same[id] {
			l.stop()
		}
	}
	return nil
}

// renew extends the leases, but not one that its goroutine has just given back: nobody would
// send until it expires.
func (s *Sender) renew(ctx context.Context, held map[uuid.UUID]*leased) error {
	if len(held) == 0 {
		return nil
	}
	var ids []uuid.UUID
	var leases []int64
	for id, l := range held {
		ids, leases = append(ids, id), append(leases, l.lease)
	}
	asked := time.Now()
	var id uuid.UUID
	err := pg.ForEach(ctx, s.Service.Pool, []any{&id}, func() error {
		held[id].extend(asked.Add(s.lease()))
		return nil
	}, `UPDATE hook_cursor c SET leased_until = clock_timestamp() + $3::interval FROM unnest($1::uuid[], $2::bigint[]) AS t (id, lease)
		WHERE c.endpoint_id = t.id AND c.lease = t.lease AND c.leased_until IS NOT NULL RETURNING c.endpoint_id`, ids, leases, s.lease())
	return fault.Wrap(err, "webhook: renew leases")
}

// claim leases endpoints that no node has, and starts their goroutines.
func (s *Sender) claim(ctx, work context.Context, held map[uuid.UUID]*leased) error {
	asked := time.Now()
	list, err := pg.Collect(ctx, s.Service.Pool, func(row pgx.CollectableRow) (*leased, error) {
		l := &leased{done: make(chan struct{}), until: asked.Add(s.lease()), owner: pg.Row{Table: "entity"}}
		return l, row.Scan(&l.id, &l.lease, &l.version, &l.owner.ID, &l.owner.Sum, &l.owner.MAC)
	}, `UPDATE hook_cursor c SET lease = c.lease + 1, node = $1, leased_until = clock_timestamp() + $2::interval
		FROM (SELECT e.id, e.version, o.id AS owner, o.row_sum, o.row_mac FROM hook_cursor f JOIN hook_endpoint e ON e.id = f.endpoint_id JOIN entity o ON o.id = e.entity_id
			WHERE e.state = 'active' AND `+mayGet+` AND (f.leased_until IS NULL OR f.leased_until < clock_timestamp()) ORDER BY random() LIMIT $3 FOR UPDATE OF f SKIP LOCKED) AS free
		WHERE c.endpoint_id = free.id RETURNING c.endpoint_id, c.lease, free.version, free.owner, free.row_sum, free.row_mac`, s.Node, s.lease(), claimLimit)
	if err != nil {
		return fmt.Errorf("webhook: lease endpoints: %w", err)
	}
	for _, l := range list {
		if ok, err := pg.RowsSigned(ctx, s.Service.Pool, l.owner); err != nil {
			return err
		} else if !ok { // the lease expires
			continue
		}
		if before := held[l.id]; before != nil { // its lease has expired: the database was away for long
			before.stop()
		}
		var until context.Context
		until, l.stop = context.WithCancel(work)
		held[l.id] = l
		go s.send(until, work, l)
	}
	return nil
}

// release gives a lease back, so that any node can have the endpoint at once.
func (s *Sender) release(ctx context.Context, l *leased) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), workTime)
	defer cancel()
	// If it fails, the lease expires by itself.
	_, _ = s.Service.Pool.Exec(ctx, `UPDATE hook_cursor SET leased_until = NULL WHERE endpoint_id = $1 AND lease = $2`, l.id, l.lease)
}
