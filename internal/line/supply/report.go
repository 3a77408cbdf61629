package supply

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry/span"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// MaxEvents is the maximum number of events in one call.
const MaxEvents = 1000

// Item is one event as the caller wrote it.
type Item struct {
	ID, PhoneNumber, Type, EffectiveAt, Network, Level, Reason, Scope, ChurnAt, Voids, Note string

	FirstHolder bool
}

// Receipt is the result of one call.
type Receipt struct {
	Results         []Result    // one for each event, in order
	SuppliedThrough []Assurance // of the supplier's topics; none where it has never given one
}

// Outcomes of an event.
const (
	Applied   = "APPLIED"   // stored, and in effect
	NoEffect  = "NO_EFFECT" // stored, but it changes nothing given the other events that are known
	Waiting   = "WAITING"   // stored, without effect until a port is reported, or its other half, or staff confirm it
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

// Assurance states that everything of a topic that took effect up to a time has
// been reported.
type Assurance struct {
	Topic   line.Topic
	Through time.Time

	Doubtful bool // in a receipt: the topic is disbelieved, and does not count as fresh
}

// ApplyEvents applies reported events. Each is accepted or refused on its own;
// the accepted ones are committed together. Assurances say how far the reports
// reach; without events they mean that there was nothing to report up to then.
func (s *Service) ApplyEvents(ctx context.Context, from Supplier, list []Item, assured ...Assurance) (r Receipt, err error) {
	ctx, end := span.Start(ctx, "apply events")
	defer func() { end(err) }()
	now := s.now()
	var wrong fault.Form
	wrong.Check(len(list) <= MaxEvents, "events", fault.TooLong, "Send at most "+strconv.Itoa(MaxEvents)+" events at a time.")
	wrong.Check(len(list) > 0 || len(assured) > 0, "events", fault.Required,
		"Send events. If there is nothing to report, give in through the time up to which that is so.")
	for _, a := range assured {
		wrong.Check(!a.Through.After(now), "through", fault.NotAllowed, "The time is in the future. Give a time that has passed.")
		by := line.Operator
		if a.Topic == line.TopicPort {
			by = line.ClearingHouse
		}
		wrong.Check(slices.Contains(from.Authorities, by), "through", fault.NotAllowed,
			"An operator gives LIFECYCLE and SIM, and the clearing house PORT. Leave the others out.")
	}
	if err := wrong.Err(); err != nil {
		return Receipt{}, err
	}
	err = s.inTx(ctx, func(tx pg.Tx) error {
		r, err = s.applyReport(ctx, tx, from, list, assured, now)
		return err
	})
	if err != nil {
		return Receipt{}, err
	}
	return r, nil
}

func (s *Service) applyReport(ctx context.Context, tx pg.Tx, from Supplier, list []Item, assured []Assurance, now time.Time) (Receipt, error) {
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
	reported, _, err := s.applyItems(ctx, tx, supplier, r, items, nil)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{Results: make([]Result, len(items))}
	for i := range items {
		receipt.Results[i] = items[i].result
	}
	if err := linestore.ExtendCoverage(ctx, tx, now, supplier.extensions(reported, assured)...); err != nil {
		return Receipt{}, err
	}
	if supplier.network != 0 || slices.Contains(from.Authorities, line.ClearingHouse) {
		receipt.SuppliedThrough, err = suppliedThrough(ctx, tx, supplier.network)
	}
	return receipt, err
}

// extensions returns what a call adds to the coverage. Events alone do not mean
// that there were no others; only an assurance states that. Without one only the
// beginning of the supply is recorded.
func (by *resolvedSupplier) extensions(reported map[line.Topic]line.Instant, assured []Assurance) (all []linestore.Extension) {
	for topic := line.TopicLifecycle; topic <= line.TopicPort; topic++ {
		e := linestore.Extension{Network: by.network, Topic: topic}
		if topic == line.TopicPort {
			e.Network = line.Nation
		}
		_, supplied := reported[topic]
		for _, a := range assured {
			if a.Topic == topic {
				e.Through, supplied = a.Through, true
			}
		}
		if supplied {
			all = append(all, e)
		}
	}
	return all
}

// suppliedThrough returns up to when the topics of a supplier are supplied.
func suppliedThrough(ctx context.Context, from pg.DB, n numbering.Network) ([]Assurance, error) {
	all, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (a Assurance, err error) {
		err = row.Scan(&a.Topic, &a.Through, &a.Doubtful)
		a.Through = a.Through.UTC()
		return a, err
	}, `SELECT topic, supplied_through, doubtful FROM supply_coverage WHERE network = $1 AND supplied_through IS NOT NULL ORDER BY topic`, n)
	if err != nil {
		return nil, fmt.Errorf("supply: read the coverage: %w", err)
	}
	return all, nil
}
