package line

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// History is everything that was reported about a number.
type History struct {
	Base   *Baseline // nil when the row has only events
	Events []Event   // in the order in which they were reported
}

// Row returns the row that results from the history.
func (h *History) Row() Row {
	r, _ := Fold(h.Base, h.Events, Forever)
	return r
}

// Forever is later than every event.
const Forever Instant = 1<<31 - 1

// Histories returns the histories of numbers; rows are their rows. For a number
// with a row but without events the row itself is the baseline.
func Histories(ctx context.Context, from pg.DB, numbers []phone.Number, rows map[phone.Number]Row) (map[phone.Number]*History, error) {
	all := make(map[phone.Number]*History, len(numbers))
	keys := make([]int64, len(numbers))
	for i, n := range numbers {
		keys[i] = n.Int()
		all[n] = &History{}
	}
	found, err := from.Query(ctx, `SELECT number, seq, told_at, effective, supplier, import, kind, authority, network, peer, code,
		coalesce(until, -2147483648), coalesce(after, -2147483648), coalesce(voids, 0), coalesce(event_id, ''), coalesce(note, ''),
		base_import, base_network, base_state, coalesce(base_since, -2147483648), coalesce(base_tenure, -2147483648),
		coalesce(base_sim, -2147483648) FROM line_event WHERE number = ANY($1) ORDER BY number, seq`, keys)
	if err != nil {
		return nil, fmt.Errorf("line: read events: %w", err)
	}
	defer found.Close()
	for found.Next() {
		n, e, err := scanEvent(found)
		if err != nil {
			return nil, fmt.Errorf("line: read events: %w", err)
		}
		h := all[n]
		if h.Events = append(h.Events, e); e.Base != nil {
			h.Base = e.Base
		}
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("line: read events: %w", err)
	}
	for n, h := range all {
		if r, ok := rows[n]; ok && len(h.Events) == 0 && r.Baseline != 0 {
			base := r.AsBaseline()
			h.Base = &base
		}
	}
	return all, nil
}

func scanEvent(found interface{ Scan(...any) error }) (phone.Number, Event, error) {
	var (
		e                      Event
		key                    int64
		kind, by, code         int16
		baseImport             *int32
		baseNetwork, baseState *int16
		since, tenure, simAt   Instant
	)
	err := found.Scan(&key, &e.Seq, &e.ReportedAt, &e.Effective, &e.Supplier, &e.Import, &kind, &by, &e.Network, &e.Peer, &code,
		&e.Until, &e.EndedAfter, &e.Voids, &e.ID, &e.Note, &baseImport, &baseNetwork, &baseState, &since, &tenure, &simAt)
	if err != nil {
		return phone.Number{}, e, err
	}
	e.Kind, e.Authority, e.Code, e.ReportedAt = Kind(kind), Authority(by), Code(code), e.ReportedAt.UTC() //nolint:gosec // small codes that we wrote
	if baseImport != nil && baseNetwork != nil && baseState != nil {
		e.Base = &Baseline{
			Import: *baseImport, Network: numbering.Network(*baseNetwork), State: State(*baseState), StateSince: since, Tenure: tenure, SIM: simAt,
		}
	}
	n, _ := phone.FromInt(key)
	return n, e, nil
}
