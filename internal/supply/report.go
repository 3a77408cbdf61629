package supply

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
)

// MaxEvents is the maximum number of events in one call.
const MaxEvents = 1000

// Item is one event as the caller wrote it.
type Item struct {
	ID, PhoneNumber, Type, EffectiveAt, Network, Level, Reason, ChurnAt, Voids, Note string
}

// Receipt is the result of one call.
type Receipt struct {
	Results         []Result  // one for each event, in order
	SuppliedThrough time.Time // of the operator; zero if the supplier is no operator or has never given one
}

// Outcomes of an event.
const (
	Applied   = "APPLIED"   // stored, and in effect
	NoEffect  = "NO_EFFECT" // stored, but it changes nothing given the other events that are known
	Conflict  = "CONFLICT"  // stored; one side of a port that the other side has not reported
	Duplicate = "DUPLICATE" // the same event was reported before
	Refused   = "REFUSED"   // not stored
)

// Result is the result of one event.
type Result struct {
	ID      string
	Outcome string
	Field   string // the wrong field of a refused event
	Reason  string
	Message string
}

// ApplyEvents applies reported events. Each is accepted or refused on its own;
// the accepted ones are committed together. Through, if it is not zero, states
// that everything which took effect up to then has been reported; without events
// it means that there was nothing to report up to then.
func (s *Service) ApplyEvents(ctx context.Context, from Supplier, list []Item, through time.Time) (r Receipt, err error) {
	now := s.now()
	var wrong fault.Form
	wrong.Check(len(list) <= MaxEvents, "events", fault.TooLong, "Send at most "+strconv.Itoa(MaxEvents)+" events at a time.")
	wrong.Check(!through.After(now.Add(maxClockSkew)), "through", fault.NotAllowed, "The time is in the future. Give a time that has passed.")
	operator := slices.Contains(from.Authorities, line.Operator)
	wrong.Check(through.IsZero() || operator, "through", fault.NotAllowed, "Only an operator can give through. Leave it out.")
	wrong.Check(len(list) > 0 || !through.IsZero(), "events", fault.Required,
		"Send events. If there is nothing to report, give in through the time up to which that is so.")
	if err := wrong.Err(); err != nil {
		return Receipt{}, err
	}
	err = s.inTx(ctx, func(tx pg.Tx) error {
		r, err = s.applyReport(ctx, tx, from, list, through, now)
		return err
	})
	if err != nil {
		return Receipt{}, err
	}
	return r, nil
}

func (s *Service) applyReport(ctx context.Context, tx pg.Tx, from Supplier, list []Item, through, now time.Time) (Receipt, error) {
	r, err := s.rulesAt(ctx, tx, now)
	if err != nil {
		return Receipt{}, err
	}
	supplier, err := s.resolve(ctx, tx, from, r)
	if err != nil {
		return Receipt{}, err
	}
	items := make([]item, len(list))
	for i := range list {
		items[i].parseItem(&list[i], s.Region, supplier, r)
	}
	newest, _, err := s.applyItems(ctx, tx, supplier, r, items, nil)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{Results: make([]Result, len(items))}
	for i := range items {
		receipt.Results[i] = items[i].result
	}
	if supplier.network == 0 {
		return receipt, nil
	}
	// Events alone do not mean that there were no others; only through states
	// that. Without it only known_since is set, by the operator's first report.
	if !through.IsZero() || newest != line.Never {
		if err := line.ExtendCoverage(ctx, tx, supplier.network, time.Time{}, through, now); err != nil {
			return Receipt{}, err
		}
	}
	var suppliedThrough *time.Time
	const query = `SELECT supplied_through FROM supply_coverage WHERE network = $1`
	if err := tx.QueryRow(ctx, query, supplier.network).Scan(&suppliedThrough); err == nil {
		receipt.SuppliedThrough = orZero(suppliedThrough)
	}
	return receipt, nil
}
