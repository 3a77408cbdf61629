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
)

const (
	channel = "lineproof_access" // as the triggers name it
	// beat is how often the channel is tried. A node that has not heard its own
	// call for two beats is deaf, and believes nothing that it remembers: so a
	// revocation reaches it in well under five seconds even then.
	beat = time.Second
	// deafPause is how long a deaf node waits before it connects again.
	deafPause = 500 * time.Millisecond
)

var errSilent = errors.New("access: its own call was not heard")

// Listen keeps memory true: it hears of everything that changes, until ctx ends.
// Whenever it cannot, memory is not believed and every credential is asked
// about.
func (k *Keeper) Listen(ctx context.Context) {
	for ctx.Err() == nil {
		k.Breaker.Wait(ctx)
		err := k.listen(ctx)
		k.memory.hear(false)
		if ctx.Err() != nil {
			return
		}
		if k.Log != nil {
			k.Log.LogAttrs(ctx, slog.LevelWarn, "cannot hear of revocations; every credential is looked up", slog.String("error", err.Error()))
		}
		select {
		case <-ctx.Done():
		case <-time.After(deafPause):
		}
	}
}

// Hearing reports whether this node hears of what changes.
func (k *Keeper) Hearing() bool {
	k.memory.mu.RLock()
	defer k.memory.mu.RUnlock()
	return k.memory.hearing
}

// listen has a connection of its own, so that a pool whose connections are all
// in use does not make the node deaf.
func (k *Keeper) listen(ctx context.Context) error {
	dial, cancel := context.WithTimeout(ctx, 2*beat)
	defer cancel()
	config := k.Pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = "lineproof-listen"
	conn, err := pgx.ConnectConfig(dial, config)
	if err != nil {
		return fmt.Errorf("access: connect: %w", err)
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), beat)
		defer cancel()
		_ = conn.Close(end) // nobody needs it any more
	}()
	if _, err := conn.Exec(dial, "LISTEN "+channel); err != nil {
		return fmt.Errorf("access: listen: %w", err)
	}
	k.memory.hear(true)
	call, called, heard := "beat:"+uuid.NewString(), time.Now(), true
	for {
		if time.Since(called) >= beat {
			if !heard {
				return errSilent
			}
			if err := shout(ctx, conn, call); err != nil {
				return err
			}
			called, heard = time.Now(), false
		}
		word, err := next(ctx, conn, called.Add(beat))
		switch {
		case err != nil:
			return err
		case word == call:
			heard = true
		default:
			k.hear(word)
		}
	}
}

// shout sends a word over the channel.
func shout(ctx context.Context, conn *pgx.Conn, word string) error {
	ctx, cancel := context.WithTimeout(ctx, beat)
	defer cancel()
	if _, err := conn.Exec(ctx, "SELECT pg_notify($1, $2)", channel, word); err != nil {
		return fmt.Errorf("access: try the channel: %w", err)
	}
	return nil
}

// next returns the next word, or none when the time is up.
func next(ctx context.Context, conn *pgx.Conn, until time.Time) (string, error) {
	wait, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	switch {
	case err == nil:
		return n.Payload, nil
	case ctx.Err() == nil && (pgconn.Timeout(err) || wait.Err() != nil) && !conn.IsClosed():
		return "", nil
	}
	return "", fmt.Errorf("access: wait for changes: %w", err)
}

// hear forgets whatever a word of the triggers names. The beats of other nodes
// name nothing.
func (k *Keeper) hear(word string) {
	kind, id, _ := strings.Cut(word, ":")
	if changed, err := uuid.Parse(id); err == nil && kind != "beat" {
		k.memory.forget(changed)
	}
}
