package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
)

// The lines of the bench are the numbers from firstNumber on, one after the
// other: 0801 to 0818 are all mobile numbers of Nigeria.
const (
	firstNumber  = 234_801_000_0000
	firstPrefix  = 234_801
	lastPrefix   = 234_818
	perPrefix    = 10_000_000
	mostLines    = (lastPrefix - firstPrefix + 1) * perPrefix
	bite         = 500_000 // lines in one statement
	leastLoading = 10_000  // lines a second; slower than that, something is stuck
)

// makePlan gives all prefixes of the bench to one network, whose supply is
// whole and fresh: every answer is NORMAL.
func (w *world) makePlan(ctx context.Context) error {
	var csv strings.Builder
	csv.WriteString("prefix,network,name,allocated,withdrawn\n")
	for prefix := firstPrefix; prefix <= lastPrefix; prefix++ {
		csv.WriteString(strconv.Itoa(prefix) + ",COBALT,Cobalt,2001-01-01,\n")
	}
	rows, err := numbering.ReadCSV(strings.NewReader(csv.String()))
	if err != nil {
		return err
	}
	plan, err := (&numbering.Book{Pool: w.pool, Now: time.Now}).Set(ctx, rows, "the bench", time.Time{})
	if err != nil {
		return err
	}
	network, ok := plan.Network("COBALT")
	if !ok {
		return errors.New("bench: the plan does not have its own network")
	}
	w.network = network
	_, err = w.pool.Exec(ctx, `INSERT INTO supply_coverage (network, known_since, supplied_through, updated_at)
		SELECT id, now() - interval '1 year', now(), now() FROM network`)
	if err != nil {
		return fmt.Errorf("bench: make the coverage: %w", err)
	}
	return nil
}

// load adds lines until there are so many, and brings them into memory.
func (w *world) load(ctx context.Context, lines int64, show *display) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute+time.Duration(lines/leastLoading)*time.Second)
	defer cancel()
	if lines > w.lines {
		bar := show.begin("load lines", lines-w.lines)
		for w.lines < lines {
			n := min(bite, lines-w.lines)
			_, err := w.pool.Exec(ctx, `INSERT INTO line_now (number, version, baseline, network, state, state_since, tenure_start)
				SELECT $1::bigint + n, 1, 1, $3, $4, -100000000, -100000000 FROM generate_series(0, $2::bigint - 1) n`,
				firstNumber+w.lines, n, w.network, line.StateActive)
			if err != nil {
				bar.end()
				return fmt.Errorf("bench: load lines: %w", err)
			}
			w.lines += n
			bar.add(n)
		}
		bar.end()
	}
	show.say("vacuum and checkpoint")
	for _, sql := range []string{`VACUUM (ANALYZE) line_now`, `CHECKPOINT`} {
		if _, err := w.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("bench: %s: %w", sql, err)
		}
	}
	show.say("bring %s lines into memory", grouped(float64(w.lines)))
	return w.prewarm(ctx)
}

// prewarm brings the lines and their key into memory: with PostgreSQL's own
// extension where it is installed, otherwise by reading all of it.
func (w *world) prewarm(ctx context.Context) error {
	var installed bool
	err := w.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_prewarm')`).Scan(&installed)
	if err != nil {
		return fmt.Errorf("bench: look for pg_prewarm: %w", err)
	}
	if !installed {
		return w.readAll(ctx)
	}
	// The key last: where not all fits, it is what must stay.
	for _, sql := range []string{`CREATE EXTENSION IF NOT EXISTS pg_prewarm`, `SELECT pg_prewarm('line_now')`, `SELECT pg_prewarm('line_now_pkey')`} {
		if _, err := w.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("bench: prewarm: %w", err)
		}
	}
	return nil
}

// readAll reads the table, then its key.
func (w *world) readAll(ctx context.Context) error {
	err := pg.InTx(ctx, w.pool, func(tx pg.Tx) error {
		for _, sql := range []string{`SELECT count(state_since) FROM line_now`, `SET LOCAL enable_seqscan = off`, `SELECT count(number) FROM line_now`} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("bench: read all lines: %w", err)
	}
	return nil
}

// records returns how many answers the journal has of our organisation.
func (w *world) records(ctx context.Context) (n uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if err := w.pool.QueryRow(ctx, `SELECT count(*) FROM journal_entry WHERE entity_id = $1`, w.entity).Scan(&n); err != nil {
		return 0, fmt.Errorf("bench: count the records: %w", err)
	}
	return n, nil
}
