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

	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
	// timeout bounds a round trip to Redis. Beyond it a node continues by itself.
	timeout = 250 * time.Millisecond
	// After an outage Redis is retried: soon at first, then less and less often.
	firstPause, maxPause = 100 * time.Millisecond, 500 * time.Millisecond
	// flapping is how soon after its return another outage makes the node wait longer
	// before it uses Redis again, and maxHold is how long at most.
	flapping, maxHold = 10 * time.Second, 2 * time.Second
	// settleTime is for how long after the return of Redis a node still takes no more
	// than half of the rate: others may not have noticed yet and decide locally.
	settleTime = maxHold + 2*timeout
	// prefix separates our keys from those of other programs.
	prefix = "lineproof:limit:"
)

//go:embed lease.lua
var leaseScript string

var (
	errUnavailable = errors.New("limit: Redis is unavailable")
	errReply       = errors.New("limit: the reply of Redis is not understood")
)

// store is the connection to Redis.
type store struct {
	client   *redis.Client
	script   *redis.Script
	onChange func(away bool, cause error)

	trips     atomic.Uint64
	down      atomic.Bool
	outage    atomic.Uint32 // the number of outages so far
	settledAt atomic.Int64  // when all nodes have noticed the end of the last outage, in nanoseconds since startedAt
	startedAt time.Time
	lost      chan struct{} // receives one element per outage
	stop      chan struct{}
	ended     chan struct{}
}

// discardLogger keeps the library from writing to standard error: every failure is
// also returned as an error.
type discardLogger struct{}

func (discardLogger) Printf(context.Context, string, ...any) {}

var silenceLibrary = sync.OnceFunc(func() { redis.SetLogger(discardLogger{}) })

func openStore(address string, began time.Time, changed func(bool, error)) (*store, error) {
	silenceLibrary()
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, errors.New("limit: the address of Redis cannot be read") // the error of the library would contain the password
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1 // a failure means that Redis is unavailable
	o.DialerRetries = 1
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	s := &store{
		client: redis.NewClient(o), script: redis.NewScript(leaseScript), onChange: changed, startedAt: began,
		lost: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.watchOutages()
	return s, nil
}

func (s *store) close() error {
	close(s.stop)
	<-s.ended
	return fault.Wrap(s.client.Close(), "limit: close")
}

// call runs the script. Any failure means that Redis is unavailable.
func (s *store) call(ctx context.Context, k Key, p pace, q leaseRequest) (reply, error) {
	r, err := s.run(ctx, k, p, q)
	if err != nil && s.down.CompareAndSwap(false, true) {
		s.outage.Add(1)
		if s.onChange != nil {
			s.onChange(true, err)
		}
		s.lost <- struct{}{}
	}
	return r, err
}

// run runs the script. All waiting callers share the reply, so the cancellation of
// one does not end it.
func (s *store) run(ctx context.Context, k Key, p pace, q leaseRequest) (reply, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	s.trips.Add(1)
	debt := 0
	if q.debt {
		debt = 1
	}
	each := float64(p.interval) / float64(time.Microsecond)
	values, err := s.script.Run(ctx, s.client, []string{k.name()}, each, p.burst, q.want, q.least, q.spent, debt).Int64Slice()
	if err != nil {
		return reply{}, fmt.Errorf("limit: run the script in Redis: %w", err)
	}
	if len(values) != 3 {
		return reply{}, errReply
	}
	return reply{given: int(values[0]), due: time.Duration(values[1]) * time.Microsecond, wait: time.Duration(values[2]) * time.Microsecond}, nil
}

// name returns the key in Redis.
func (k *Key) name() string { return prefix + string(k.kind) + ":" + hex.EncodeToString(k.id[:]) }

// watchOutages waits for Redis to be available again after each outage, so that no
// request has to.
func (s *store) watchOutages() {
	defer close(s.ended)
	var back time.Time
	hold := firstPause
	for {
		select {
		case <-s.stop:
			return
		case <-s.lost:
		}
		hold = min(2*hold, maxHold)
		if time.Since(back) > flapping {
			hold = firstPause
		}
		if !s.waitUntilBack(hold) {
			return
		}
		back = time.Now()
	}
}

// waitUntilBack returns true once Redis is available again, or false on close.
func (s *store) waitUntilBack(pause time.Duration) bool {
	for {
		select {
		case <-s.stop:
			return false
		case <-time.After(pause):
		}
		// A ping is not enough: Redis may be read-only or still loading its data.
		if _, err := s.run(context.Background(), Key{kind: 'p'}, Rate{PerSecond: 1000, Burst: 1000}.pace(), leaseRequest{want: 1, least: 1}); err == nil { //nolint:forbidigo // belongs to no request
			s.settledAt.Store(int64(time.Since(s.startedAt) + settleTime))
			s.down.Store(false)
			if s.onChange != nil {
				s.onChange(false, nil)
			}
			return true
		}
		pause = max(pause, min(2*pause, maxPause))
	}
}
