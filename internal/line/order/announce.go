package order

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/supply/share"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// AnnounceChange is the approval of an announced mass change.
const AnnounceChange approval.Kind = "supply.announce"

// MassChange is a mass change of a network's lines that its operator has announced:
// what it covers is not held.
type MassChange struct {
	Network     string // its code
	Lines       int64  // how many may end, move or get a new holder
	From, Until time.Time
	Reason      string
	By          audit.Actor
	Request     uuid.UUID // the id of the HTTP request; zero for none
}

// The details of the approval.
const (
	detailNetwork = "network"
	detailLines   = "lines"
	detailFrom    = "from"
	detailUntil   = "until"
)

// Announce requests that a mass change not be held, and returns the approval that must
// be confirmed first. It is zero, and the change announced, if the operator acts alone
// because there are not two administrators yet.
func (s *Service) Announce(ctx context.Context, m MassChange) (pending uuid.UUID, err error) {
	now := s.now()
	_, plan, err := s.Supply.Lines.Current(ctx, s.Supply.Pool, now)
	if err != nil {
		return uuid.Nil, err
	}
	_, known := plan.Network(m.Network)
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", m.Reason)
	wrong.Check(m.Network != "", "network", fault.Required, "Give the code of the network whose lines will change.")
	wrong.Check(m.Network == "" || known, "network", fault.NotAllowed, "The numbering plan has no network with this code.")
	wrong.Check(m.Lines > 0, "lines", fault.Required, "Give the number of lines that will change, at least 1.")
	wrong.Check(m.Until.After(m.From), "until", fault.NotAllowed, "Give an end that is after the start.")
	wrong.Check(m.Until.After(now), "until", fault.NotAllowed, "Give an end that has not passed. An announcement does not change what is held already.")
	wrong.Check(m.Until.Sub(m.From) <= share.MaxPeriod, "until", fault.NotAllowed, "Give a period of at most 31 days.")
	if err := wrong.Err(); err != nil {
		return uuid.Nil, err
	}
	details := map[string]string{
		detailNetwork: m.Network, detailLines: strconv.FormatInt(m.Lines, 10),
		detailFrom: m.From.UTC().Format(time.RFC3339), detailUntil: m.Until.UTC().Format(time.RFC3339),
	}
	id := uuid.Must(uuid.NewV7())
	err = s.Supply.InTx(ctx, func(tx pg.Tx) error {
		alone, err := registry.MayActAlone(ctx, tx, m.By)
		if err != nil {
			return err
		}
		if alone {
			return s.announce(ctx, tx, id, details, audit.Entry{At: now, Actor: m.By, Request: m.Request, After: map[string]any{"reason": m.Reason}})
		}
		pending, err = approval.Create(ctx, tx, registry.CheckStaff, approval.Request{
			Kind: AnnounceChange, Subject: id, Details: details, Reason: m.Reason, By: m.By, Request: m.Request, At: now,
		})
		return err
	})
	return pending, err
}

// announce stores an announced mass change, with its audit entry.
func (s *Service) announce(ctx context.Context, tx pg.Tx, id uuid.UUID, details map[string]string, e audit.Entry) error {
	_, plan, err := s.Supply.Lines.Current(ctx, tx, e.At)
	if err != nil {
		return err
	}
	network, known := plan.Network(details[detailNetwork])
	lines, errLines := strconv.ParseInt(details[detailLines], 10, 64)
	from, errFrom := time.Parse(time.RFC3339, details[detailFrom])
	until, errUntil := time.Parse(time.RFC3339, details[detailUntil])
	if !known || errLines != nil || errFrom != nil || errUntil != nil || !until.After(e.At) {
		return fault.New(fault.IncompatibleState, "The announced period is over, or the network is no longer on the numbering plan. Reject it, and announce the change again.")
	}
	if err := share.Announce(ctx, tx, share.Announcement{ID: id, Network: network, Lines: lines, From: from, Until: until}, e.At); err != nil {
		return err
	}
	e.Action, e.Subject = audit.MassChangeAnnounced, id
	for name, value := range details {
		e.After[name] = value
	}
	return audit.Write(ctx, tx, e)
}
