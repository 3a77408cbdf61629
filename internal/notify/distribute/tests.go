package distribute

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Tests tells test keys what happens to the test numbers that they watch. All fields are
// required.
type Tests struct {
	Simulator *sandbox.Simulator
	Lines     *linestore.Resolver
}

// Distribute adds what happened while a test clock of the organisation was moved to the
// feed of its test keys, in the transaction that moves the clock.
func (t *Tests) Distribute(ctx context.Context, tx pg.Tx, entity uuid.UUID, m sandbox.Move) error {
	p, _, err := t.Lines.Current(ctx, tx, m.Now)
	if err != nil {
		return err
	}
	changes := t.Simulator.Changes(m, p)
	if len(changes) == 0 {
		return nil
	}
	numbers := make([]phone.Number, len(changes))
	for i := range changes {
		numbers[i] = changes[i].Number
	}
	matches, err := watchlist.MatchTest(ctx, tx, entity, numbers)
	if err != nil {
		return err
	}
	watchers := watchersOf(matches)
	s := standings{at: m.Now, policy: p, plan: &numbering.Plan{}}
	var events []feed.Event
	for i := range changes {
		c := &changes[i]
		if len(watchers[c.Number]) == 0 {
			continue
		}
		rules := outbox.Rules{Policy: p, Plan: s.plan, Now: c.At.Time()} // an empty plan: every test number is allocated
		described, differs := describe(&rules, c)
		if !differs {
			continue
		}
		described.Version = c.Version
		event, data := s.lineEvent(&described, watchers[c.Number][0].lists)
		data.MobileNetwork = t.Simulator.NetworkName(described.Network)
		events = append(events, event)
	}
	return feed.Append(ctx, tx, feed.Owner{Entity: entity, Mode: "test"}, events...)
}

func describe(rules *outbox.Rules, c *sandbox.Change) (outbox.Change, bool) {
	if c.FellDue {
		return rules.FellDue(outbox.Timer{Number: c.Number, Due: c.At}, &c.Before)
	}
	described := rules.Describe(c.Number, &c.Before, &c.After, []line.Event{c.Event})
	return described, described.Kind != outbox.Past
}
