package e2e_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// plantOrders makes what staff decide about numbers: an event that is held, orders that
// wait for a second person, and mandates of an agent in every state.
func (g *browserData) plantOrders(t *testing.T) {
	t.Helper()
	lines := &supply.Service{Pool: g.pool, Region: g.region, Lines: &linestore.Resolver{}, Now: time.Now}
	telco := supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "COBALT", Actor: access.Operator}
	ago := func(days int) string { return time.Now().AddDate(0, 0, -days).UTC().Format(time.RFC3339) }
	must(lines.ApplyEvents(t.Context(), telco, []supply.Item{
		{ID: "parked", PhoneNumber: "+2348037700005", Type: "PARKED", EffectiveAt: ago(100)}, {ID: "late", PhoneNumber: "+2348037700005", Type: "USED", EffectiveAt: ago(90)},
	}))(t)
	orders, by := &order.Service{Supply: lines}, supply.Supplier{Actor: audit.Actor{Kind: audit.Account, ID: uuid.New()}}
	for _, f := range []order.Form{
		{PhoneNumber: "+2348037700002", Action: "BAR", Reason: "FRAUD", Note: "Case 12 of 2026"}, {PhoneNumber: "+2348037700003", Action: "BLACKLIST", Note: names["yoruba"]},
	} {
		must(orders.Create(t.Context(), by, f))(t)
	}
	g.exec(t, `INSERT INTO mandate (id, entity_id, principal, purposes, until, document, created_at, ended_at)
		SELECT gen_random_uuid(), $1, CASE i WHEN 1 THEN $2 ELSE 'Corner Shop ' || i END, CASE WHEN i = 1 THEN '{payment,credit}'::text[] ELSE '{}' END,
			now() + (i - 2) * interval '100 days', 'letter of 3 November 2026, file 114/26', now() - interval '300 days', CASE WHEN i = 4 THEN now() END
		FROM generate_series(1, 4) i`, g.bank.ID, string([]rune(names["long"])[:100]))
}
