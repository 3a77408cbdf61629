package supply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply/share"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// changeSet is everything that one transaction changes. It is loaded once, the
// events are applied to it in memory, and it is saved once.
type changeSet struct {
	rules

	supplier *resolvedSupplier // who reports; not needed to apply a snapshot
	byNumber map[phone.Number]*linechange.Change
	ordered  []*linechange.Change // by number
	counts   dailyCounts
	seqs     *seqAllocator // for events that are derived

	usedIDs     map[usedID]phone.Number // ids that the supplier has used, and for which number
	pendingRoom int64                   // how many more of the operator's events may wait for a port

	share *share.Counter              // of an operator's or the clearing house's events; nil for others
	held  map[line.Topic]line.Instant // just before the earliest event that is beyond the share
}

// addNumber adds a number that has no row.
func (cs *changeSet) addNumber(n phone.Number) *linechange.Change {
	c := &linechange.Change{Number: n, Terms: cs.terms, Stored: line.NoRow(), Row: line.NoRow()}
	if cs.byNumber == nil {
		cs.byNumber = make(map[phone.Number]*linechange.Change)
	}
	cs.byNumber[n] = c
	cs.ordered = append(cs.ordered, c)
	slices.SortFunc(cs.ordered, func(a, b *linechange.Change) int { return compareNumbers(a.Number, b.Number) })
	return c
}

// load reads the rows of numbers, and the events of those that have any. With
// lock, nobody else can change them before the transaction ends. Without it,
// save fails with linestore.ErrConcurrentUpdate if somebody has.
func (s *Service) load(ctx context.Context, tx pg.DB, r rules, numbers []phone.Number, lock bool) (*changeSet, error) {
	slices.SortFunc(numbers, compareNumbers)
	numbers = slices.Compact(numbers)
	read := linestore.Rows
	if lock {
		read = linestore.LockedRows
	}
	rows, err := read(ctx, tx, numbers)
	if err != nil {
		return nil, err
	}
	cs := &changeSet{
		rules: r, counts: newDailyCounts(r),
		byNumber: make(map[phone.Number]*linechange.Change, len(numbers)), ordered: make([]*linechange.Change, 0, len(numbers)),
	}
	asOfs, err := readAsOfs(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	var withEvents []phone.Number
	all := make([]linechange.Change, len(numbers)) // one allocation for all
	for i, n := range numbers {
		c := &all[i]
		row, ok := rows[n]
		if !ok {
			row = line.NoRow()
		}
		c.Number, c.Terms, c.Stored, c.Row, c.BaseAsOf = n, r.terms, row, row, asOfs[row.Baseline]
		if row.HasEvents() {
			withEvents = append(withEvents, n)
		}
		cs.byNumber[n], cs.ordered = c, append(cs.ordered, c)
	}
	if len(withEvents) == 0 {
		return cs, nil
	}
	histories, err := linestore.Histories(ctx, tx, withEvents, rows)
	if err != nil {
		return nil, err
	}
	for n, h := range histories {
		cs.byNumber[n].StoredHistory = h
	}
	return cs, nil
}

// readAsOfs reads the as-of times of the snapshots that rows without events come from,
// by their imports. The first event keeps it with the baseline.
func readAsOfs(ctx context.Context, tx pg.DB, rows map[phone.Number]line.Row) (map[int32]line.Instant, error) {
	var imports []int32
	for _, row := range rows {
		if row.Baseline != 0 && !row.HasEvents() && !slices.Contains(imports, row.Baseline) {
			imports = append(imports, row.Baseline)
		}
	}
	if len(imports) == 0 {
		return nil, nil
	}
	found, err := tx.Query(ctx, `SELECT id, as_of FROM supply_import WHERE id = ANY($1) AND as_of IS NOT NULL`, imports)
	if err != nil {
		return nil, fmt.Errorf("supply: read the times of snapshots: %w", err)
	}
	asOfs := make(map[int32]line.Instant, len(imports))
	var id int32
	var asOf time.Time
	_, err = pgx.ForEachRow(found, []any{&id, &asOf}, func() error {
		asOfs[id] = line.InstantOf(asOf)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("supply: read the times of snapshots: %w", err)
	}
	return asOfs, nil
}
