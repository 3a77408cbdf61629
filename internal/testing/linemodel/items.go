package linemodel

import (
	"cmp"
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// item is something that may change the line at one place in the order of effect:
// an event, a port by two halves, or what a snapshot implies.
type item struct {
	line.Event
	rank    int
	known   moment // from when it counts, as far as the reports alone say
	halves  []int64
	implied *implication
	// contested is set on what its operator withdrew: it changes nothing, but leaves
	// its signal where the change would have counted.
	contested bool
	voidedAt  moment
	place     int // in the order of effect
}

// key names an item between two walks.
func (it *item) key() itemKey {
	if it.implied != nil {
		return itemKey{kind: it.Kind, implied: true}
	}
	return itemKey{seq: it.Seq}
}

type itemKey struct {
	seq     int64
	kind    line.Kind
	implied bool
	lapse   bool // the end by the date that the notice with this key announced
}

// itemsOf returns everything that may change the line, in the order of effect.
func itemsOf(h *line.History, r *reports) (items []*item) {
	for i := range r.events {
		if it := itemOf(&r.events[i], r); it != nil {
			items = append(items, it)
		}
	}
	for _, p := range r.pairs {
		items = append(items, portOf(p, r))
	}
	base, said := snapshot(h.Base, r)
	rank := -1
	for i := range said {
		e := said[i].event
		// Of the same second, a later implied event is never before an earlier one.
		if i == 0 || said[i-1].event.Effective != e.Effective {
			rank = -1
		}
		rank = max(rank, rankOf(e.Kind))
		items = append(items, &item{Event: e, rank: rank, known: said[i].known, implied: &said[i]})
	}
	slices.SortStableFunc(items, func(a, b *item) int {
		return cmp.Or(cmp.Compare(a.Effective, b.Effective), cmp.Compare(a.rank, b.rank), reported(&a.Event).compare(reported(&b.Event)))
	})
	for i, it := range items {
		it.place = 2 * i
	}
	for i, it := range items {
		if it.implied != nil {
			// What was with another network then, the network that restates it did not
			// report as a donor.
			if it.Network = networkBefore(items[i:], base); it.Network != base.Network {
				it.known = moment{}
			}
		}
	}
	return items
}

// networkBefore returns the network of an implied event, which is the first of the
// items: a network cannot have had the line when the next port brings it there. It had the
// line when it sent the snapshot, so a port after that did not.
func networkBefore(items []*item, base *line.Baseline) numbering.Network {
	for _, it := range items {
		if it.Kind == line.Port && !it.contested {
			if it.Peer == base.Network && it.Effective <= base.AsOf {
				return it.Network // of a port by the clearing house it is 0
			}
			break
		}
	}
	return base.Network
}

func itemOf(e *line.Event, r *reports) *item {
	gone, contested := r.withdrawn(e)
	_, met := r.pairOf(e)
	leavesSignal := e.Kind == line.ChangeSIM || isNewHolder(e.Kind)
	if aboutReports(e.Kind) || met || r.held(e) || gone && (!contested || !leavesSignal) {
		return nil
	}
	it := &item{Event: *e, rank: rankOf(e.Kind), known: r.counts(e), contested: gone}
	it.voidedAt, _ = r.ownVoid(e)
	if e.Kind == line.Bar && r.confirmation(e) != nil {
		it.Until = line.Never
	}
	if e.Kind == line.Port {
		it.Network = 0
	}
	return it
}

// portOf returns the port that two halves make: at the later time of effect, and
// reported at the later time of report.
func portOf(p pair, r *reports) *item {
	last := p.claim
	if c := cmp.Or(cmp.Compare(p.release.Effective, p.claim.Effective), cmp.Compare(rankOf(p.release.Kind), rankOf(p.claim.Kind))); c > 0 {
		last = p.release
	}
	it := &item{
		Event: *last, rank: rankOf(last.Kind), known: latest(r.counts(p.claim), r.counts(p.release)),
		halves: []int64{p.claim.Seq, p.release.Seq}, contested: r.undone(p),
	}
	it.Kind, it.Network, it.Peer, it.Outside = line.Port, p.release.Network, p.claim.Network, p.release.Outside
	return it
}
