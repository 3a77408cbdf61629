package supply

import (
	"context"
	"fmt"
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply/share"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// applyItems applies the items that parsing has not refused, in their order, and
// saves what they change. Loaded is a changeSet of the items' numbers that was
// loaded before, or nil. It returns the newest effective time of the stored events
// of each topic, and the changeSet.
func (s *Service) applyItems(
	ctx context.Context, tx pg.Tx, by *resolvedSupplier, r rules, items []item, loaded *changeSet,
) (reported map[line.Topic]line.Instant, cs *changeSet, err error) {
	reported = make(map[line.Topic]line.Instant)
	numbers := make([]phone.Number, 0, len(items))
	for i := range items {
		if items[i].undecided() {
			numbers = append(numbers, items[i].number)
		}
	}
	cs = &changeSet{rules: r, counts: newDailyCounts(r)}
	if len(numbers) > 0 {
		seqs, err := linestore.ReserveSeqs(ctx, tx, len(numbers))
		if err != nil {
			return nil, nil, err
		}
		if cs = loaded; cs == nil {
			if cs, err = s.load(ctx, tx, r, numbers, true); err != nil {
				return nil, nil, err
			}
		}
		cs.rules, cs.counts, cs.supplier, cs.seqs = r, newDailyCounts(r), by, &seqAllocator{tx: tx}
		cs.share, cs.held = share.NewCounter(tx, r.policy, r.now), nil
		if err := s.loadUsed(ctx, tx, cs, items); err != nil {
			return nil, nil, err
		}
		for i := range items {
			it := &items[i]
			if !it.undecided() {
				continue
			}
			if err := ctx.Err(); err != nil { // many events about one number take seconds
				return nil, nil, err
			}
			if err := cs.applyEvent(ctx, it, seqs[0]); err != nil {
				return nil, nil, err
			}
			seqs = seqs[1:]
			if topic, ok := it.event.Topic(); ok && it.result.Outcome != Refused && it.event.Kind != line.Void {
				reported[topic] = max(reported[topic], it.event.Effective)
			}
		}
		if err := cs.save(ctx, tx); err != nil {
			return nil, nil, err
		}
		if err := cs.share.Save(ctx); err != nil {
			return nil, nil, err
		}
	}
	var refused int64
	for i := range items {
		if items[i].result.Outcome == Refused {
			refused++
		}
	}
	cs.counts.countRefused(by.network, refused)
	return reported, cs, cs.counts.save(ctx, tx)
}

// applyEvent applies one event whose form is right, in memory, and sets the
// item's result. The event gets the sequence number seq.
func (cs *changeSet) applyEvent(ctx context.Context, i *item, seq int64) error {
	c := cs.byNumber[i.number]
	i.event.Seq = seq
	if i.event.Kind == line.Void && !cs.resolveVoid(i, c) || i.event.Kind == line.Confirm && !cs.resolveConfirm(i, c) {
		return nil
	}
	if i.event.ID != "" {
		if old := c.FindEvent(i.event.Supplier, i.event.ID); old != nil {
			if old.SameAs(&i.event) {
				i.result.Outcome = Duplicate
			} else {
				i.refuse("id", "ID_REUSED",
					"Another event about this number has this id. Give each event an id of its own; to change one, void it and report a new one.")
			}
			return nil
		}
		if other, ok := cs.usedIDs[usedID{i.event.Supplier, i.event.ID}]; ok && other != i.number {
			i.refuse("id", "ID_REUSED", "An event about another number has this id. Give each event an id of its own; to change one, void it and report a new one.")
			return nil
		}
	}
	// After the search for duplicates: an event that voids another and is sent
	// twice is a duplicate, and not refused.
	if i.event.Kind == line.Void && !cs.mayVoid(i, c) {
		return nil
	}
	if field, reason, message := cs.checkAuthority(i, c); reason != "" {
		i.refuse(field, reason, message)
		return nil
	}
	if i.event.Authority != line.Regulator && i.event.Kind != line.Void && c.IsFull(&i.event) {
		i.refuse("phoneNumber", "TOO_MANY_EVENTS", fmt.Sprintf("You have reported %d events about this number, or %d about its ports, and more are not taken. "+
			"Check what sends them; if they are right, ask the regulator.", linechange.MaxEvents, linechange.MaxPorts))
		return nil
	}
	i.event.First = i.event.First && cs.isFirstHolder(i)
	// Within a second a new holder comes before a blacklisting. One that is reported
	// after it does not.
	blocked := i.event.Kind.StartsTenure() && c.Row.BlackAt == i.event.Effective
	before, then := c.Row, c.RowAt(i.event.Effective)
	outcome := c.Add(i.event)
	waits := outcome == line.Waiting && i.event.Outside && i.event.Kind != line.ClaimPort
	switch {
	case outcome == line.Blocked || blocked:
		c.RemoveLast()
		i.refuse("phoneNumber", "BLACKLISTED", "The number is blacklisted: no new tenure can begin until the regulator releases it.")
		return nil
	case waits && cs.pendingRoom <= 0:
		c.RemoveLast()
		i.refuse("phoneNumber", "TOO_MANY_WAITING", "Too many events of this network wait for a port. Send it again when the ports have been reported.")
		return nil
	}
	if waits {
		cs.pendingRoom--
	}
	rules := cs.comparisonRules(ctx)
	i.event.Hold = cs.holdReason(&i.event, &before, c)
	added := len(c.NewEvents)
	if err := c.SettleHalves(rules); err != nil {
		return err
	}
	if err := cs.countShare(ctx, &i.event, &before, c); err != nil {
		return err
	}
	if i.event.Hold != 0 {
		c.Remove(len(c.NewEvents) - added + 1)
		c.Add(i.event)
	}
	outcome = c.OutcomeOf(i.event.Seq)
	i.result.Outcome, i.result.Reason, i.result.Message = outcomeOf(outcome, &i.event)
	cs.useID(i.event.Supplier, i.event.ID, i.number)
	cs.counts.countEvent(&i.event, then)
	return c.CompareWaitingRows(rules)
}

// usedID is an id that a supplier gave to an event.
type usedID struct {
	supplier int32
	id       string
}

// loadUsed reads which ids of the items the supplier has used for other numbers,
// and how many more of its events may wait for a port.
func (s *Service) loadUsed(ctx context.Context, tx pg.Tx, cs *changeSet, items []item) error {
	var ids []string
	var suppliers []int32
	for i := range items {
		if items[i].undecided() && items[i].event.ID != "" {
			ids, suppliers = append(ids, items[i].event.ID), append(suppliers, items[i].event.Supplier)
		}
	}
	cs.usedIDs = make(map[usedID]phone.Number, len(ids))
	slices.Sort(suppliers)
	rows, err := tx.Query(ctx, `SELECT supplier, event_id, number FROM line_event WHERE supplier = ANY($1) AND event_id = ANY($2)`,
		slices.Compact(suppliers), ids)
	if err != nil {
		return fmt.Errorf("supply: look for used ids: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var used usedID
		var key int64
		if err := rows.Scan(&used.supplier, &used.id, &key); err != nil {
			return fmt.Errorf("supply: look for used ids: %w", err)
		}
		cs.usedIDs[used], _ = phone.FromInt(key)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("supply: look for used ids: %w", err)
	}
	if cs.supplier.network == 0 {
		return nil
	}
	var waiting, lines int64
	err = tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM line_open WHERE network = $1 AND outcome = $2 AND NOT half),
		coalesce((SELECT lines FROM network_lines WHERE network = $1), 0)`, cs.supplier.network, int16(line.Waiting)).Scan(&waiting, &lines)
	if err != nil {
		return fmt.Errorf("supply: count waiting events: %w", err)
	}
	cs.pendingRoom = maxPending(lines) - waiting
	return nil
}

func (cs *changeSet) useID(supplier int32, id string, n phone.Number) {
	if cs.usedIDs != nil {
		cs.usedIDs[usedID{supplier, id}] = n
	}
}

// resolveVoid finds the event that an item voids and completes the item from it,
// or refuses the item and returns false. A supplier can void only its own events;
// if it has several roles, the void is made in the role that reported the event.
// The regulator can void every event, by its sequence number.
func (cs *changeSet) resolveVoid(i *item, c *linechange.Change) bool {
	var target *line.Event
	for _, a := range cs.supplier.Authorities {
		found := c.FindEvent(cs.supplier.supplierIDs[a], i.voids)
		if a == line.Regulator {
			found = c.FindSeq(i.voids)
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
	case target.Kind == line.Void && (i.event.Authority != line.Regulator || target.Hold == 0 || c.IsConfirmed(target.Seq)):
		i.refuse("voids", "NOT_ALLOWED", "An event that voids another cannot be voided itself. Report the original event again under a new id.")
	case target.Kind == line.Confirm:
		i.refuse("voids", "NOT_ALLOWED", "A confirmation cannot be voided. Void the event that it confirmed.")
	default:
		i.event.Target = target.Seq
		i.event.Effective = target.Effective // it takes effect when the voided event did
		return true
	}
	return false
}

// mayVoid refuses the void of an event that is voided already, or too old.
func (cs *changeSet) mayVoid(i *item, c *linechange.Change) bool {
	switch target := c.BySeq(i.event.Target); {
	case c.IsVoidedBy(line.Regulator, target.Seq), i.event.Authority != line.Regulator && c.IsVoided(target.Seq):
		i.refuse("voids", "VOIDED", "The event has already been voided.")
	case i.event.Authority != line.Regulator && cs.now.Sub(target.ReportedAt) > cs.policy.Backdating():
		i.refuse("voids", "TOO_OLD", "The event was reported longer ago than the policy allows. Ask the regulator to void it.")
	default:
		return true
	}
	return false
}

// resolveConfirm finds the held event that the regulator confirms, or refuses the
// item and returns false.
func (cs *changeSet) resolveConfirm(i *item, c *linechange.Change) bool {
	target := c.FindSeq(i.voids)
	switch {
	case target == nil:
		i.refuse("voids", "NOT_FOUND", "There is no event with that seq about this number.")
	case target.Hold == 0 && (!i.ofBar || target.Kind != line.Bar || target.Until == line.Never):
		i.refuse("voids", "NOT_ALLOWED", "This event is not held.")
	case c.IsVoided(target.Seq):
		i.refuse("voids", "VOIDED", "The event has been voided.")
	case c.IsConfirmed(target.Seq):
		i.refuse("voids", "CONFIRMED", "The event has already been confirmed.")
	default:
		i.event.Target, i.event.Effective = target.Seq, target.Effective
		return true
	}
	return false
}

// outcomeOf returns how a stored event is reported to its supplier.
func outcomeOf(o line.Outcome, e *line.Event) (outcome, reason, message string) {
	switch {
	case o == line.Held:
		return Waiting, e.Hold.String(), holdMessages[e.Hold]
	case o == line.Waiting && e.Kind == line.Void:
		return Waiting, "HALF_PORT", "Both networks have reported this port. It is undone when the other network voids its half, too, or by the regulator."
	case o == line.Waiting && e.Kind.IsHalf() && (e.Kind == line.ClaimPort || !e.Outside):
		return Waiting, "HALF_PORT", "The port takes effect when the other network, or the clearing house, reports it too."
	case o == line.Waiting:
		return Waiting, "NOT_SERVING", "The number was with another network at that time. The event takes effect when the port to this network is reported."
	case o == line.GaveWay:
		return NoEffect, "PORTED", "The number was ported shortly afterwards. The tenure goes on at the other network."
	case o == line.Voided:
		return NoEffect, "VOIDED", "The event has already been voided."
	case o == line.NoEffect && e.Kind == line.Port:
		return NoEffect, "SAME_NETWORK", "The number was already with that network."
	case o == line.NoEffect && e.Kind == line.Unflag:
		return NoEffect, "NOT_YOUR_FLAG", "You have set no flag that is in force."
	case o == line.NoEffect:
		return NoEffect, "STATE", "The event changes nothing in the state that the line had at that time. It takes effect if a missing earlier event is reported."
	}
	return Applied, "", ""
}

// holdMessages say what happens to an event that is held.
var holdMessages = map[line.Hold]string{
	line.HoldTooOld:    "It took effect long ago, or before your newest file, and would lift something. It counts when the regulator's staff confirm it.",
	line.HoldEarly:     "A bar or a flag would still be in force. The new tenure counts when the regulator's staff confirm it.",
	line.HoldMass:      "Too many of the network's lines changed at once. It counts when the regulator's staff confirm it.",
	line.HoldDonorLate: "The number had been ported when this was reported. It counts when the regulator's staff confirm it.",
}
