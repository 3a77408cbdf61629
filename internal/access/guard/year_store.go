package guard

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard/sketch"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// What a subject has verified in the year is stored about once an hour, by whichever
// node comes first: every node has all of it, and the reports of the last 25 hours have
// what came since. A node that starts reads it and then those reports. No number is
// stored with it.

const (
	yearInterval = time.Hour
	yearsAtOnce  = 50 // how many subjects one Sync stores, so that it stays short
)

// load reads the key of the hashes and the stored years, once after the start.
func (g *Guard) load(ctx context.Context, now time.Time) error {
	if g.key.Load() != nil {
		return nil
	}
	var text []byte
	if err := g.Pool.QueryRow(ctx, `SELECT key FROM guard_key`).Scan(&text); err != nil {
		return fmt.Errorf("guard: read the key of the hashes: %w", err)
	}
	var id uuid.UUID
	var isSponsor bool
	var sponsor uuid.NullUUID
	var since sql.NullTime
	var storedAt time.Time
	var numbers, recent, missed, blocks []byte
	err := forEachRow(ctx, g.Pool, []any{&id, &isSponsor, &sponsor, &since, &storedAt, &numbers, &recent, &missed, &blocks}, func() {
		o := g.subject(id, isSponsor)
		if sponsor.Valid {
			o = g.sponsored(id, sponsor.UUID)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		y := &o.year
		y.since, y.storedAt = since.Time, storedAt
		y.numbers.Merge(numbers, yearBits)
		y.recent.Merge(recent, recentBits)
		y.missed.Merge(missed, recentBits)
		if err := y.blocks.Merge(blocks); err != nil {
			g.Log.LogAttrs(ctx, slog.LevelWarn, "the guard cannot read what an organisation has covered in this year; it continues without it", slog.String("subject", id.String()))
		}
	}, `SELECT subject_id, is_sponsor, sponsor_id, since, stored_at, numbers, recent, missed, blocks FROM guard_year WHERE year = $1`, yearOf(dayOf(now)))
	if err != nil {
		return err
	}
	g.key.Store(&sketch.Key{binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])})
	return nil
}

// storeYears stores the years of some subjects that have changed.
func (g *Guard) storeYears(ctx context.Context, now time.Time) error {
	var due []*subject
	var ids []uuid.UUID
	var years, counted []int64
	var areSponsors []bool
	var sponsors []uuid.NullUUID
	var since []*time.Time
	var numbers, recent, missed, blocks [][]byte
	for _, o := range *g.subjects.Load() {
		o.mu.Lock()
		if y := &o.year; y.changed && now.Sub(y.storedAt) >= yearInterval {
			due, ids, years, counted = append(due, o), append(ids, o.id), append(years, int64(y.year)), append(counted, y.numbers.Count())
			areSponsors, sponsors, since = append(areSponsors, o.isSponsor), append(sponsors, o.sponsorID()), append(since, timeOrNil(y.since))
			numbers, recent, missed = append(numbers, y.numbers.Registers()), append(recent, y.recent.Registers()), append(missed, y.missed.Registers())
			blocks = append(blocks, y.blocks.Encode())
			y.changed = false
		}
		o.mu.Unlock()
		if len(due) == yearsAtOnce {
			break
		}
	}
	if len(due) == 0 {
		return nil
	}
	// Another node may just have stored the same. What it lacks is in a report.
	_, err := g.Pool.Exec(ctx, `INSERT INTO guard_year AS y (subject_id, year, is_sponsor, sponsor_id, since, stored_at, counted, numbers, recent, missed, blocks)
		SELECT s.id, s.year, s.is_sponsor, s.sponsor_id, s.since, $3::timestamptz, s.counted, s.numbers, s.recent, s.missed, s.blocks
		FROM unnest($1::uuid[], $2::bigint[], $4::boolean[], $5::uuid[], $6::timestamptz[], $7::bigint[], $8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[])
			AS s (id, year, is_sponsor, sponsor_id, since, counted, numbers, recent, missed, blocks)
		ON CONFLICT (subject_id, year) DO UPDATE SET since = excluded.since, stored_at = excluded.stored_at, counted = excluded.counted,
			numbers = excluded.numbers, recent = excluded.recent, missed = excluded.missed, blocks = excluded.blocks
		WHERE y.stored_at < excluded.stored_at - interval '50 minutes'`,
		ids, years, now, areSponsors, sponsors, since, counted, numbers, recent, missed, blocks)
	for _, o := range due {
		o.mu.Lock()
		if err != nil {
			o.year.changed = true
		} else {
			o.year.storedAt = now
		}
		o.mu.Unlock()
	}
	return fault.Wrap(err, "guard: store the year")
}

// sponsorID returns the id of the sponsor of an organisation.
func (o *subject) sponsorID() (id uuid.NullUUID) {
	if s := o.sponsor.Load(); s != nil {
		id = pg.ID(s.id)
	}
	return id
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// readYears reads when staff last released each subject from a finding about the year
// and, if all is set, when its year was last stored.
func readYears(ctx context.Context, tx pg.Tx, now time.Time, all bool, s *state) error {
	s.released, s.yearStored = make(map[uuid.UUID]time.Time), make(map[uuid.UUID]time.Time)
	var id uuid.UUID
	var at time.Time
	year := yearOf(dayOf(now))
	err := forEachRow(ctx, tx, []any{&id, &at}, func() { s.released[id] = at },
		`SELECT coalesce(entity_id, sponsor_id), max(released_at) FROM guard_alert
		WHERE kind IN ('harvest', 'harvest-misses') AND released_at >= $1 GROUP BY 1`, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || !all {
		return err
	}
	return forEachRow(ctx, tx, []any{&id, &at}, func() { s.yearStored[id] = at }, `SELECT subject_id, stored_at FROM guard_year WHERE year = $1`, year)
}
