package supply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
)

// ErrNoPast reports that the number is not with the network that asks.
var ErrNoPast = fault.New(fault.NotFound, "The number is not with this network, which can see the history of its own numbers only.")

// PastQuery asks for the history of a number.
type PastQuery struct {
	Number  phone.Number
	Network string    // code of the operator that asks; empty for staff
	AsOf    time.Time // what was true then; zero: now. For staff
	KnownAt time.Time // by what we knew then; zero: now. For staff
}

// Past is the history of a number.
type Past struct {
	Status  line.Status
	Reason  line.Reason
	Network string      // code; empty when nobody knows
	Tenures []Tenure    // the oldest first
	Events  []PastEvent // as they took effect
}

// Tenure is one holder's stint on the number.
type Tenure struct {
	Network    string    // code of the network with which it is, or was at its end
	Start      time.Time // zero when it is not known
	End        time.Time // zero while it runs
	EndedAfter time.Time // it ended after this and not later than End; zero when End is exact
	State      string    // of a running tenure as snapshots say it; ENDED of one that is over
	EndReason  string    // empty when nobody told: the next tenure just began
}

// PastEvent is one thing that was told.
type PastEvent struct {
	Seq           int64 // its name within the service
	ID            string
	Type          string
	Source        string // the authority
	Network, Peer string // codes
	Code, Note    string
	EffectiveAt   time.Time
	ToldAt        time.Time
	ChurnAt       time.Time
	Voided        bool
	Voids         int64
	Outcome       string
	Import        uuid.UUID // zero for a call of the API
}

// Past returns what was true of a number at one time, by what was known at
// another. An operator sees it while the number is its own, as of now only, and
// without the words of others: why somebody else barred the line is for staff.
//
// The policy and the numbering plan are those in force at AsOf. How far the
// supply reached then is not kept; what is known of it today is cut back to the
// earlier of the two times, which shows it at its best. A baseline counts as
// known from when its import began.
func (d *Desk) Past(ctx context.Context, q PastQuery) (Past, error) {
	now := d.now()
	var wrong fault.Form
	q.check(&wrong, now)
	if err := wrong.Err(); err != nil {
		return Past{}, err
	}
	if q.Network != "" {
		look, err := d.Lines.Look(ctx, d.Pool, q.Number, now)
		if err != nil {
			return Past{}, err
		}
		if look.Plan.Code(look.View(now).Network) != q.Network {
			return Past{}, ErrNoPast
		}
	}
	rows, err := line.Rows(ctx, d.Pool, []phone.Number{q.Number})
	if err != nil {
		return Past{}, err
	}
	histories, err := line.Histories(ctx, d.Pool, []phone.Number{q.Number}, rows)
	if err != nil {
		return Past{}, err
	}
	history := histories[q.Number]
	imports, err := d.importsOf(ctx, history)
	if err != nil {
		return Past{}, err
	}
	until := line.Forever
	asOf, knownAt := now, now
	if !q.AsOf.IsZero() {
		asOf, until = q.AsOf, line.InstantOf(q.AsOf)
	}
	if !q.KnownAt.IsZero() {
		knownAt = q.KnownAt
		history = known(history, imports, knownAt)
	}
	r, err := d.rulesAt(ctx, d.Pool, asOf)
	if errors.Is(err, policy.ErrNoVersion) {
		err = fault.ErrInvalid.With(fault.Violation{Field: "asOf", Code: fault.NotAllowed, Message: "No policy was in force so early. Give a later time."})
	}
	if err != nil {
		return Past{}, err
	}
	row, outcomes := line.Fold(history.Base, history.Events, until)
	look := line.Look{Facts: line.Facts{Row: row}, Policy: r.policy, Plan: r.plan}
	look.Place(q.Number, asOf)
	if look.Coverage, err = d.coverage(ctx, earlier(asOf, knownAt)); err != nil {
		return Past{}, err
	}
	view := look.View(asOf)
	p := Past{Status: view.Status, Reason: view.Reason, Network: r.plan.Code(view.Network), Tenures: tenures(history, until, r.plan)}
	p.Events = pastEvents(history.Events, outcomes, until, q.Network, r.plan, imports)
	return p, nil
}

func (q *PastQuery) check(wrong *fault.Form, now time.Time) {
	const passed, staff = "Give a time that has passed.", "Only staff can look back. Leave the time out."
	wrong.Check(!q.AsOf.After(now), "asOf", fault.NotAllowed, passed)
	wrong.Check(q.AsOf.IsZero() || q.Network == "", "asOf", fault.NotAllowed, staff)
	wrong.Check(!q.KnownAt.After(now), "knownAt", fault.NotAllowed, passed)
	wrong.Check(q.KnownAt.IsZero() || q.Network == "", "knownAt", fault.NotAllowed, staff)
}

// pastImport is what a history needs to know of an import.
type pastImport struct {
	uid   uuid.UUID
	began time.Time
}

// importsOf returns the imports that a history speaks of.
func (d *Desk) importsOf(ctx context.Context, h *line.History) (map[int32]pastImport, error) {
	var ids []int32
	if h.Base != nil {
		ids = append(ids, h.Base.Import)
	}
	for i := range h.Events {
		if id := h.Events[i].Import; id != 0 {
			ids = append(ids, id)
		}
	}
	found := make(map[int32]pastImport, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := d.Pool.Query(ctx, `SELECT id, uid, created_at FROM supply_import WHERE id = ANY($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("supply: read imports: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int32
		var im pastImport
		if err := rows.Scan(&id, &im.uid, &im.began); err != nil {
			return nil, fmt.Errorf("supply: read imports: %w", err)
		}
		found[id] = im
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("supply: read imports: %w", err)
	}
	return found, nil
}

// known returns what of a history was known at a time.
func known(h *line.History, imports map[int32]pastImport, at time.Time) *line.History {
	then := &line.History{}
	if h.Base != nil && !imports[h.Base.Import].began.After(at) {
		then.Base = h.Base
	}
	for i := range h.Events {
		if !h.Events[i].Told.After(at) {
			then.Events = append(then.Events, h.Events[i])
		}
	}
	return then
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// pastEvents shows the events that took effect up to an instant, as somebody
// may see them: staff, or the operator whose code is given.
func pastEvents(
	events []line.Event, outcomes []line.Outcome, until line.Instant, reader string, plan *numbering.Plan, imports map[int32]pastImport,
) []PastEvent {
	var list []PastEvent
	for i := range events {
		e := &events[i]
		if e.Effective > until {
			continue // what is withdrawn would have been later, too
		}
		p := PastEvent{
			Seq: e.Seq, ID: e.ID, Type: e.Kind.String(), Source: e.By.String(), Network: plan.Code(e.Network), Peer: plan.Code(e.Peer),
			Code: e.Code.String(), Note: e.Note, EffectiveAt: e.Effective.Time(), ToldAt: e.Told, ChurnAt: e.Until.Time(),
			Voided: outcomes[i] == line.Withdrawn, Voids: e.Voids, Outcome: NoEffect, Import: imports[e.Import].uid,
		}
		switch {
		case outcomes[i] == line.Applied:
			p.Outcome = Applied
		case unmet(events, outcomes, i):
			p.Outcome = Conflict
		}
		if own := reader == "" || e.By == line.Operator && p.Network == reader; !own {
			p.ID, p.Note = "", ""
			if e.Kind == line.Bar {
				p.Code = ""
			}
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b PastEvent) int { return a.EffectiveAt.Compare(b.EffectiveAt) })
	return list
}
