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

// Half is a claim or a release of a port that has no other half: it changes
// nothing, and staff should ask the two networks.
type Half struct {
	Number      phone.Number
	Seq         int64
	Type        string // PORT_CLAIMED or PORT_RELEASED
	ID          string // the supplier's
	Network     string // code of the network that said it
	Recipient   string // code of the network to which the number is said to go
	Holder      string // code of the network with which the number is; empty when nobody knows
	EffectiveAt time.Time
	ToldAt      time.Time
}

// Conflicts lists up to limit claims and releases that have no other half and
// were not withdrawn, by number.
func (d *Desk) Conflicts(ctx context.Context, limit int) ([]Half, error) {
	r, err := d.rulesAt(ctx, d.Pool, d.now())
	if err != nil {
		return nil, err
	}
	var (
		halves []Half
		after  phone.Number
	)
	for len(halves) < limit {
		numbers, err := d.withPorts(ctx, after)
		if err != nil {
			return nil, err
		}
		if len(numbers) == 0 {
			break
		}
		after = numbers[len(numbers)-1]
		// The events say all: a row would only add the baseline of a number
		// that has none.
		histories, err := line.Histories(ctx, d.Pool, numbers, nil)
		if err != nil {
			return nil, err
		}
		for _, n := range numbers {
			halves = append(halves, halvesOf(n, histories[n], r)...)
		}
	}
	return halves[:min(len(halves), limit)], nil
}

// withPorts returns the next numbers that a claim or a release speaks of.
func (d *Desk) withPorts(ctx context.Context, after phone.Number) ([]phone.Number, error) {
	const block = 1000
	// Each kind is read in the order of its index.
	rows, err := d.Pool.Query(ctx, `(SELECT DISTINCT number FROM line_event WHERE kind = 12 AND number > $1 ORDER BY number LIMIT $2)
		UNION (SELECT DISTINCT number FROM line_event WHERE kind = 13 AND number > $1 ORDER BY number LIMIT $2) ORDER BY number LIMIT $2`, after.Int(), block)
	if err != nil {
		return nil, fmt.Errorf("supply: look for ports: %w", err)
	}
	numbers, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (phone.Number, error) {
		var key int64
		err := row.Scan(&key)
		n, _ := phone.FromInt(key)
		return n, err
	})
	if err != nil {
		return nil, fmt.Errorf("supply: look for ports: %w", err)
	}
	return numbers, nil
}

func halvesOf(n phone.Number, h *line.History, r rules) []Half {
	row, outcomes := line.Fold(h.Base, h.Events, line.Forever)
	held, _ := r.plan.Holder(n, r.now)
	var halves []Half
	for i := range h.Events {
		if !unmet(h.Events, outcomes, i) {
			continue
		}
		e := &h.Events[i]
		halves = append(halves, Half{
			Number: n, Seq: e.Seq, Type: e.Kind.String(), ID: e.ID, Network: r.plan.Code(e.Network), Recipient: r.plan.Code(recipient(e)),
			Holder: r.plan.Code(holderOf(&row, held.Network)), EffectiveAt: e.Effective.Time(), ToldAt: e.Told,
		})
	}
	return halves
}

// unmet reports whether an event is half of a port that never came about. A
// number that went later where the half said it would is no conflict: the
// clearing house told the port, or the half was told twice.
func unmet(events []line.Event, outcomes []line.Outcome, i int) bool {
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

// recipient returns to which network an event says that the number goes; 0 if
// it does not speak of a port.
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
