// Package verify answers the question that the service exists for: how does the
// line of this phone number stand, and with which network is it?
//
// An answer exists only if the journal holds it. When the journal does not take
// it, the caller is refused and hears nothing about the line.
package verify

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// Question is one request for an answer.
type Question struct {
	Entity     uuid.UUID
	Key        uuid.UUID
	Mode       string
	Purpose    string
	Correlator string
	Number     phone.Number
	Sent       string    // the number as it was sent
	Since      time.Time // whole seconds; has the line changed since then? Zero does not ask
	Include    Include
}

// Answer is what the caller is told.
type Answer struct {
	RequestID uuid.UUID
	At        time.Time // whole milliseconds
	Status    line.Status
	Network   string
	Extra     Extra
	// Said is Extra as the record has it, one JSON object, so that the caller is
	// told those very bytes. It is empty when nothing more was asked.
	Said string
}

// Verifier answers questions. All fields are required.
type Verifier struct {
	Journal *journal.Journal
	Lines   *line.Almanac
	Now     func() time.Time
}

// Ask looks the number up, records the answer, and only then returns it. Both
// happen in one transaction, so that what was read from a primary that has been
// deposed cannot be committed on its successor.
func (v *Verifier) Ask(ctx context.Context, q Question) (a Answer, err error) {
	err = v.Journal.Record(ctx, func(tx pg.Tx) ([]journal.Entry, error) {
		// One reading of the clock gives the timestamp, the time inside the id, the
		// partition of the record and the moment for which the answer holds.
		at := v.Now().UTC().Truncate(time.Millisecond)
		l, err := v.Lines.Look(ctx, tx, q.Number, at)
		if err != nil {
			return nil, err
		}
		if a, err = answer(&q, l, at); err != nil {
			return nil, err
		}
		return []journal.Entry{{
			RequestID: a.RequestID, At: a.At, Entity: q.Entity, Key: q.Key, Mode: q.Mode, Purpose: q.Purpose, Correlator: q.Correlator,
			Number: q.Number.Int(), PhoneNumber: q.Sent, Options: q.options(), Status: string(a.Status), MobileNetwork: a.Network, Extra: a.Said,
			LineVersion: int64(l.Row.Version), PolicyVersion: l.Policy.Version, PlanVersion: l.Plan.Version, Nonce: journal.NewNonce(),
		}}, nil
	})
	if err != nil {
		return Answer{}, err
	}
	return a, nil
}

// answer says how the line stands, and what else was asked.
func answer(q *Question, l *line.Look, at time.Time) (a Answer, err error) {
	view := l.View(at)
	a = Answer{
		RequestID: journal.NewRequestID(at), At: at, Status: view.Status, Network: l.NetworkName(view.Network), Extra: q.extra(l, view, at),
	}
	if q.options() != "" {
		a.Said, err = a.Extra.text()
	}
	return a, err
}
