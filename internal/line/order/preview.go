package order

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
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
	}, func(tx pg.Tx, e *supply.RegulatorEvent, hold line.Hold) (approval.Kind, error) {
		before, err := barsBefore(ctx, tx, e.Number, f.Action, now)
		return kindOf(f.Action, isPast(e, now), before.ended || hold == line.HoldMass), err
	})
}

// PreviewOf returns what the confirmation of a stored order would do.
func (s *Service) PreviewOf(ctx context.Context, from supply.Supplier, o Order) (Preview, error) {
	now := s.now()
	return s.preview(ctx, from, now, func(zone *time.Location) (supply.RegulatorEvent, error) {
		return s.confirmation(&o, zone, now)
	}, func(pg.Tx, *supply.RegulatorEvent, line.Hold) (approval.Kind, error) { return o.Kind(), nil })
}

func (s *Service) preview(
	ctx context.Context, from supply.Supplier, now time.Time, event func(*time.Location) (supply.RegulatorEvent, error),
	kind func(pg.Tx, *supply.RegulatorEvent, line.Hold) (approval.Kind, error),
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
		if err != nil {
			return err
		}
		p = Preview{Before: checked.Before, After: checked.After}
		p.Kind, err = kind(tx, &e, checked.Hold)
		return err
	})
	if err != nil {
		return Preview{}, err
	}
	return p, nil
}
