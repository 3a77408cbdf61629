package linemodel

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
)

// World limits the content of random events.
type World struct {
	Networks int          // two or more: they are 1 to Networks, and most events are from the first
	From, To line.Instant // the range of the times of effect, with From and without To
}

// The suppliers of random events other than operators. The supplier id of an operator
// is the id of its network.
const (
	supplierClearingHouse int32 = 1001 + iota
	supplierRegulator
	supplierSector // the first of two
)

// The kinds that each authority reports. A kind that is listed twice is drawn twice as
// often.
var (
	operatorKinds = []line.Kind{
		line.Assign, line.Assign, line.ChangeSIM, line.ChangeSIM, line.ChangeSIM, line.Bar, line.Unbar, line.GiveNotice, line.Park, line.Return,
		line.Deactivate, line.Use, line.Use, line.End, line.End, line.Reinstate, line.ClaimPort, line.ReleasePort,
	}
	otherKinds = [...][]line.Kind{
		line.ClearingHouse: {line.Port},
		line.Sector:        {line.Flag, line.Flag, line.Unflag},
		line.Regulator:     {line.Bar, line.Unbar, line.Unflag, line.Blacklist, line.Release, line.Release},
	}
)

// RandomEvent returns an event that some authority could report about a number. It is
// the same for the same state of r. earlier are the events reported about the number
// before; sometimes the event withdraws one of them. ReportedAt is not set.
func RandomEvent(r *rand.Rand, w World, seq int64, earlier []line.Event) line.Event {
	e := line.Event{
		Seq: seq, ID: "event-" + strconv.FormatInt(seq, 10), Effective: w.instant(r), Authority: line.Operator, Until: line.Never, EndedAfter: line.Never,
	}
	if r.IntN(4) == 0 {
		e.Authority = pick(r, []line.Authority{line.ClearingHouse, line.Sector, line.Regulator})
	}
	if len(earlier) > 0 && r.IntN(16) == 0 {
		if target := &earlier[r.IntN(len(earlier))]; target.Kind != line.Void {
			e.Kind, e.Voids, e.Effective = line.Void, target.Seq, target.Effective
			e.Authority, e.Supplier, e.Network, e.Note = target.Authority, target.Supplier, target.Network, "reported in error"
			return e
		}
	}
	switch e.Authority {
	case line.Operator:
		e.Kind, e.Network = pick(r, operatorKinds), w.network(r)
		e.Supplier = int32(e.Network)
	case line.ClearingHouse:
		e.Kind, e.Supplier = pick(r, otherKinds[e.Authority]), supplierClearingHouse
	case line.Sector:
		e.Kind, e.Supplier = pick(r, otherKinds[e.Authority]), supplierSector+r.Int32N(2)
	case line.Regulator:
		e.Kind, e.Supplier = pick(r, otherKinds[e.Authority]), supplierRegulator
	}
	w.details(r, &e)
	return e
}

// details sets the fields that the kind requires.
func (w World) details(r *rand.Rand, e *line.Event) {
	switch e.Kind {
	case line.Bar:
		e.Code = pick(r, []line.Code{line.ReasonNIN, line.ReasonFraud, line.ReasonCourt, line.ReasonLost, line.ReasonDebt, line.ReasonOther})
	case line.Flag:
		e.Code = pick(r, []line.Code{line.LevelMedium, line.LevelHigh, line.LevelVeryHigh})
	case line.GiveNotice:
		e.Until = e.Effective.Add(time.Duration(14+r.IntN(60)) * 24 * time.Hour)
	case line.End:
		e.Code = pick(r, []line.Code{line.ReasonChurned, line.ReasonSurrendered, line.ReasonInferred})
		if e.Code == line.ReasonInferred {
			e.EndedAfter = e.Effective.Add(-time.Duration(1+r.IntN(30)) * 24 * time.Hour)
		}
	case line.Port, line.ReleasePort:
		for e.Peer == 0 || e.Peer == e.Network {
			e.Peer = numbering.Network(1 + r.IntN(w.Networks))
		}
	default: // no details
	}
}

// RandomBaseline returns a baseline that a snapshot could give a number. It is the same
// for the same state of r.
func RandomBaseline(r *rand.Rand, w World) line.Baseline {
	b := line.Baseline{
		Import: 1 + r.Int32N(9), Network: w.network(r), Tenure: line.Never, SIM: line.Never, StateSince: w.instant(r),
		State: line.StateActive + line.State(r.Int32N(6)),
	}
	if r.IntN(8) > 0 {
		b.Tenure = w.instant(r)
		b.StateSince = max(b.StateSince, b.Tenure)
	}
	if r.IntN(3) == 0 {
		b.SIM = max(w.instant(r), b.Tenure)
	}
	return b
}

// instant returns a time to the second, or a date, so that equal times are frequent.
func (w World) instant(r *rand.Rand) line.Instant {
	at := w.From + line.Instant(r.Int32N(int32(w.To-w.From)))
	if r.IntN(2) == 0 {
		const day = line.Instant(24 * time.Hour / time.Second)
		at = max(at-at%day, w.From)
	}
	return at
}

// network returns the first network most of the time, so that many events come from
// the network that has the number.
func (w World) network(r *rand.Rand) numbering.Network {
	return numbering.Network(max(1, r.IntN(3*w.Networks)-2*w.Networks+1))
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
