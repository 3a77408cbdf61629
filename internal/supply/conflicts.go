package supply

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
)

// UnmatchedPort is a claim or a release of a port that the other network has not
// reported. It changes nothing, and staff should ask the two networks.
type UnmatchedPort struct {
	Number      phone.Number
	Seq         int64
	Type        string // PORT_CLAIMED or PORT_RELEASED
	ID          string // the supplier's
	Network     string // code of the network that reported it
	Recipient   string // code of the network to which the number would go
	Holder      string // code of the network that has the number; empty if it is not known
	EffectiveAt time.Time
	ReportedAt  time.Time
}

// Conflicts lists up to limit unmatched claims and releases that have not been
// voided, by number.
func (s *Service) Conflicts(ctx context.Context, limit int) ([]UnmatchedPort, error) {
	r, err := s.rulesAt(ctx, s.Pool, s.now())
	if err != nil {
		return nil, err
	}
	var (
		halves []UnmatchedPort
		after  phone.Number
	)
	for len(halves) < limit {
		numbers, err := s.numbersWithPorts(ctx, after)
		if err != nil {
			return nil, err
		}
		if len(numbers) == 0 {
			break
		}
		after = numbers[len(numbers)-1]
		// No rows: a row only adds the baseline of a number without events, and
		// these numbers have events.
		histories, err := line.Histories(ctx, s.Pool, numbers, nil)
		if err != nil {
			return nil, err
		}
		for _, n := range numbers {
			halves = append(halves, unmatchedPorts(n, histories[n], r)...)
		}
	}
	return halves[:min(len(halves), limit)], nil
}

// numbersWithPorts returns the next numbers that have a claim or a release.
func (s *Service) numbersWithPorts(ctx context.Context, after phone.Number) ([]phone.Number, error) {
	const block = 1000
	// One query for each kind, so that each reads in the order of the index.
	rows, err := s.Pool.Query(ctx, `(SELECT DISTINCT number FROM line_event WHERE kind = 12 AND number > $1 ORDER BY number LIMIT $2)
		UNION (SELECT DISTINCT number FROM line_event WHERE kind = 13 AND number > $1 ORDER BY number LIMIT $2) ORDER BY number LIMIT $2`, after.Int(), block)
	if err != nil {
		return nil, fmt.Errorf("supply: find ports: %w", err)
	}
	numbers, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (phone.Number, error) {
		var key int64
		err := row.Scan(&key)
		n, _ := phone.FromInt(key)
		return n, err
	})
	if err != nil {
		return nil, fmt.Errorf("supply: find ports: %w", err)
	}
	return numbers, nil
}

func unmatchedPorts(n phone.Number, h *line.History, r rules) []UnmatchedPort {
	row, outcomes := line.Fold(h.Base, h.Events, line.Forever)
	held, _ := r.plan.RangeOf(n, r.now)
	var halves []UnmatchedPort
	for i := range h.Events {
		if !isUnmatched(h.Events, outcomes, i) {
			continue
		}
		e := &h.Events[i]
		halves = append(halves, UnmatchedPort{
			Number: n, Seq: e.Seq, Type: e.Kind.String(), ID: e.ID, Network: r.plan.Code(e.Network), Recipient: r.plan.Code(recipient(e)),
			Holder: r.plan.Code(holderOf(&row, held.Network)), EffectiveAt: e.Effective.Time(), ReportedAt: e.ReportedAt,
		})
	}
	return halves
}

// isUnmatched reports whether an event is a claim or a release of a port that
// never took effect. It is matched if the number was ported to the same network
// at that time or later: the clearing house reported the port, or the network
// reported its half twice.
func isUnmatched(events []line.Event, outcomes []line.Outcome, i int) bool {
	half := &events[i]
	if outcomes[i] != line.HalfPort {
		return false
	}
	for j := range events {
		e := &events[j]
		if outcomes[j] == line.Applied && e.Effective >= half.Effective && recipient(e) != 0 && recipient(e) == recipient(half) {
			return false
		}
	}
	return true
}

// recipient returns the network to which an event ports the number; 0 if the
// event is not about a port.
func recipient(e *line.Event) numbering.Network {
	switch e.Kind {
	case line.ClaimPort:
		return e.Network
	case line.ReleasePort, line.Port:
		return e.Peer
	default:
		return 0
	}
}
