package feed

import (
	"context"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// confirmTime is how long a commit that confirms entries may take.
const confirmTime = 10 * time.Second

var errUnconfirmed = fault.New(fault.Unavailable, "The newest events are not stored safely yet. Send the request again.")

// confirmations make sure that entries are durable before they leave, with one commit for
// all who read at the same time ([pg.Confirm] says why).
type confirmations struct {
	mu      sync.Mutex
	joining *confirmation  // that has not begun; nil for none
	known   map[Owner]head // up to where entries are confirmed
	one     sync.Mutex     // is held by the confirmation that runs
}

// confirmation is one commit for all who ask before it begins.
type confirmation struct {
	done chan struct{} // closed when err is set
	err  error
}

// confirm returns nil when the entries of a feed up to last are durable.
func (s *Service) confirm(ctx context.Context, o Owner, last *Entry) error {
	c := &s.confirmed
	c.mu.Lock()
	if known := c.known[o]; known.epoch == last.Epoch && known.seq >= last.Seq {
		c.mu.Unlock()
		return nil
	}
	joined := c.joining
	if joined == nil {
		joined = &confirmation{done: make(chan struct{})}
		c.joining = joined
		go s.runConfirmation(context.WithoutCancel(ctx), joined)
	}
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-joined.done:
	}
	if joined.err != nil {
		return errUnconfirmed.Because(joined.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = make(map[Owner]head)
	}
	if known := c.known[o]; known.epoch != last.Epoch || known.seq < last.Seq {
		c.known[o] = head{epoch: last.Epoch, seq: last.Seq}
	}
	return nil
}

// runConfirmation confirms for all who have joined until the one before has ended.
func (s *Service) runConfirmation(ctx context.Context, joined *confirmation) {
	c := &s.confirmed
	c.one.Lock()
	defer c.one.Unlock()
	c.mu.Lock()
	c.joining = nil
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	joined.err = pg.Confirm(ctx, s.Pool)
	close(joined.done)
}
