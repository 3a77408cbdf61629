package sandbox

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// Service reads and advances the test clocks of keys. All fields are required.
type Service struct {
	Pool      *pgxpool.Pool
	Simulator *Simulator
	Now       func() time.Time
}

// ClockState is the state of a test clock and of the scenarios by it.
type ClockState struct {
	Now       time.Time
	Start     time.Time // day 0
	Day       int
	Scenarios []Scenario
}

// State returns the state of a key's test clock.
func (s *Service) State(ctx context.Context, key uuid.UUID) (ClockState, error) {
	now := s.now()
	clocks, err := Clocks(ctx, s.Pool, []uuid.UUID{key})
	if err != nil {
		return ClockState{}, err
	}
	return s.state(ctx, clocks[key], now)
}

// Move is a move of a test clock, at the real time Now. A clock that was reset was moved
// from its day 0.
type Move struct {
	Before, After Clock
	Now           time.Time
}

// Advance advances a key's test clock from its present time or, with reset, from
// a day 0 that starts now. It calls moved in the same transaction, unless that is nil.
func (s *Service) Advance(ctx context.Context, key uuid.UUID, reset bool, by time.Duration, moved func(pg.Tx, Move) error) (ClockState, error) {
	m := Move{Now: s.now()}
	save := advanceClock
	if reset {
		save = resetClock
	}
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) (err error) {
		if m.After, err = save(ctx, tx, key, by, m.Now); err != nil || moved == nil {
			return err
		}
		m.Before = Clock{Start: m.After.Start, Ahead: m.After.Ahead - by}
		return moved(tx, m)
	})
	if err != nil {
		return ClockState{}, err
	}
	return s.state(ctx, m.After, m.Now)
}

// now is the present in whole milliseconds, like the times of answers.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

func (s *Service) state(ctx context.Context, c Clock, now time.Time) (ClockState, error) {
	p, err := policy.Current(ctx, s.Pool, now)
	if err != nil {
		return ClockState{}, err
	}
	at := c.moment(now, &p)
	return ClockState{Now: c.Now(now), Start: c.DayZero(now), Day: at.today(), Scenarios: s.Simulator.Scenarios(c, now, &p)}, nil
}
