package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lineproof/lineproof/internal/access/internal/db"
)

const (
	// heartbeat is how often the node notifies itself over the channel. If one
	// heartbeat is not received before the next is due, the connection is given up
	// and cached credentials are not used without a query: so a revocation takes
	// effect on this node in well under five seconds even when the connection hangs.
	heartbeat = time.Second
	// reconnectPause is the wait between two attempts to listen.
	reconnectPause = 500 * time.Millisecond
)

var errNoHeartbeat = errors.New("access: the heartbeat was not received")

// Listen keeps the cache consistent with the database until ctx ends: it receives
// a notification of every change and invalidates what the change concerns. While
// it cannot listen, every credential is read from the database.
func (s *Service) Listen(ctx context.Context) {
	for ctx.Err() == nil {
		s.Breaker.Wait(ctx)
		err := s.listen(ctx)
		s.cache.setListening(false)
		if ctx.Err() != nil {
			return
		}
		if s.Log != nil {
			s.Log.LogAttrs(ctx, slog.LevelWarn, "not listening for revocations; every credential is read from the database", slog.String("error", err.Error()))
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectPause):
		}
	}
}

// Listening reports whether this node receives notifications of changes.
func (s *Service) Listening() bool { return s.cache.listening() }

// listen uses a connection of its own, so that it does not depend on a free
// connection in the pool. It returns when the connection fails or ctx ends.
func (s *Service) listen(ctx context.Context) error {
	dial, cancel := context.WithTimeout(ctx, 2*heartbeat)
	defer cancel()
	config := s.Pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = "lineproof-listen"
	conn, err := pgx.ConnectConfig(dial, config)
	if err != nil {
		return fmt.Errorf("access: connect: %w", err)
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeat)
		defer cancel()
		_ = conn.Close(end) // it is not used again
	}()
	channel, err := db.New(conn).Channel(dial)
	if err != nil {
		return fmt.Errorf("access: read the name of the channel: %w", err)
	}
	if _, err := conn.Exec(dial, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return fmt.Errorf("access: listen: %w", err)
	}
	s.cache.setListening(true)
	beat, sentAt, received := "beat:"+uuid.NewString(), time.Now(), true
	for {
		if time.Since(sentAt) >= heartbeat {
			if !received {
				return errNoHeartbeat
			}
			if err := notify(ctx, conn, channel, beat); err != nil {
				return err
			}
			sentAt, received = time.Now(), false
		}
		payload, err := waitForNotification(ctx, conn, sentAt.Add(heartbeat))
		switch {
		case err != nil:
			return err
		case payload == beat:
			received = true
		default:
			s.apply(payload)
		}
	}
}

// notify sends a payload over the channel.
func notify(ctx context.Context, conn *pgx.Conn, channel, payload string) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	if _, err := conn.Exec(ctx, "SELECT pg_notify($1, $2)", channel, payload); err != nil {
		return fmt.Errorf("access: send the heartbeat: %w", err)
	}
	return nil
}

// waitForNotification returns the payload of the next notification, or "" if
// there is none before the deadline.
func waitForNotification(ctx context.Context, conn *pgx.Conn, deadline time.Time) (string, error) {
	wait, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	switch {
	case err == nil:
		return n.Payload, nil
	case ctx.Err() == nil && (pgconn.Timeout(err) || wait.Err() != nil) && !conn.IsClosed():
		return "", nil
	}
	return "", fmt.Errorf("access: wait for notifications: %w", err)
}

// apply invalidates what a notification names. The triggers send "kind:id";
// heartbeats of other nodes name nothing.
func (s *Service) apply(payload string) {
	kind, id, _ := strings.Cut(payload, ":")
	if changed, err := uuid.Parse(id); err == nil && kind != "beat" {
		s.cache.invalidate(changed)
	}
}
