package verify_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// dates returns the dates of an answer as "value precision" and checks that the answer
// can be derived again.
func (l *scenario) dates(t *testing.T, number int64, purpose string) map[string]string {
	t.Helper()
	_, record := l.verifyLive(t, number, verify.Request{Include: verify.Include{Dates: true}, Purpose: purpose})
	var extra struct {
		Dates map[string]struct{ Value, Precision, KnownSince string }
	}
	if err := json.Unmarshal([]byte(record.Extra), &extra); err != nil {
		t.Fatalf("%s: %v", record.Extra, err)
	}
	if d := l.derive(t, record); d.Verdict != verify.Agrees || record.Options != "include=dates" || record.Purpose != purpose {
		t.Errorf("the record with the options %q is derived as %+v", record.Options, d)
	}
	found := map[string]string{}
	for name, d := range extra.Dates {
		found[name] = d.Precision
		if d.Value != "" {
			found[name] = d.Value + " " + d.Precision
		}
	}
	return found
}

// exactDates sets a policy by which payment may know exact dates and credit months.
func exactDates(t *testing.T, pool *pgxpool.Pool, at func() time.Time) {
	t.Helper()
	exact := policy.Defaults()
	exact.Version, exact.Note, exact.Purposes = 0, "exact dates", "payment=exact,credit=month,other=absent"
	if _, err := (&policy.Service{Pool: pool, Now: at}).Set(t.Context(), exact); err != nil {
		t.Fatal(err)
	}
}

// The dates of a line before and after a swap and a port: a port changes the SIM, and
// leaves the tenure as it is.
func TestDatesBeforeAndAfterASwapAndAPort(t *testing.T) {
	t.Parallel()
	l := newScenario(t)
	exactDates(t, l.pool, l.Now)
	want := func(when, purpose, tenure, sim, port string) {
		t.Helper()
		if diff := cmp.Diff(map[string]string{"tenureStart": tenure, "lastSimChange": sim, "lastPort": port}, l.dates(t, normal, purpose)); diff != "" {
			t.Errorf("%s, for %s (-want +got):\n%s", when, purpose, diff)
		}
	}
	second := func(days int) string { return daysAgo(days).Format("2006-01-02T15:04:05.000Z") + " second" }
	want("before any supply", "payment", "unknown", "unknown", "unknown")
	l.snapshot(t)
	want("after the snapshot", "payment", "2019-05-01 day", "2019-05-01 day", "unknown")
	want("after the snapshot", "credit", "2019-05 month", "2019-05 month", "unknown")
	want("after the snapshot", "other", "withheld", "withheld", "withheld")
	l.report(t, line.ChangeSIM, 3, "")
	want("after the swap", "payment", "2019-05-01 day", second(3), "unknown")

	house := supplierOf(line.ClearingHouse, "")
	r, err := l.supply.ApplyEvents(t.Context(), house, []supply.Item{{
		ID: uuid.NewString(), PhoneNumber: "+2348031234567", Type: line.Port.String(), EffectiveAt: daysAgo(2).Format(time.RFC3339), Network: "GLO",
	}})
	if err != nil || r.Results[0].Outcome != supply.Applied {
		t.Fatalf("report the port: %+v, %v", r, err)
	}
	want("after a port to a network that supplies nothing", "payment", "unknown", "unknown", "unknown")
	glo := supplierOf(line.Operator, "GLO")
	for _, topic := range []line.Topic{line.TopicLifecycle, line.TopicSIM} {
		if _, err := l.supply.ApplyEvents(t.Context(), glo, nil, supply.Assurance{Topic: topic, Through: l.clock}); err != nil {
			t.Fatal(err)
		}
	}
	want("after a port to a network that supplies since today", "payment", "2019-05-01 day", "unknown", second(2))
}
