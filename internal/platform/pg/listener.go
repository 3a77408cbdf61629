package pg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Channel is what to do with the notifications of one channel. None of its functions may
// wait: the other channels wait with it.
type Channel struct {
	// Name returns the name of the channel. It is asked for on every connection.
	Name func(ctx context.Context, from DB) (string, error)
	// Notified is called with the payload of each notification. Every login of the database
	// can send one on a channel whose name it knows.
	Notified func(payload string)
	// Listening, if it is set, is called when notifications begin to be received, and when
	// they no longer are. Whatever was sent before was missed.
	Listening func(bool)
}

// Named returns a function that returns a name.
func Named(name string) func(context.Context, DB) (string, error) {
	return func(context.Context, DB) (string, error) { return name, nil }
}

// Listener receives the notifications of a node, over one connection for all channels.
type Listener struct {
	Pool     *pgxpool.Pool // names the database; its connections are not used
	Breaker  *Breaker      // may be nil
	Log      *slog.Logger  // may be nil
	Channels []Channel
}

const (
	// heartbeat is how often the node notifies itself. If one heartbeat is not received
	// before the next is due, the connection is given up. PostgreSQL delivers notifications
	// in one order, so that a heartbeat shows that none before it is missing.
	heartbeat = time.Second
	// reconnectPause is the wait between two attempts to listen.
	reconnectPause = 500 * time.Millisecond
)

var errNoHeartbeat = errors.New("pg: the heartbeat was not received")

// Run receives notifications until ctx ends, and connects again when the connection fails.
func (l *Listener) Run(ctx context.Context) {
	for ctx.Err() == nil {
		l.Breaker.Wait(ctx)
		err := l.listen(ctx)
		l.setListening(false)
		if ctx.Err() != nil {
			return
		}
		if l.Log != nil {
			l.Log.LogAttrs(ctx, slog.LevelWarn, "not listening for notifications; every credential is read from the database, and feeds are polled", slog.String("error", err.Error()))
		}
		pause.For(ctx, reconnectPause)
	}
}

func (l *Listener) setListening(on bool) {
	for _, c := range l.Channels {
		if c.Listening != nil {
			c.Listening(on)
		}
	}
}

// listen uses a connection of its own, so that it does not depend on a free connection in
// the pool. It returns when the connection fails or ctx ends.
func (l *Listener) listen(ctx context.Context) error {
	dial, cancel := context.WithTimeout(ctx, 2*heartbeat)
	defer cancel()
	config := l.Pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = "lineproof-listen"
	l.Breaker.Prefer(config)
	conn, err := pgx.ConnectConfig(dial, config)
	if err != nil {
		return fmt.Errorf("pg: connect to listen: %w", err)
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeat)
		defer cancel()
		_ = conn.Close(end) // it is not used again
	}()
	beat := "lineproof_beat_" + uuid.NewString() // a channel of its own: nobody else can send a heartbeat
	notified := map[string]func(string){}
	for _, c := range l.Channels {
		name, err := c.Name(dial, conn)
		if err != nil {
			return fmt.Errorf("pg: the name of a channel: %w", err)
		}
		notified[name] = c.Notified
	}
	received := true
	notified[beat] = func(string) { received = true }
	for name := range notified {
		if _, err := conn.Exec(dial, "LISTEN "+pgx.Identifier{name}.Sanitize()); err != nil {
			return fmt.Errorf("pg: listen: %w", err)
		}
	}
	l.setListening(true)
	for sentAt := time.Now(); ; {
		if time.Since(sentAt) >= heartbeat {
			if !received {
				return errNoHeartbeat
			}
			if err := notify(ctx, conn, beat); err != nil {
				return err
			}
			sentAt, received = time.Now(), false
		}
		n, err := waitForNotification(ctx, conn, sentAt.Add(heartbeat))
		if err != nil {
			return err
		}
		if n != nil {
			notified[n.Channel](n.Payload)
		}
	}
}

func notify(ctx context.Context, conn *pgx.Conn, channel string) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	_, err := conn.Exec(ctx, "SELECT pg_notify($1, '')", channel)
	return fault.Wrap(err, "pg: send the heartbeat")
}

// waitForNotification returns the next notification, or nil if there is none before the
// deadline.
func waitForNotification(ctx context.Context, conn *pgx.Conn, deadline time.Time) (*pgconn.Notification, error) {
	wait, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() == nil && (pgconn.Timeout(err) || wait.Err() != nil) && !conn.IsClosed():
		return nil, nil
	}
	return nil, fmt.Errorf("pg: wait for notifications: %w", err)
}
