package linestore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Histories returns the histories of numbers; rows are their rows. For a number
// with a row but without events the row itself is the baseline.
func Histories(ctx context.Context, from pg.DB, numbers []phone.Number, rows map[phone.Number]line.Row) (map[phone.Number]*line.History, error) {
	all := make(map[phone.Number]*line.History, len(numbers))
	keys := make([]int64, len(numbers))
	for i, n := range numbers {
		keys[i] = n.Int()
		all[n] = &line.History{}
	}
	found, err := from.Query(ctx, `SELECT number, seq, reported_at, effective, supplier, import, kind, authority, network, peer, code, bits,
		coalesce(hold, 0), coalesce(until, -2147483648), coalesce(ended_after, -2147483648), coalesce(target, 0), coalesce(event_id, ''),
		coalesce(note, ''), base_import, coalesce(base_as_of, -2147483648), base_network, base_state, coalesce(base_bits, 0), coalesce(base_since, -2147483648),
		coalesce(base_tenure, -2147483648), coalesce(base_sim, -2147483648), coalesce(base_until, -2147483648)
		FROM line_event WHERE number = ANY($1) ORDER BY number, seq`, keys)
	if err != nil {
		return nil, fmt.Errorf("linestore: read events: %w", err)
	}
	defer found.Close()
	for found.Next() {
		n, e, err := scanEvent(found)
		if err != nil {
			return nil, fmt.Errorf("linestore: read events: %w", err)
		}
		h := all[n]
		if h.Events = append(h.Events, e); e.Base != nil && !e.Restates() {
			h.Base = e.Base
		}
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("linestore: read events: %w", err)
	}
	for n, h := range all {
		if r, ok := rows[n]; ok && len(h.Events) == 0 && r.Baseline != 0 {
			base := r.AsBaseline()
			h.Base = &base
		}
	}
	return all, nil
}

func scanEvent(found interface{ Scan(...any) error }) (phone.Number, line.Event, error) {
	var (
		e                      line.Event
		b                      line.Baseline
		key                    int64
		kind, by, bits         int16
		baseImport             *int32
		baseNetwork, baseState *int16
	)
	err := found.Scan(&key, &e.Seq, &e.ReportedAt, &e.Effective, &e.Supplier, &e.Import, &kind, &by, &e.Network, &e.Peer, &e.Code, &bits,
		&e.Hold, &e.Until, &e.EndedAfter, &e.Target, &e.ID, &e.Note, &baseImport, &b.AsOf, &baseNetwork, &baseState, &b.Bits, &b.StateSince, &b.Tenure,
		&b.SIM, &b.Until)
	if err != nil {
		return phone.Number{}, e, err
	}
	e.Kind, e.Authority, e.ReportedAt = line.Kind(kind), line.Authority(by), e.ReportedAt.UTC() //nolint:gosec // small codes that we wrote
	e.Day, e.Number, e.First, e.Outside = bits&eventDay != 0, bits&eventNumber != 0, bits&eventFirst != 0, bits&eventOutside != 0
	e.Counted = bits&eventCounted != 0
	if baseImport != nil && baseNetwork != nil && baseState != nil {
		b.Import, b.Network, b.State = *baseImport, numbering.Network(*baseNetwork), line.State(*baseState)
		e.Base = &b
	}
	n, _ := phone.FromInt(key)
	return n, e, nil
}

// ReplaceOpen stores the open events of numbers, in place of those that were stored
// before.
func ReplaceOpen(ctx context.Context, tx pg.Tx, numbers []phone.Number, open []line.OpenEvent) error {
	if len(numbers) == 0 {
		return nil
	}
	keys := make([]int64, len(numbers))
	for i, n := range numbers {
		keys[i] = n.Int()
	}
	if _, err := tx.Exec(ctx, `DELETE FROM line_open WHERE number = ANY($1)`, keys); err != nil {
		return fmt.Errorf("linestore: replace open events: %w", err)
	}
	if len(open) == 0 {
		return nil
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"line_open"}, []string{"number", "seq", "outcome", "half", "hold", "network", "reported_at"},
		pgx.CopyFromSlice(len(open), func(i int) ([]any, error) {
			o := &open[i]
			return []any{o.Number.Int(), o.Seq, int16(o.Outcome), o.Half, int16(o.Hold), int16(o.Network), o.ReportedAt}, nil
		}))
	if err != nil {
		return fmt.Errorf("linestore: store open events: %w", err)
	}
	return nil
}
