package limit

import (
	"context"
	_ "embed" // for the script
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// patience is how long Redis may take. Beyond it a node goes on by itself.
	patience = 250 * time.Millisecond
	// After an outage Redis is tried again: soon at first, then ever less often.
	firstPause, mostPause = 100 * time.Millisecond, 500 * time.Millisecond
	// flapping is how soon after its return another outage makes the node wait
	// longer before it trusts Redis again, and calmest is how long at the most.
	flapping, calmest = 10 * time.Second, 2 * time.Second
	// settling is for how long after its return a node still takes no more than
	// half of the rate: others may not have noticed yet, and go on by themselves.
	settling = calmest + 2*patience
	// prefix keeps our keys apart from those of others.
	prefix = "lineproof:limit:"
)

//go:embed lease.lua
var leaseScript string

var (
	errAway  = errors.New("limit: Redis is away")
	errReply = errors.New("limit: Redis says something that is not understood")
)

// store is the conversation with Redis.
type store struct {
	client  *redis.Client
	script  *redis.Script
	changed func(away bool, cause error)

	trips  atomic.Uint64
	away   atomic.Bool
	outage atomic.Uint32 // how many there were
	calm   atomic.Int64  // when the last one is over for all nodes, in nanoseconds since began
	began  time.Time
	lost   chan struct{} // one for each outage
	stop   chan struct{}
	ended  chan struct{}
}

// silent keeps the library from writing to standard error: whatever goes wrong
// comes back as an error.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

var silence = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

func openStore(address string, began time.Time, changed func(bool, error)) (*store, error) {
	silence()
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, errors.New("limit: the address of Redis cannot be read") // the library repeats it, with its password
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = patience, patience, patience, patience
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1 // who cannot be reached is away
	o.DialerRetries = 1
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	s := &store{
		client: redis.NewClient(o), script: redis.NewScript(leaseScript), changed: changed, began: began,
		lost: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.watch()
	return s, nil
}

func (s *store) close() error {
	close(s.stop)
	<-s.ended
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("limit: close: %w", err)
	}
	return nil
}

// ask runs the script. Whatever goes wrong means that Redis is away.
func (s *store) ask(ctx context.Context, k Key, p pace, q question) (reply, error) {
	r, err := s.try(ctx, k, p, q)
	if err != nil && s.away.CompareAndSwap(false, true) {
		s.outage.Add(1)
		if s.changed != nil {
			s.changed(true, err)
		}
		s.lost <- struct{}{}
	}
	return r, err
}

// try runs the script, for all who wait for the answer: whoever asked may leave.
func (s *store) try(ctx context.Context, k Key, p pace, q question) (reply, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	s.trips.Add(1)
	debt := 0
	if q.debt {
		debt = 1
	}
	each := float64(p.each) / float64(time.Microsecond)
	said, err := s.script.Run(ctx, s.client, []string{k.name()}, each, p.burst, q.want, q.least, q.spent, debt).Int64Slice()
	if err != nil {
		return reply{}, fmt.Errorf("limit: ask Redis: %w", err)
	}
	if len(said) != 3 {
		return reply{}, errReply
	}
	return reply{given: int(said[0]), due: time.Duration(said[1]) * time.Microsecond, wait: time.Duration(said[2]) * time.Microsecond}, nil
}

// name is what Redis calls a key.
func (k *Key) name() string { return prefix + string(k.kind) + ":" + hex.EncodeToString(k.id[:]) }

// watch waits for Redis to come back, whenever it is away, so that no request
// has to.
func (s *store) watch() {
	defer close(s.ended)
	var back time.Time
	hold := firstPause
	for {
		select {
		case <-s.stop:
			return
		case <-s.lost:
		}
		hold = min(2*hold, calmest)
		if time.Since(back) > flapping {
			hold = firstPause
		}
		if !s.comeBack(hold) {
			return
		}
		back = time.Now()
	}
}

// comeBack returns true once Redis does its work again, or false at the end.
func (s *store) comeBack(pause time.Duration) bool {
	for {
		select {
		case <-s.stop:
			return false
		case <-time.After(pause):
		}
		// Not a ping: one that may not write, or is still loading, is no use.
		if _, err := s.try(context.Background(), Key{kind: 'p'}, Rate{PerSecond: 1000, Burst: 1000}.pace(), question{want: 1, least: 1}); err == nil { //nolint:forbidigo // nobody's request
			s.calm.Store(int64(time.Since(s.began) + settling))
			s.away.Store(false)
			if s.changed != nil {
				s.changed(false, nil)
			}
			return true
		}
		pause = max(pause, min(2*pause, mostPause))
	}
}
