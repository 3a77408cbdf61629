package erasure

import (
	"context"
	"slices"

	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/feed"
)

// findFeeds returns the events in feeds that an order about a number covers, without those
// that a legal hold keeps.
func (r *Runner) findFeeds(ctx context.Context, e *Erasure, inForce *holds) ([]feed.Place, error) {
	if r.Feeds == nil || e.number == 0 || inForce.numbers[e.number] {
		return nil, nil
	}
	places, err := r.Feeds.Find(ctx, e.number)
	return slices.DeleteFunc(places, func(p feed.Place) bool { return inForce.entities[p.Entity] }), err
}

// eraseFeeds erases what feeds, their segments and the timers have about the number of an
// order. The number is forgotten when the order is finished, so that a run that was stopped
// finds everything again.
func (r *Runner) eraseFeeds(ctx context.Context, e *Erasure) error {
	inForce, err := holdsInForce(ctx, r.Archiver.Pool)
	if err != nil {
		return err
	}
	places, err := r.findFeeds(ctx, e, &inForce)
	if err != nil || r.Feeds == nil || e.number == 0 || inForce.numbers[e.number] {
		return err
	}
	if err := r.Feeds.Erase(ctx, places); err != nil {
		return err
	}
	return outbox.Forget(ctx, r.Archiver.Pool, e.number)
}
