package distribute

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// classInterval is how often the distributor looks whether a policy, a plan or the supply
// of a network has changed by the clock.
const classInterval = 5 * time.Second

// The values of a network's supply in class_told.
const (
	fresh = "fresh"
	stale = "stale"
)

// TellClasses tells everybody who watches what concerns many lines at once and nobody
// reports: a new policy or plan is in effect, a network's supply has become stale or is
// fresh again. Each is told once, whichever node looks, and whatever is stopped. What is
// there at the very first look is not news.
func (d *Distributor) TellClasses(ctx context.Context) error {
	return pg.InTx(ctx, d.Pool, func(tx pg.Tx) error {
		if _, mine, err := outbox.TryLockMark(ctx, tx); err != nil || !mine {
			return err
		}
		s, err := d.standings(ctx, tx, nil)
		if err != nil {
			return err
		}
		told, err := readTold(ctx, tx)
		if err != nil {
			return err
		}
		now, err := s.classes(ctx, tx)
		if err != nil {
			return err
		}
		all, err := watchlist.WhoWatches(ctx, tx)
		if err != nil {
			return err
		}
		events := make(map[feed.Owner][]feed.Event)
		for _, subject := range slices.Sorted(maps.Keys(now)) {
			before, value := told[subject], now[subject]
			if before == value {
				continue
			}
			if err := saveTold(ctx, tx, subject, value); err != nil {
				return err
			}
			if len(told) == 0 || before == "" && value == fresh { // that a supply starts is told with its first snapshot
				continue
			}
			if err := s.tellClass(ctx, tx, events, all, subject, before, value); err != nil {
				return err
			}
		}
		return feed.AppendAll(ctx, tx, events)
	})
}

// classes returns the present version or state of each subject of class events.
func (s *standings) classes(ctx context.Context, tx pg.Tx) (map[string]string, error) {
	now := map[string]string{"policy": strconv.Itoa(int(s.policy.Version)), "plan": strconv.Itoa(int(s.plan.Version))}
	coverage, err := linestore.CoverageAt(ctx, tx, s.at)
	if err != nil {
		return nil, err
	}
	for _, n := range s.plan.Networks() {
		row := line.NoRow()
		row.State, row.Network = line.StateActive, n // a line that has nothing but the supply of its network
		switch line.At(&line.Facts{Row: row, Coverage: coverage}, s.policy, s.at).Reason {
		case line.ReasonStale:
			now["supply "+s.plan.Code(n)] = stale
		case "":
			now["supply "+s.plan.Code(n)] = fresh
		default: // nobody supplies it
		}
	}
	return now, nil
}

// versionData is the data of an event about a new policy or plan.
type versionData struct {
	Previous int `json:"previous"`
	Version  int `json:"version"`
}

// tellClass adds what has become of a subject to the feeds of all who watch.
func (s *standings) tellClass(ctx context.Context, tx pg.Tx, events map[feed.Owner][]feed.Event, all []uuid.UUID, subject, before, value string) error {
	event := feed.Event{Type: subject + ".v1.changed", Time: s.at}
	code, isSupply := strings.CutPrefix(subject, "supply ")
	if !isSupply {
		data := versionData{}
		data.Previous, _ = strconv.Atoi(before)
		data.Version, _ = strconv.Atoi(value)
		event.Data = data
		for _, entity := range all {
			o := feed.Owner{Entity: entity, Mode: "live"}
			events[o] = append(events[o], event)
		}
		return nil
	}
	event.Type = "supply.v1.resumed"
	if value == stale {
		event.Type = "supply.v1.stale"
	}
	n, _ := s.plan.Network(code)
	return s.tellSupply(ctx, tx, events, all, n, nil, event)
}

// supplyData is the data of an event about the supply of a network.
type supplyData struct {
	Lines          *int64 `json:"lines,omitzero"` // that were added or withdrawn
	MobileNetwork  string `json:"mobileNetwork"`
	WatchedNumbers int64  `json:"watchedNumbers"` // of the organisation's lists, in the ranges of the network
}

// tellSupply adds an event about the supply of a network to the feeds of all who watch,
// each with how many of its numbers are concerned.
func (s *standings) tellSupply(ctx context.Context, tx pg.Tx, events map[feed.Owner][]feed.Event, all []uuid.UUID, n numbering.Network, lines *int64, event feed.Event) error {
	// It reads the lists of all; a limit that it reaches once, it would reach again and again.
	if _, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0`); err != nil {
		return fmt.Errorf("distribute: count without a limit: %w", err)
	}
	counts, err := watchlist.CountWithin(ctx, tx, intervals(s.plan, n, s.at))
	if err != nil {
		return err
	}
	for _, entity := range all {
		o := feed.Owner{Entity: entity, Mode: "live"}
		event.Data = &supplyData{Lines: lines, MobileNetwork: s.networkName(n), WatchedNumbers: counts[entity]}
		events[o] = append(events[o], event)
	}
	return nil
}

// intervals returns the numbers that are allocated to a network, in ascending order.
func intervals(plan *numbering.Plan, n numbering.Network, at time.Time) (all []watchlist.Interval) {
	var bounds []int64
	for _, r := range plan.Ranges() {
		if r.ActiveAt(at) {
			prefix, _ := strconv.ParseInt(r.Prefix, 10, 64)
			size := plan.RangeCapacity(r)
			bounds = append(bounds, prefix*size, (prefix+1)*size)
		}
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	for i := range len(bounds) - 1 { // between two bounds all numbers are in the same range
		first, ok := phone.FromInt(bounds[i])
		if r, allocated := plan.RangeOf(first, at); !ok || !allocated || r.Network != n {
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last].End == bounds[i] {
			all[last].End = bounds[i+1]
			continue
		}
		all = append(all, watchlist.Interval{Start: bounds[i], End: bounds[i+1]})
	}
	return all
}

func readTold(ctx context.Context, tx pg.Tx) (map[string]string, error) {
	told := make(map[string]string)
	var subject, value string
	err := pg.ForEach(ctx, tx, []any{&subject, &value}, func() error {
		told[subject] = value
		return nil
	}, `SELECT subject, value FROM class_told`)
	return told, fault.Wrap(err, "distribute: read the last classes")
}

func saveTold(ctx context.Context, tx pg.Tx, subject, value string) error {
	_, err := tx.Exec(ctx, `INSERT INTO class_told (subject, value) VALUES ($1, $2) ON CONFLICT (subject) DO UPDATE SET value = excluded.value`, subject, value)
	return fault.Wrap(err, "distribute: record a class")
}

func (s *standings) networkName(n numbering.Network) string {
	return cmp.Or(s.plan.Name(n), line.UnknownNetwork)
}
