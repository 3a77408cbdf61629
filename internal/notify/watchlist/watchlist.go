// Package watchlist keeps the lists of numbers of whose changes an organisation is
// told.
//
// What it guarantees:
//
//   - A list is no free oracle. Every number that enters a live list spends the budget of
//     different numbers of the year, which it shares with verifications; removing one gives
//     nothing back. A list with too many numbers that nobody has waits for staff. Its state
//     is all that an organisation sees of whether numbers are lines, hours after they are
//     spent, and so inexactly that it says nothing about one number: see verdict.go.
//   - Whether a change came before or after a change of the list is decidable: a list
//     takes effect at a place in the outbox ([List.EffectiveFrom]).
//   - Members are returned to their own organisation only, which can also compare digests.
//     Staff see counts.
//
// Members are stored in blocks of 1,000 numbers, see [block].
package watchlist

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Service keeps the lists. Pool, Guard, Lines and Now are required.
type Service struct {
	Pool  *pgxpool.Pool
	Guard *guard.Guard
	Lines *linestore.Resolver
	Now   func() time.Time
	// Turns are taken by what reads the files of whole lists, so that all of them together
	// leave time to requests; nil takes none.
	Turns *pause.Turns

	replacing pause.TurnsByKey // organisations that replace a list: a list is in memory meanwhile
}

// Replacing waits until the organisation replaces no other list on this node. After a nil
// error the caller calls done.
func (s *Service) Replacing(ctx context.Context, o Owner) (done func(), err error) {
	return s.replacing.Enter(ctx, o.Entity)
}

// TakeTurn waits for a turn of those who read files, and pauses for what was worked since
// the last one.
func (s *Service) TakeTurn(ctx context.Context, worked time.Duration) error {
	return s.Turns.Do(ctx, worked, ctx.Err)
}

// Owner is the organisation whose lists a call is about.
type Owner struct {
	Entity uuid.UUID
	Mode   string       // of the key: live or test
	Budget guard.Budget // of the key

	Actor   audit.Actor // who calls, for the audit trail; zero for the service itself
	Request uuid.UUID
}

// live reports whether the lists are about real lines.
func (o *Owner) live() bool { return o.Mode == "live" }

// The states of a list.
const (
	Active = "active"
	Held   = "held" // it waits for staff, and nothing is told of its numbers
)

// List is a list without its members.
type List struct {
	ID            uuid.UUID
	Name          string
	State         string
	Members       int64
	Digest        Digest
	EffectiveFrom int64 // changes after this place in the outbox are matched with the list as it is
	CreatedAt     time.Time
	ChangedAt     time.Time
}

const (
	maxLists = 16
	maxName  = 100
)

var (
	// ErrNoList reports a list that does not exist for this caller.
	ErrNoList = fault.New(fault.NotFound, "There is no such watch-list.")
	// ErrTooManyLists reports an organisation that has as many lists as it may.
	ErrTooManyLists = fault.New(fault.IncompatibleState, "The organisation has "+strconv.Itoa(maxLists)+" watch-lists, which is the limit. Delete one, or use one of them.")
)

// Create creates an empty list.
func (s *Service) Create(ctx context.Context, o Owner, name string) (l List, err error) {
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		l, err = s.CreateIn(ctx, tx, o, name)
		return err
	})
	if err != nil {
		return List{}, err
	}
	return l, nil
}

// CreateIn is [Service.Create] in a transaction of the caller.
func (s *Service) CreateIn(ctx context.Context, tx pg.Tx, o Owner, name string) (List, error) {
	name = strings.TrimSpace(name)
	var wrong fault.Form
	wrong.Check(name != "", "name", fault.Required, "Give the list a name.")
	wrong.Check(utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxName && !strings.ContainsRune(name, 0), "name", fault.TooLong, "Use at most 100 characters in UTF-8.")
	if err := wrong.Err(); err != nil {
		return List{}, err
	}
	now := s.now()
	l := List{ID: uuid.Must(uuid.NewV7()), Name: name, State: Active, CreatedAt: now, ChangedAt: now}
	// Of two calls at once the second counts the list of the first.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof watch-lists ' || $1::text, 0))`, o.Entity.String()); err != nil {
		return List{}, fmt.Errorf("watchlist: create a list: %w", err)
	}
	made, err := tx.Exec(ctx, `INSERT INTO watch_list (id, entity_id, mode, name, created_at, changed_at) SELECT $1, $2, $3, $4, $5, $5
		WHERE (SELECT count(*) FROM watch_list WHERE entity_id = $2 AND mode = $3) < $6`, l.ID, o.Entity, o.Mode, name, now, maxLists)
	if err != nil {
		return List{}, fmt.Errorf("watchlist: create a list: %w", err)
	}
	if made.RowsAffected() == 0 {
		return List{}, ErrTooManyLists
	}
	return l, s.audit(ctx, tx, &o, audit.ListCreated, l.ID, 0)
}

// Count returns how many lists an owner has, and how many it may have.
func (s *Service) Count(ctx context.Context, from pg.DB, o Owner) (lists, most int64, err error) {
	err = from.QueryRow(ctx, `SELECT count(*) FROM watch_list WHERE entity_id = $1 AND mode = $2`, o.Entity, o.Mode).Scan(&lists)
	if err != nil {
		return 0, 0, fmt.Errorf("watchlist: count lists: %w", err)
	}
	return lists, maxLists, nil
}

const listColumns = `id, name, state, members, digest, effective_from, created_at, changed_at`

// scanList reads a list, and the columns that follow those of the list.
func scanList(row pgx.CollectableRow, more ...any) (l List, err error) {
	var digest []byte
	err = row.Scan(append([]any{&l.ID, &l.Name, &l.State, &l.Members, &digest, &l.EffectiveFrom, &l.CreatedAt, &l.ChangedAt}, more...)...)
	copy(l.Digest[:], digest)
	l.CreatedAt, l.ChangedAt = l.CreatedAt.UTC(), l.ChangedAt.UTC()
	return l, err
}

func oneList(row pgx.CollectableRow) (List, error) { return scanList(row) }

// Lists returns the lists of an organisation, oldest first.
func (s *Service) Lists(ctx context.Context, o Owner) ([]List, error) {
	lists, err := pg.Collect(ctx, s.Pool, oneList, `SELECT `+listColumns+` FROM watch_list WHERE entity_id = $1 AND mode = $2 ORDER BY created_at, id`, o.Entity, o.Mode)
	return lists, fault.Wrap(err, "watchlist: read lists")
}

// List returns one list of an organisation, or [ErrNoList].
func (s *Service) List(ctx context.Context, o Owner, id uuid.UUID) (List, error) {
	rows, err := s.Pool.Query(ctx, `SELECT `+listColumns+` FROM watch_list WHERE id = $1 AND entity_id = $2 AND mode = $3`, id, o.Entity, o.Mode)
	if err != nil {
		return List{}, fmt.Errorf("watchlist: read a list: %w", err)
	}
	l, err := pgx.CollectExactlyOneRow(rows, oneList)
	if errors.Is(err, pgx.ErrNoRows) {
		return List{}, ErrNoList
	}
	if err != nil {
		return List{}, fmt.Errorf("watchlist: read a list: %w", err)
	}
	return l, nil
}

// Delete deletes a list and its members at once.
func (s *Service) Delete(ctx context.Context, o Owner, id uuid.UUID) error {
	return pg.InLongTx(ctx, s.Pool, func(tx pg.Tx) error {
		var blocks int32
		var members int64
		if _, err := tx.Exec(ctx, noTimeout); err != nil {
			return fmt.Errorf("watchlist: delete a list: %w", err)
		}
		err := tx.QueryRow(ctx, `DELETE FROM watch_list WHERE id = $1 AND entity_id = $2 AND mode = $3 RETURNING blocks, members`, id, o.Entity, o.Mode).Scan(&blocks, &members)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoList
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM watch_block WHERE list = $1`, blocks)
		}
		if err != nil {
			return fmt.Errorf("watchlist: delete a list: %w", err)
		}
		if o.live() && members > 0 {
			if err := s.Guard.CountLists(ctx, tx, o.Entity, 0, 1); err != nil {
				return err
			}
		}
		return s.audit(ctx, tx, &o, audit.ListDeleted, id, members)
	})
}

// audit writes who has created or deleted a list.
func (s *Service) audit(ctx context.Context, tx pg.Tx, o *Owner, action audit.Action, id uuid.UUID, members int64) error {
	actor := o.Actor
	if actor.Kind == "" {
		actor.Kind = audit.System
	}
	return audit.Write(ctx, tx, audit.Entry{At: s.now(), Actor: actor, Action: action, Subject: id, Entity: o.Entity, Request: o.Request, After: map[string]any{"mode": o.Mode, "members": members}})
}

// now returns the time in whole microseconds, the precision of PostgreSQL.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }
