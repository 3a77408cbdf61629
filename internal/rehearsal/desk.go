package rehearsal

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/policy"
)

// Desk is where callers look at their test clocks and move them. All fields are
// required.
type Desk struct {
	Pool  *pgxpool.Pool
	Stage *Stage
	Now   func() time.Time
}

// Showing is a test clock with what it brings about.
type Showing struct {
	Now   time.Time
	Begun time.Time // day 0
	Day   int
	Lives []Life
}

// Show returns the test clock of a key.
func (d *Desk) Show(ctx context.Context, key uuid.UUID) (Showing, error) {
	now := d.now()
	clocks, err := Clocks(ctx, d.Pool, []uuid.UUID{key})
	if err != nil {
		return Showing{}, err
	}
	return d.showing(ctx, clocks[key], now)
}

// Move advances the test clock of a key by a step, from where it stands or, with
// reset, from a day 0 that begins now.
func (d *Desk) Move(ctx context.Context, key uuid.UUID, reset bool, step time.Duration) (Showing, error) {
	now, move := d.now(), advance
	if reset {
		move = restart
	}
	c, err := move(ctx, d.Pool, key, step, now)
	if err != nil {
		return Showing{}, err
	}
	return d.showing(ctx, c, now)
}

// now is the present to the millisecond, as answers have it.
func (d *Desk) now() time.Time { return d.Now().UTC().Truncate(time.Millisecond) }

func (d *Desk) showing(ctx context.Context, c Clock, now time.Time) (Showing, error) {
	p, err := policy.InForce(ctx, d.Pool, now)
	if err != nil {
		return Showing{}, err
	}
	at := c.present(now, &p)
	return Showing{Now: c.Now(now), Begun: c.Start(now), Day: at.today(), Lives: d.Stage.Lives(c, now, &p)}, nil
}
