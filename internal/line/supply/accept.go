package supply

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrNotDoubtful reports a topic that is believed, so that there is nothing to accept.
var ErrNotDoubtful = fault.New(fault.IncompatibleState, "What was stated about this topic is believed, or nothing was stated yet. There is nothing to accept.")

// topicOwner returns under which network the coverage of a topic is kept.
func (s *Service) topicOwner(ctx context.Context, from pg.DB, network string, t line.Topic, now time.Time) (numbering.Network, error) {
	if t == line.TopicPort {
		return line.Nation, nil
	}
	_, plan, err := s.Lines.Current(ctx, from, now)
	if err != nil {
		return 0, err
	}
	n, ok := plan.Network(network)
	if !ok {
		return 0, ErrNoNetwork
	}
	return n, nil
}

// CheckDoubtful returns an error unless a topic is disbelieved.
func (s *Service) CheckDoubtful(ctx context.Context, tx pg.Tx, network string, t line.Topic, now time.Time) error {
	n, err := s.topicOwner(ctx, tx, network, t, now)
	if err != nil {
		return err
	}
	doubtful, err := linestore.IsDoubtful(ctx, tx, n, t)
	if err == nil && !doubtful {
		err = ErrNotDoubtful
	}
	return err
}

// AcceptTopic lets a topic be believed again that was disbelieved. Package order has made sure that two
// people agreed.
func (s *Service) AcceptTopic(ctx context.Context, tx pg.Tx, network string, t line.Topic, now time.Time) error {
	n, err := s.topicOwner(ctx, tx, network, t, now)
	if err != nil {
		return err
	}
	accepted, err := linestore.AcceptTopic(ctx, tx, n, t, now)
	if err == nil && !accepted {
		err = ErrNotDoubtful
	}
	return err
}
