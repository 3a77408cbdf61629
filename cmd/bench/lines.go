package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// The lines of the bench are consecutive numbers from firstNumber on: 0801 to 0818
// are all Nigerian mobile numbers.
const (
	firstNumber = 234_801_000_0000
	firstPrefix = 234_801
	lastPrefix  = 234_818
	perPrefix   = 10_000_000
	maxLines    = (lastPrefix - firstPrefix + 1) * perPrefix
	insertBatch = 500_000 // lines in one statement
	minLoadRate = 10_000  // lines per second; loading that is slower is stuck
)

// createPlan gives all prefixes of the bench to one network with a complete and
// current supply, so that every answer is NORMAL.
func (t *testbed) createPlan(ctx context.Context) error {
	var csv strings.Builder
	csv.WriteString("prefix,network,name,allocated,withdrawn\n")
	for prefix := firstPrefix; prefix <= lastPrefix; prefix++ {
		csv.WriteString(strconv.Itoa(prefix) + ",COBALT,Cobalt,2001-01-01,\n")
	}
	rows, err := numbering.ReadCSV(strings.NewReader(csv.String()))
	if err != nil {
		return err
	}
	plan, err := (&numbering.Service{Pool: t.pool, Now: time.Now}).Set(ctx, rows, "the bench", time.Time{})
	if err != nil {
		return err
	}
	network, ok := plan.Network("COBALT")
	if !ok {
		return errors.New("bench: the plan does not have its own network")
	}
	t.network = network
	_, err = t.pool.Exec(ctx, `INSERT INTO supply_coverage (network, topic, known_since, supplied_through, updated_at)
		SELECT id, topic, now() - interval '1 year', now(), now() FROM network, generate_series(1, 2) AS topic`)
	if err != nil {
		return fmt.Errorf("bench: create the coverage: %w", err)
	}
	return nil
}

// load adds lines up to the given number, and loads them into memory.
func (t *testbed) load(ctx context.Context, lines int64, d *display) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute+time.Duration(lines/minLoadRate)*time.Second)
	defer cancel()
	if lines > t.lines {
		progress := d.start("load lines", lines-t.lines)
		for t.lines < lines {
			n := min(insertBatch, lines-t.lines)
			_, err := t.pool.Exec(ctx, `INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start)
				SELECT $1::bigint + n, 1, 1, $3, $4, 0, -100000000, -100000000 FROM generate_series(0, $2::bigint - 1) n`,
				firstNumber+t.lines, n, t.network, line.StateActive)
			if err != nil {
				return fmt.Errorf("bench: load lines: %w", err)
			}
			t.lines += n
			progress.add(n)
		}
	}
	d.printf("vacuum and checkpoint")
	for _, sql := range []string{`VACUUM (ANALYZE) line_now`, `CHECKPOINT`} {
		if _, err := t.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("bench: %s: %w", sql, err)
		}
	}
	d.printf("load %s lines into memory", grouped(float64(t.lines)))
	return t.prewarm(ctx)
}

// prewarm loads the lines and their primary key into memory: with PostgreSQL's
// extension pg_prewarm if it is installed, otherwise by reading everything.
func (t *testbed) prewarm(ctx context.Context) error {
	var installed bool
	err := t.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_prewarm')`).Scan(&installed)
	if err != nil {
		return fmt.Errorf("bench: look for pg_prewarm: %w", err)
	}
	if !installed {
		return t.readAll(ctx)
	}
	// The key comes last: if not everything fits, the key must stay in memory.
	for _, sql := range []string{`CREATE EXTENSION IF NOT EXISTS pg_prewarm`, `SELECT pg_prewarm('line_now')`, `SELECT pg_prewarm('line_now_pkey')`} {
		if _, err := t.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("bench: prewarm: %w", err)
		}
	}
	return nil
}

// readAll reads the table, then its primary key.
func (t *testbed) readAll(ctx context.Context) error {
	err := pg.InTx(ctx, t.pool, func(tx pg.Tx) error {
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

// countRecords returns the number of answers to our organisation in the journal.
func (t *testbed) countRecords(ctx context.Context) (n uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if err := t.pool.QueryRow(ctx, `SELECT count(*) FROM journal_entry WHERE entity_id = $1`, t.entity).Scan(&n); err != nil {
		return 0, fmt.Errorf("bench: count the records: %w", err)
	}
	return n, nil
}
