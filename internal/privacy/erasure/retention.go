package erasure

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
)

// Retain erases the personal parts of the days before a time, as far as no legal hold
// keeps them. It returns the erasure; there is none if nothing was due.
func (r *Runner) Retain(ctx context.Context, before time.Time) (Erasure, error) {
	days, err := journal.DaysBefore(ctx, r.Archiver.Pool, before)
	if err != nil || len(days) == 0 {
		return Erasure{}, err
	}
	inForce, err := holdsInForce(ctx, r.Archiver.Pool)
	if err != nil {
		return Erasure{}, err
	}
	e := Erasure{ID: uuid.Must(uuid.NewV7()), Ground: Retention, State: Marked}
	l := list{Erasure: e.ID, Ground: Retention, At: r.Archiver.Now().UTC()}
	for _, day := range days {
		if err := r.retainDay(ctx, day, &inForce, &l, &e); err != nil {
			return e, err
		}
	}
	if len(l.Days)+len(l.Records) == 0 {
		return Erasure{}, nil
	}
	if err := r.store(ctx, &l, &e); err != nil {
		return e, err
	}
	return r.Run(ctx, e.ID)
}

// retainDay chooses what is erased of a day: all of it, or, if something of it is under a
// hold, each of the other records.
func (r *Runner) retainDay(ctx context.Context, day time.Time, inForce *holds, l *list, e *Erasure) error {
	var others list
	held := int64(0)
	if !inForce.none() {
		search := journal.Search{
			Pool: r.Archiver.Pool, Files: r.Archiver.Files, From: day, To: day.AddDate(0, 0, 1), Match: func(_, _ int64) bool { return true },
			EveryMode: true, OnProgress: r.OnSearch,
		}
		err := search.Run(ctx, func(found *record.Entry) error {
			switch {
			case found.Erased():
			case inForce.keep(found):
				held++
			default:
				others.add(found)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if held == 0 {
		l.Days = append(l.Days, day)
	} else {
		l.Records = append(l.Records, others.Records...)
	}
	e.Records, e.Held = e.Records+int64(len(others.Records)), e.Held+held
	return nil
}
