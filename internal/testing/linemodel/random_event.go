package linemodel

import (
	"math/rand/v2"
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// The kinds that operators report, the more likely ones more often. Halves are
// reported by randomHalves, too.
var operatorKinds = []line.Kind{
	line.Assign, line.Assign, line.Assign, line.ChangeSIM, line.ChangeSIM, line.ChangeSIM, line.Bar, line.Unbar, line.GiveNotice, line.GiveNotice,
	line.Park, line.Deactivate, line.Use, line.Use, line.End, line.End, line.End, line.End, line.Reinstate, line.Reinstate,
	line.Transfer, line.Transfer, line.ClaimPort, line.ReleasePort,
}

func randomEvent(r *rand.Rand, w World, base *line.Baseline) *line.Event {
	e := &line.Event{Effective: instant(r), Until: line.Never, EndedAfter: line.Never}
	switch n := r.IntN(100); {
	case n < 18:
		e.Kind, e.Authority, e.Supplier, e.Peer = line.Port, line.ClearingHouse, clearingHouse, randomNetwork(r, w)
	case n < 25:
		e.Kind, e.Authority, e.Supplier = line.Flag, line.Sector, pick(r, []int32{sectorA, sectorB})
		e.Code = pick(r, []line.Code{line.LevelMedium, line.LevelHigh, line.LevelVeryHigh})
	case n < 29:
		e.Kind, e.Authority, e.Supplier = line.Unflag, pick(r, []line.Authority{line.Sector, line.Sector, line.Regulator}), pick(r, []int32{sectorA, sectorB})
	case n < 40:
		randomOrder(r, e)
	case n < 45:
		randomFileEvent(r, w, e, base)
	default:
		e.Kind, e.Authority, e.Network = pick(r, operatorKinds), line.Operator, randomNetwork(r, w)
		if chance(r, 40) {
			e.Network = 1
		}
		if e.Kind == line.Assign && chance(r, 97) {
			e.Network = 1 // it holds the range
		}
	}
	return finish(r, w, e)
}

// finish sets what depends on the kind, when the event was reported, and why it is held.
func finish(r *rand.Rand, w World, e *line.Event) *line.Event {
	switch e.Kind {
	case line.Bar:
		if e.Authority == line.Operator {
			e.Code = pick(r, []line.Code{line.ReasonDebt, line.ReasonLost})
		}
	case line.GiveNotice:
		e.Until = endOfDay(e.Effective) + pick(r, []line.Instant{1, day, 2 * day, 3 * day, 4 * day, 30 * day})
	case line.End:
		if e.Code = pick(r, []line.Code{line.ReasonChurned, line.ReasonSurrendered, line.ReasonInferred}); e.Code == line.ReasonInferred {
			e.EndedAfter = e.Effective - pick(r, []line.Instant{1, day, 5 * day})
		}
	case line.Assign:
		e.First = chance(r, 20)
	case line.ReleasePort:
		e.Peer = randomNetwork(r, w)
		for e.Peer == e.Network {
			e.Peer = randomNetwork(r, w)
		}
	default:
	}
	if e.Authority == line.Regulator {
		e.Supplier = regulator
	}
	if e.Authority == line.Operator {
		e.Supplier = int32(e.Network)
	}
	if byDay := e.Authority != line.Regulator && e.Base == nil; byDay && chance(r, 12) {
		if e.Day, e.Effective = true, endOfDay(e.Effective); e.Kind == line.End {
			e.Effective = startOfDay(e.Effective)
		}
	}
	if e.ReportedAt = (e.Effective + pick(r, delays)).Time(); chance(r, 5) {
		e.ReportedAt = e.ReportedAt.Add(time.Second / 2)
	}
	if canBeHeld := e.Authority != line.Regulator; canBeHeld && chance(r, 10) {
		e.Hold = randomHold(r, e.Kind)
	}
	return e
}

func randomHold(r *rand.Rand, k line.Kind) line.Hold {
	if k == line.Assign {
		return pick(r, []line.Hold{line.HoldEarly, line.HoldEarly, line.HoldTooOld, line.HoldMass})
	}
	return pick(r, []line.Hold{line.HoldTooOld, line.HoldMass, line.HoldDonorLate})
}

func randomOrder(r *rand.Rand, e *line.Event) {
	e.Authority = line.Regulator
	switch r.IntN(10) {
	case 0, 1:
		e.Kind = line.Blacklist
	case 2:
		e.Kind = line.Release
	case 3:
		e.Kind = line.Unbar
	default:
		e.Kind, e.Number, e.Code = line.Bar, chance(r, 40), pick(r, []line.Code{line.ReasonCourt, line.ReasonNIN, line.ReasonFraud})
		if chance(r, 40) {
			e.Until = e.Effective + 3*day
		}
	}
}

// randomFileEvent makes an event that only a later snapshot causes.
func randomFileEvent(r *rand.Rand, w World, e *line.Event, base *line.Baseline) {
	e.Authority, e.Import, e.Network = line.Operator, 2, 1
	if base != nil {
		e.Network = base.Network
	}
	if chance(r, 25) {
		e.Network = randomNetwork(r, w)
	}
	if e.Kind = line.Restate; base != nil && chance(r, 60) {
		e.Base = randomBaseline(r, w, 2)
		e.Base.Network = e.Network
		if chance(r, 50) { // most restatements change one value
			said := *base
			said.Import, said.Network, said.SIM = 2, e.Network, e.Base.SIM
			said.Bits = said.Bits&^(line.SIMUnknown|line.SIMDay) | e.Base.Bits&(line.SIMUnknown|line.SIMDay)
			e.Base = &said
		}
	}
}

// randomHalves returns a claim and a release that may meet.
func randomHalves(r *rand.Rand, w World) (claim, release, port *line.Event) {
	claim = &line.Event{Kind: line.ClaimPort, Authority: line.Operator, Network: randomNetwork(r, w), Effective: instant(r), Until: line.Never, EndedAfter: line.Never}
	release = &line.Event{Kind: line.ReleasePort, Authority: line.Operator, Network: 1, Effective: claim.Effective, Until: line.Never, EndedAfter: line.Never}
	if chance(r, 30) {
		release.Network = randomNetwork(r, w)
	}
	if chance(r, 60) {
		release.Effective = instant(r)
	}
	claim, release = finish(r, w, claim), finish(r, w, release)
	if claim.Network == release.Network {
		return claim, release, nil
	}
	release.Peer = claim.Network
	met := line.Halves{Claim: claim, Release: release}
	if first, second := min(claim.Effective, release.Effective), max(claim.Effective, release.Effective); second > first+30*day || chance(r, 20) {
		return claim, release, nil
	}
	made := met.Event()
	made.Supplier, made.ReportedAt = claim.Supplier, claim.ReportedAt
	if release.ReportedAt.After(claim.ReportedAt) {
		made.Supplier, made.ReportedAt = release.Supplier, release.ReportedAt
	}
	return claim, release, &made
}

// randomReactions returns what was reported about an event: its confirmation if it is
// held, and voids by everyone who may.
func randomReactions(r *rand.Rand, e *line.Event) (about []*line.Event) {
	temporary := e.Kind == line.Bar && e.Authority == line.Regulator && e.Until != line.Never
	if (e.Hold != 0 || temporary) && chance(r, 50) {
		about = append(about, confirmation(r, e))
	}
	half := e.Kind == line.ClaimPort || e.Kind == line.ReleasePort
	if likely := 7; chance(r, likely) || half && chance(r, 25) {
		v := &line.Event{Kind: line.Void, Authority: e.Authority, Network: e.Network, Supplier: e.Supplier, Effective: e.Effective}
		if e.Kind == line.Restate {
			v.Authority, v.Network, v.Supplier = line.Regulator, 0, regulator // staff void a file
		}
		if v.Authority == line.Operator && chance(r, 10) {
			v.Hold = line.HoldDonorLate
		}
		about = append(about, later(r, v, e.ReportedAt))
	}
	if chance(r, 3) && (len(about) == 0 || half) || e.Kind == line.End && chance(r, 10) {
		v := &line.Event{Kind: line.Void, Authority: line.Regulator, Supplier: regulator, Effective: e.Effective}
		about = append(about, later(r, v, e.ReportedAt))
	}
	return about
}

func confirmation(r *rand.Rand, e *line.Event) *line.Event {
	c := &line.Event{Kind: line.Confirm, Authority: line.Regulator, Supplier: regulator}
	c = later(r, c, e.ReportedAt)
	c.Effective = line.InstantOf(c.ReportedAt)
	return c
}

func later(r *rand.Rand, e *line.Event, than time.Time) *line.Event {
	e.ReportedAt, e.Until, e.EndedAfter = than.Add(time.Duration(pick(r, delays))*time.Second), line.Never, line.Never
	return e
}
