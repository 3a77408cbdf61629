package server

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// openGuard opens the guard with the stored state, so that the restart of a node
// neither releases an organisation that was stopped nor resets a quota.
func (s *service) openGuard(ctx context.Context) error {
	var kinds, levels []string
	for _, k := range guard.Kinds {
		kinds = append(kinds, string(k))
	}
	for _, l := range guard.Levels {
		levels = append(levels, l.String())
	}
	s.metrics.RegisterGuard(kinds, levels)
	s.guard = guard.New(&guard.Guard{
		Pool: s.lanes.verify, Node: s.cfg.Node, Mode: guard.Mode(s.cfg.ScanGuard), Now: time.Now, Log: s.log,
		OnAlert: func(k guard.Kind, l guard.Level) { s.metrics.GuardAlert(string(k), l.String()) },
		Notify: func(ctx context.Context, tx pg.Tx, a guard.Alert) error {
			return notifyOfAlert(ctx, tx, s.people, &a)
		},
	})
	return s.guard.Sync(ctx)
}

// notifyOfAlert notifies the administrators of the regulator of an alert, and the admins
// of the organisation if it is slowed or stopped.
func notifyOfAlert(ctx context.Context, tx pg.Tx, p *people.People, a *guard.Alert) error {
	about := message.Content{Detail: guard.Finding(a) + ". The organisation is " + guard.Consequence(a) + ".", Path: "/portal/desk/limits/" + a.Entity.String()}
	if a.Sponsor != uuid.Nil {
		c, err := p.Access.Client(ctx, a.Sponsor)
		if err != nil {
			return err
		}
		about.About, about.Detail, about.Path = "Organisations of the client "+c.Name, guard.Finding(a)+". All its organisations together are "+guard.Consequence(a)+".", "/portal/desk/limits"
	} else {
		e, err := p.Registry.Entity(ctx, a.Entity)
		if err != nil {
			return err
		}
		about.About = e.Name
	}
	if err := p.NotifyStaff(ctx, tx, people.Notice{Kind: people.GuardFound, Content: about}, uuid.Nil, access.Administrator); err != nil {
		return err
	}
	kind := people.ScanSlowed
	switch a.Level {
	case guard.None, guard.Notified:
		return nil // the organisation gets every answer
	case guard.Slowed:
	case guard.Stopped:
		kind = people.ScanStopped
	}
	n := people.Notice{Kind: kind, Content: message.Content{Detail: guard.Finding(a) + ".", Path: "/portal/overview"}}
	if a.Sponsor != uuid.Nil {
		return p.NotifySponsored(ctx, tx, n, a.Sponsor)
	}
	return p.NotifyAdmins(ctx, tx, n, a.Entity)
}
