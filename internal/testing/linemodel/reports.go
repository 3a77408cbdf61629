package linemodel

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

const (
	meetingTime = 30 * 24 * time.Hour // between the effects of the halves of a port
	endGrace    = 72 * time.Hour      // between an end and the port that it gives way to
)

// reports answers what follows from the reports alone, without the state of the
// line: which of them are held, withdrawn or confirmed, and which halves met.
type reports struct {
	events []line.Event // in the order of reporting
	// overtaken are the voids that came too late, by their seq. That follows from the
	// ports, so it is known only after a walk.
	overtaken map[int64]bool
	// ported says of the restatements by networks to which a port brought the line when
	// that port was known. Those of other networks than the baseline's wait for it.
	ported map[int64]moment
	// hadLine are the releases of networks that had the line then.
	hadLine map[int64]bool
	// moved are the events that completed the ports that took effect.
	moved map[int64]bool
	base  *line.Baseline
	pairs []pair
}

// pair is a claim and the release that it met.
type pair struct{ claim, release *line.Event }

func newReports(h *line.History, overtaken, hadLine, moved map[int64]bool, ported map[int64]moment) *reports {
	r := &reports{events: slices.Clone(h.Events), overtaken: overtaken, hadLine: hadLine, moved: moved, ported: ported, base: h.Base}
	slices.SortFunc(r.events, func(a, b line.Event) int { return reported(&a).compare(reported(&b)) })
	r.pairs = r.meet()
	return r
}

func (r *reports) find(seq int64) *line.Event {
	for i := range r.events {
		if r.events[i].Seq == seq {
			return &r.events[i]
		}
	}
	return nil
}

// confirmation returns the regulator's confirmation of an event, or nil.
func (r *reports) confirmation(e *line.Event) *line.Event {
	for i := range r.events {
		c := &r.events[i]
		if c.Kind == line.Confirm && c.Target == e.Seq && !r.withdrawnByAuthority(c) {
			return c
		}
	}
	return nil
}

func (r *reports) held(e *line.Event) bool {
	return e.Hold != 0 && r.confirmation(e) == nil && !r.moot(e)
}

// moot says whether a held void has nothing left to withdraw, because an authority
// withdrew it.
func (r *reports) moot(v *line.Event) bool {
	target := r.find(v.Target)
	return v.Kind == line.Void && v.Hold != 0 && r.confirmation(v) == nil && target != nil && r.withdrawnByAuthority(target)
}

// counts returns from when an event counts: its report, or its confirmation if it
// was held.
func (r *reports) counts(e *line.Event) moment {
	if c := r.confirmation(e); e.Hold != 0 && c != nil {
		return latest(reported(e), reported(c))
	}
	return reported(e)
}

// voids returns the voids of an event that count: not held and not overtaken.
func (r *reports) voids(e *line.Event) (vs []*line.Event) {
	for i := range r.events {
		v := &r.events[i]
		if v.Kind == line.Void && v.Target == e.Seq && !r.overtaken[v.Seq] && (v.Hold == 0 || r.confirmation(v) != nil) {
			vs = append(vs, v)
		}
	}
	return vs
}

// withdrawnByAuthority says whether a void that leaves nothing withdrew the event.
func (r *reports) withdrawnByAuthority(e *line.Event) bool {
	return slices.ContainsFunc(r.voids(e), func(v *line.Event) bool { return v.Authority != line.Operator })
}

// ownVoid returns when the operator withdrew its own event.
func (r *reports) ownVoid(e *line.Event) (moment, bool) {
	for _, v := range r.voids(e) {
		if v.Authority == line.Operator {
			return r.counts(v), true
		}
	}
	return moment{}, false
}

// meet finds the halves that met. A release meets the earliest reported claim that
// fits, and each half is used once.
func (r *reports) meet() (pairs []pair) {
	var claims, releases []*line.Event
	for i := range r.events {
		e := &r.events[i]
		if r.held(e) || r.withdrawnByAuthority(e) {
			continue
		}
		switch e.Kind {
		case line.ClaimPort:
			claims = append(claims, e)
		case line.ReleasePort:
			if !e.Outside || r.hadLine[e.Seq] {
				releases = append(releases, e)
			}
		default:
		}
	}
	inOrder := func(a, b *line.Event) int { return r.counts(a).compare(r.counts(b)) }
	slices.SortFunc(claims, inOrder)
	slices.SortFunc(releases, inOrder)
	for _, release := range releases {
		i := slices.IndexFunc(claims, func(claim *line.Event) bool { return r.fits(claim, release) })
		if i >= 0 {
			pairs = append(pairs, pair{claims[i], release})
			claims = slices.Delete(claims, i, i+1)
		}
	}
	return pairs
}

func (r *reports) fits(claim, release *line.Event) bool {
	apart := claim.Effective.Time().Sub(release.Effective.Time()).Abs()
	return release.Peer == claim.Network && apart <= meetingTime && !r.portedBetween(release, claim) &&
		!r.withdrawnBefore(claim, release) && !r.withdrawnBefore(release, claim)
}

// portedBetween says whether a port took the number away between a release and a later
// claim.
func (r *reports) portedBetween(release, claim *line.Event) bool {
	between := func(e *line.Event) bool {
		from, at, to := item{Event: *release, rank: rankOf(release.Kind)}, item{Event: *e, rank: rankOf(e.Kind)}, item{Event: *claim, rank: rankOf(claim.Kind)}
		return from.comesBefore(&at) && at.comesBefore(&to)
	}
	for seq := range r.moved {
		if e := r.find(seq); e != nil && between(e) {
			return true
		}
	}
	return false
}

// comesBefore is isBefore, and of the same kind and second what was reported earlier
// comes first.
func (it *item) comesBefore(o *item) bool {
	if it.Effective == o.Effective && it.rank == o.rank {
		return reported(&it.Event).before(reported(&o.Event))
	}
	return it.isBefore(o)
}

// withdrawnBefore says whether a half had been withdrawn when the other was reported.
func (r *reports) withdrawnBefore(half, other *line.Event) bool {
	at, ok := r.ownVoid(half)
	return ok && at.before(latest(r.counts(half), r.counts(other)))
}

func (r *reports) pairOf(half *line.Event) (pair, bool) {
	for _, p := range r.pairs {
		if p.claim == half || p.release == half {
			return p, true
		}
	}
	return pair{}, false
}

// undone says whether both networks withdrew their halves.
func (r *reports) undone(p pair) bool {
	_, claim := r.ownVoid(p.claim)
	_, release := r.ownVoid(p.release)
	return claim && release
}

// withdrawn says whether an event counts as never reported. contested says that its
// operator withdrew it, so that its signal stays.
func (r *reports) withdrawn(e *line.Event) (gone, contested bool) {
	if r.withdrawnByAuthority(e) {
		return true, false
	}
	if _, own := r.ownVoid(e); !own {
		return false, false
	}
	if p, met := r.pairOf(e); met {
		return r.undone(p), r.undone(p)
	}
	return true, true
}

// pending says whether a restatement is by a network that did not have the line.
func (r *reports) pending(e *line.Event) bool {
	_, ported := r.ported[e.Seq]
	return e.Kind == line.Restate && !ported && (r.base == nil && e.Outside || r.base != nil && r.base.Network != e.Network)
}

// locked says whether a void waits for the other network to withdraw its half.
func (r *reports) locked(v *line.Event) bool {
	half := r.find(v.Target)
	if half == nil || v.Authority != line.Operator || r.withdrawnByAuthority(half) {
		return false
	}
	p, met := r.pairOf(half)
	return met && !r.undone(p)
}
