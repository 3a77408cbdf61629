package linestore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// CoverageHistory is the coverage at every time, in memory, for work that computes
// many past answers. [CoverageAt] reads that of one time.
type CoverageHistory struct {
	changes map[coverageKey][]coverageChange // in the order of their time
}

type coverageKey struct {
	network numbering.Network
	topic   line.Topic
}

type coverageChange struct {
	at   time.Time
	span line.Span
}

// ReadCoverageHistory reads the coverage of all times.
func ReadCoverageHistory(ctx context.Context, from pg.DB) (*CoverageHistory, error) {
	rows, err := from.Query(ctx, `SELECT network, topic, at, known_since, complete_since, supplied_through, doubtful
		FROM supply_coverage_history ORDER BY network, topic, at`)
	if err != nil {
		return nil, fmt.Errorf("linestore: read the history of the coverage: %w", err)
	}
	defer rows.Close()
	h := &CoverageHistory{changes: make(map[coverageKey][]coverageChange)}
	for rows.Next() {
		var key coverageKey
		var c coverageChange
		var known, complete, through *time.Time
		if err := rows.Scan(&key.network, &key.topic, &c.at, &known, &complete, &through, &c.span.Doubtful); err != nil {
			return nil, fmt.Errorf("linestore: read the history of the coverage: %w", err)
		}
		c.span.KnownSince, c.span.CompleteSince, c.span.Through = orZero(known), orZero(complete), orZero(through)
		h.changes[key] = append(h.changes[key], c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("linestore: read the history of the coverage: %w", err)
	}
	return h, nil
}

// At returns the coverage that each network had at a time.
func (h *CoverageHistory) At(at time.Time) func(numbering.Network) line.Coverage {
	span := func(n numbering.Network, t line.Topic) line.Span {
		changes := h.changes[coverageKey{n, t}]
		i, found := slices.BinarySearchFunc(changes, at, func(c coverageChange, at time.Time) int { return c.at.Compare(at) })
		if found {
			i++
		}
		if i == 0 {
			return line.Span{}
		}
		return changes[i-1].span
	}
	return func(n numbering.Network) line.Coverage {
		return line.Coverage{Lifecycle: span(n, line.TopicLifecycle), SIM: span(n, line.TopicSIM), Ports: span(line.Nation, line.TopicPort)}
	}
}
