package pg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrMigrationLocked reports a migration that did not get its locks.
var ErrMigrationLocked = errors.New("the migration did not get a lock; end the transaction that holds it, and run lineproof migrate again")

// untilLocked does work until no lock is in its way, and says who holds one.
func (m *migrator) untilLocked(ctx context.Context, name string, tables []string, work func() error) error {
	var holders []lockHolder
	for began, said := time.Now(), ""; ; {
		err := work()
		if !lockTimedOut(err) {
			return err
		}
		before := holders
		if holders, err = m.holders(ctx, tables); err != nil {
			return err
		}
		h := longHolder(before, holders)
		if waited := time.Since(began); waited > m.limit {
			return fmt.Errorf("%w (waited %s; %s)", ErrMigrationLocked, waited.Round(time.Second), h)
		}
		if text := h.String(); text != said && h.PID != 0 {
			m.waiting(fmt.Sprintf("%s waits: %s", name, text))
			said = text
		}
		if h.Autovacuum {
			m.interrupt(ctx, h.Table)
			continue // at once: it comes back
		}
		if pause.For(ctx, lockPause); ctx.Err() != nil {
			return ctx.Err() //nolint:wrapcheck // the caller says what for
		}
	}
}

// lockHolder is a transaction that has a lock on a table of a migration.
type lockHolder struct {
	PID                                int
	Transaction, Table, Program, Login string
	Autovacuum                         bool
}

func (h lockHolder) String() string {
	switch {
	case h.PID == 0:
		return "other sessions of the database hold locks"
	case h.Autovacuum:
		return "autovacuum of " + h.Table
	}
	return fmt.Sprintf("process %d of the database (%s, login %s) holds a lock on %s", h.PID, h.Program, h.Login, h.Table)
}

// holders returns who holds locks on the tables. The owner may see neither the kinds nor the
// ages of other sessions, but all except autovacuum have a login.
func (m *migrator) holders(ctx context.Context, tables []string) ([]lockHolder, error) {
	all, err := Collect(ctx, m.patient, pgx.RowToStructByPos[lockHolder], `SELECT DISTINCT ON (a.pid) a.pid, l.virtualtransaction, c.relname, coalesce(a.application_name, ''), coalesce(a.usename, ''), a.usesysid IS NULL
		FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.granted AND l.locktype = 'relation' AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) AND a.datname = current_database()
		ORDER BY a.pid`, tables)
	return all, fault.Wrap(err, "pg: read the locks")
}

// longHolder returns one that held its lock at two attempts, in the same transaction: others come
// and go, and are not in the way. Autovacuum is found at once.
func longHolder(before, now []lockHolder) lockHolder {
	for _, h := range now {
		if h.Autovacuum || slices.Contains(before, h) {
			return h
		}
	}
	return lockHolder{}
}

// interrupt makes autovacuum leave a table. PostgreSQL ends it when somebody has waited for it
// for a second (deadlock_timeout), longer than a migration waits. This waits with a lock that
// neither readers nor writers notice.
func (m *migrator) interrupt(ctx context.Context, table string) {
	_ = pgx.BeginFunc(ctx, m.patient, func(tx pgx.Tx) error { // if it fails, the next attempt does
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '3s'`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `LOCK TABLE `+pgx.Identifier{table}.Sanitize()+` IN SHARE UPDATE EXCLUSIVE MODE`)
		return err
	})
}

// watchIndex reports how far an index is, every few seconds, until done is called.
func (m *migrator) watchIndex(ctx context.Context, s Step) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			var phase string
			var part float64
			var locker int
			err := m.brief.QueryRow(ctx, `SELECT phase, 100.0 * blocks_done / greatest(blocks_total, 1), coalesce(current_locker_pid, 0)
				FROM pg_stat_progress_create_index WHERE datname = current_database()`).Scan(&phase, &part, &locker)
			switch {
			case err != nil: // between two statements there is nothing to report
			case locker > 0:
				m.waiting(fmt.Sprintf("%s: %s; it waits until process %d of the database ends its transaction", s.Name, phase, locker))
			default:
				m.waiting(fmt.Sprintf("%s: %s, %.0f %%", s.Name, phase, part))
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
