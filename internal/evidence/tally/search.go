package tally

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Search is [Tally.Records] for staff, who can read the records of any entity, one
// entity at a time. Who reads them, and why, is written to the audit trail before
// the page is returned.
func (t *Tally) Search(ctx context.Context, f Filter, r staffaccess.Access) (Page, error) {
	var wrong fault.Form
	r.Check(&wrong)
	wrong.Check(f.Entity != uuid.Nil, "entity", fault.Required, "Choose the organisation whose records you want to read.")
	if err := wrong.Err(); err != nil {
		return Page{}, err
	}
	page, err := t.Records(ctx, f)
	if err != nil {
		return Page{}, err
	}
	what := map[string]any{"mode": f.Mode, "status": f.Status, "from": stamp(f.From), "to": stamp(f.To), "after": stamp(f.After.At), "shown": len(page.Records)}
	if err := r.Record(ctx, staffaccess.LookUp{Action: audit.JournalRead, Subject: r.Request, Entity: f.Entity, Details: what}); err != nil {
		return Page{}, err
	}
	return page, nil
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
