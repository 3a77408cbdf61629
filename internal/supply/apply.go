package supply

import (
	"context"
	"strconv"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// applyItems applies the items that parsing has not refused, in their order, and
// saves what they change. Loaded is a changeSet of the items' numbers that was
// loaded before, or nil. It returns the newest effective time of the operator's
// events that were stored, and the changeSet.
func (s *Service) applyItems(
	ctx context.Context, tx pg.Tx, by *resolvedSupplier, r rules, items []item, loaded *changeSet,
) (newest line.Instant, cs *changeSet, err error) {
	newest = line.Never
	numbers := make([]phone.Number, 0, len(items))
	for i := range items {
		if items[i].undecided() {
			numbers = append(numbers, items[i].number)
		}
	}
	cs = &changeSet{rules: r, counts: newDailyCounts(r)}
	if len(numbers) > 0 {
		seqs, err := line.ReserveSeqs(ctx, tx, len(numbers))
		if err != nil {
			return newest, nil, err
		}
		if cs = loaded; cs == nil {
			if cs, err = s.load(ctx, tx, r, numbers, true); err != nil {
				return newest, nil, err
			}
		}
		cs.rules, cs.counts, cs.supplier = r, newDailyCounts(r), by
		for i := range items {
			it := &items[i]
			if !it.undecided() {
				continue
			}
			cs.applyEvent(it, seqs[0])
			seqs = seqs[1:]
			if it.result.Outcome != Refused && it.event.Authority == line.Operator && it.event.Kind != line.Void {
				newest = max(newest, it.event.Effective)
			}
		}
		if err := cs.save(ctx, tx); err != nil {
			return newest, nil, err
		}
	}
	var refused int64
	for i := range items {
		if items[i].result.Outcome == Refused {
			refused++
		}
	}
	cs.counts.countRefused(by.network, refused)
	return newest, cs, cs.counts.save(ctx, tx)
}

// applyEvent applies one event whose form is right, in memory, and sets the
// item's result. The event gets the sequence number seq.
func (cs *changeSet) applyEvent(i *item, seq int64) {
	c := cs.byNumber[i.number]
	i.event.Seq = seq
	if i.event.Kind == line.Void && !cs.resolveVoid(i, c) {
		return
	}
	if i.event.ID != "" {
		if old := c.findEvent(i.event.Supplier, i.event.ID); old != nil {
			if old.SameAs(&i.event) {
				i.result.Outcome = Duplicate
			} else {
				i.refuse("id", "ID_REUSED",
					"Another event about this number has this id. Give each event an id of its own; to change one, void it and report a new one.")
			}
			return
		}
	}
	// After the search for duplicates: an event that voids another and is sent
	// twice is a duplicate, and not refused.
	if i.event.Kind == line.Void && c.isVoided(i.event.Voids) {
		i.refuse("voids", "VOIDED", "The event has already been voided.")
		return
	}
	if field, reason, message := cs.checkAuthority(i, c); reason != "" {
		i.refuse(field, reason, message)
		return
	}
	before := c.row
	outcome := c.addEvent(i.event)
	if outcome == line.Blocked {
		c.removeLast()
		i.refuse("phoneNumber", "BLACKLISTED", "The number is blacklisted: no new tenure can begin until the regulator releases it.")
		return
	}
	i.result.Outcome, i.result.Reason, i.result.Message = outcomeOf(outcome)
	cs.counts.countEvent(&i.event, before)
}

// resolveVoid finds the event that an item voids and completes the item from it,
// or refuses the item and returns false. A supplier can void only its own events;
// if it has several roles, the void is made in the role that reported the event.
// The regulator can void every event, by its sequence number.
func (cs *changeSet) resolveVoid(i *item, c *change) bool {
	var target *line.Event
	for _, a := range cs.supplier.Authorities {
		found := c.findEvent(cs.supplier.supplierIDs[a], i.voids)
		if a == line.Regulator {
			found = c.findSeq(i.voids)
		}
		if found != nil {
			target, i.event.Authority, i.event.Supplier, i.event.Network = found, a, cs.supplier.supplierIDs[a], 0
			if a == line.Operator {
				i.event.Network = cs.supplier.network
			}
			break
		}
	}
	switch {
	case target == nil:
		i.refuse("voids", "NOT_FOUND", "This supplier has reported no event with that id about this number.")
	case target.Kind == line.Void:
		i.refuse("voids", "NOT_ALLOWED", "An event that voids another cannot be voided itself. Report the original event again under a new id.")
	default:
		i.event.Voids = target.Seq
		i.event.Effective = target.Effective // it takes effect when the voided event did
		return true
	}
	return false
}

func formatSeq(seq int64) string { return strconv.FormatInt(seq, 10) }

// outcomeOf returns how a stored event is reported to its supplier.
func outcomeOf(o line.Outcome) (outcome, reason, message string) {
	switch o {
	case line.HalfPort:
		return Conflict, "HALF_PORT", "The port takes effect when the other network, or the clearing house, reports it too."
	case line.NotInState:
		return NoEffect, "STATE", "The event changes nothing in the state that the line had at that time. It takes effect if a missing earlier event is reported."
	case line.NotHolder:
		return NoEffect, "HOLDER", "The number was with another network at that time."
	case line.NotFlagOwner:
		return NoEffect, "NOT_YOUR_FLAG", "Somebody else set the flag."
	case line.Voided:
		return NoEffect, "VOIDED", "The event has already been voided."
	case line.Applied, line.NotYet, line.Blocked: // applyEvent has refused what is blocked
	}
	return Applied, "", ""
}
