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
	Sent       string // the number as it was sent
}

// Answer is what the caller is told.
type Answer struct {
	RequestID uuid.UUID
	At        time.Time // whole milliseconds
	Status    line.Status
	Network   string
}

// Verifier answers questions. All fields are required.
type Verifier struct {
	Journal *journal.Journal
	Now     func() time.Time
}

// Ask looks the number up, records the answer, and only then returns it. Both
// happen in one transaction, so that what was read from a primary that has been
// deposed cannot be committed on its successor.
func (v *Verifier) Ask(ctx context.Context, q Question) (a Answer, err error) {
	err = v.Journal.Record(ctx, func(tx pg.Tx) ([]journal.Entry, error) {
		l, err := line.Lookup(ctx, tx, q.Number)
		if err != nil {
			return nil, err
		}
		// One reading of the clock gives the timestamp, the time inside the id and
		// the partition of the record.
		at := v.Now().UTC().Truncate(time.Millisecond)
		a = Answer{RequestID: journal.NewRequestID(at), At: at, Status: l.Status, Network: l.Network}
		return []journal.Entry{{
			RequestID: a.RequestID, At: a.At, Entity: q.Entity, Key: q.Key, Mode: q.Mode, Purpose: q.Purpose, Correlator: q.Correlator,
			Number: q.Number.Int(), PhoneNumber: q.Sent, Status: string(a.Status), MobileNetwork: a.Network,
			LineVersion: l.Version, Nonce: journal.NewNonce(),
		}}, nil
	})
	if err != nil {
		return Answer{}, err
	}
	return a, nil
}
