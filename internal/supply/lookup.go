package supply

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// Reading says who of the staff looks at the line of somebody, and why.
type Reading struct {
	By      audit.Actor
	Reason  string
	Request uuid.UUID
}

// LookUp is [Desk.Past] for staff, who can look at anybody's line: that they did,
// and why, is on record before they see it. Where it cannot be recorded, nothing
// is shown.
//
// The entry has the number masked. Its subject is a name of the number that only
// somebody with the pepper can make, so that [Desk.LookUps] finds it again.
func (d *Desk) LookUp(ctx context.Context, q PastQuery, r Reading) (Past, error) {
	q.Network = ""
	var wrong fault.Form
	q.check(&wrong, d.now())
	audit.CheckReason(&wrong, "reason", r.Reason)
	if err := wrong.Err(); err != nil {
		return Past{}, err
	}
	past, err := d.Past(ctx, q)
	if err != nil {
		return Past{}, err
	}
	names, err := d.namesOf(q.Number)
	if err != nil {
		return Past{}, err
	}
	after := map[string]any{"reason": r.Reason, "phoneNumber": q.Number.E164()}
	if !q.AsOf.IsZero() {
		after["asOf"] = q.AsOf
	}
	if !q.KnownAt.IsZero() {
		after["knownAt"] = q.KnownAt
	}
	err = pg.InTx(ctx, d.Pool, func(tx pg.Tx) error {
		return audit.Write(ctx, tx, audit.Entry{At: d.now(), Actor: r.By, Action: audit.HistoryRead, Subject: names[0], Request: r.Request, After: after})
	})
	if err != nil {
		return Past{}, err
	}
	return past, nil
}

// LookUps lists who of the staff looked a number up and why, the newest first.
// What was looked up under a pepper that is no longer kept is not found.
func (d *Desk) LookUps(ctx context.Context, n phone.Number, limit int) ([]audit.Written, error) {
	names, err := d.namesOf(n)
	if err != nil {
		return nil, err
	}
	var all []audit.Written
	for _, name := range names {
		list, err := audit.List(ctx, d.Pool, audit.Filter{Subject: name, Action: string(audit.HistoryRead), Limit: limit})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b audit.Written) int { return b.At.Compare(a.At) })
	return all[:min(limit, len(all))], nil
}

var errNoPepper = errors.New("supply: this desk has no peppers, so it cannot record who looks a number up")

// namesOf returns what the audit trail calls a number: the name under which a
// look-up is written, and those under which older ones were.
func (d *Desk) namesOf(n phone.Number) ([]uuid.UUID, error) {
	if d.Peppers == nil {
		return nil, errNoPepper
	}
	macs := d.Peppers.Candidates("lineproof audit number " + n.E164())
	names := make([]uuid.UUID, len(macs))
	for i, mac := range macs {
		name := uuid.UUID(mac[:16])
		name[6], name[8] = name[6]&0x0f|0x80, name[8]&0x3f|0x80 // version 8: an id that is made of something else
		names[i] = name
	}
	return names, nil
}
