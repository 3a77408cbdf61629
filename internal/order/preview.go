package order

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/supply"
)

// Preview is what an order would do.
type Preview struct {
	Kind          approval.Kind // its rule is in [approval.Actions]
	Before, After line.View     // the answer about the number now, and once the order has taken effect
}

// Preview returns what an order would do, or everything that is wrong with it. Nothing
// is stored. The note may be missing.
func (s *Service) Preview(ctx context.Context, from supply.Supplier, f Form) (Preview, error) {
	now := s.now()
	f.Note = cmp.Or(f.Note, "-")
	return s.preview(ctx, from, now, func(zone *time.Location) (supply.RegulatorEvent, error) {
		e, err := s.parse(f, zone, now)
		e.Event.ID = uuid.Must(uuid.NewV7()).String()
		return e, err
	}, func(e *supply.RegulatorEvent, hold line.Hold) approval.Kind {
		return kindOf(f.Action, isPast(e, now), hold == line.HoldShare)
	})
}

// PreviewOf returns what the confirmation of a stored order would do.
func (s *Service) PreviewOf(ctx context.Context, from supply.Supplier, o Order) (Preview, error) {
	now := s.now()
	return s.preview(ctx, from, now, func(zone *time.Location) (supply.RegulatorEvent, error) {
		return s.confirmation(&o, zone, now)
	}, func(*supply.RegulatorEvent, line.Hold) approval.Kind { return o.Kind() })
}

func (s *Service) preview(
	ctx context.Context, from supply.Supplier, now time.Time, event func(*time.Location) (supply.RegulatorEvent, error), kind func(*supply.RegulatorEvent, line.Hold) approval.Kind,
) (p Preview, err error) {
	zone, err := s.zone(ctx, now)
	if err != nil {
		return Preview{}, err
	}
	e, err := event(zone)
	if err != nil {
		return Preview{}, err
	}
	e.Check = true
	err = s.Supply.InTx(ctx, func(tx pg.Tx) error {
		checked, err := s.Supply.Regulate(ctx, tx, from, e)
		p = Preview{Kind: kind(&e, checked.Hold), Before: checked.Before, After: checked.After}
		return err
	})
	if err != nil {
		return Preview{}, err
	}
	return p, nil
}
