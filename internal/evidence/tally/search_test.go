package tally_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// A search of staff is in the audit trail: who, why, whose records, and which.
// Without a reason, or for all entities at once, there is no search.
func TestSearchesAreInTheTrail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, by := uuid.New(), audit.Actor{Kind: audit.Account, ID: uuid.New()}
	e := entry(b.now(), bank, "live", "SWAPPED")
	b.mustWrite(t, e)
	reading := staffaccess.Access{Budget: staffaccess.Budget{Pool: b.Pool, Now: b.now}, By: by, Reason: "Complaint 31 of 2026", Request: uuid.New()}
	for _, c := range []struct {
		f tally.Filter
		r staffaccess.Access
	}{{tally.Filter{Limit: 10}, reading}, {tally.Filter{Entity: bank, Limit: 10}, staffaccess.Access{By: by, Reason: "hm"}}} {
		if _, err := b.Search(t.Context(), c.f, c.r); !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	page, err := b.Search(t.Context(), tally.Filter{Entity: bank, Status: "SWAPPED", Limit: 10}, reading)
	if err != nil || len(page.Records) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	elsewhere := tally.Tally{Pool: pgtest.NewAnyTime(t), Read: b.Pool, Now: b.Now}
	there := reading
	there.Budget.Pool = elsewhere.Pool
	if page, err := elsewhere.Search(t.Context(), tally.Filter{Entity: bank, Limit: 10}, there); err != nil || len(page.Records) != 1 {
		t.Errorf("in a database that is only read: %+v, %v", page, err)
	}
	find := func(ctx context.Context, id uuid.UUID) (uuid.UUID, error) {
		got, err := journal.Get(ctx, b.Pool, id)
		return got.Entity, err
	}
	if err := reading.FindRecord(t.Context(), e.RequestID, find); err != nil {
		t.Error(err)
	}
	nothing := uuid.New()
	if err := reading.FindRecord(t.Context(), nothing, find); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a record that is not there: %v", err)
	}
	var list []audit.Record
	if list, err = audit.List(t.Context(), b.Pool, audit.Filter{Action: string(audit.JournalRead)}); err != nil || len(list) != 3 {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	subjects := map[uuid.UUID]audit.Record{}
	for _, w := range list {
		subjects[w.Subject] = w
		if !w.Actor.Same(by) || w.After["reason"] != reading.Reason || w.Request != reading.Request {
			t.Errorf("the trail has %+v", w)
		}
	}
	if got := subjects[reading.Request]; got.Entity != bank || got.After["status"] != "SWAPPED" || got.After["shown"] != float64(1) || got.After["mode"] != nil {
		t.Errorf("of the search the trail says %+v", got)
	}
	if subjects[e.RequestID].Entity != bank || subjects[nothing].Entity != uuid.Nil || subjects[nothing].ID == uuid.Nil {
		t.Errorf("of the records the trail says %+v", subjects)
	}
}
