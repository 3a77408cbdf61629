package feed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// confirmTime is how long a commit that confirms entries may take.
const confirmTime = 10 * time.Second

var errUnconfirmed = fault.New(fault.Unavailable, "The newest events are not stored safely yet. Send the request again.")

// confirmations make sure that entries are durable before they leave. A commit that waits
// for a standby can be read before it is confirmed, when the wait was cancelled or the server
// has crashed, and is lost if the standby then takes over. A later commit that is confirmed
// confirms everything that could be read before it.
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

// runConfirmation commits for all who have joined until the one before has ended. Where no
// commit waits for a standby, what can be read is durable already.
func (s *Service) runConfirmation(ctx context.Context, joined *confirmation) {
	c := &s.confirmed
	c.one.Lock()
	defer c.one.Unlock()
	c.mu.Lock()
	c.joining = nil
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	var waits bool
	joined.err = s.Pool.QueryRow(ctx, `SELECT current_setting('synchronous_standby_names') <> ''`).Scan(&waits)
	if joined.err == nil && waits {
		joined.err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_logical_emit_message(true, 'lineproof feed', '')`); err != nil { // the smallest thing that is written
				return fmt.Errorf("feed: confirm entries: %w", err)
			}
			return nil
		})
	}
	close(joined.done)
}
