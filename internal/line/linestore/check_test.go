package linestore_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A replay finds a wrong value in any column of a line that has events.
func TestReplayFindsDamageOfEveryColumn(t *testing.T) {
	t.Parallel()

	pool := pgtest.New(t)
	versions, err := policy.History(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	base := line.Baseline{Import: 7, AsOf: 100, Network: home, Tenure: 10, SIM: 20, State: line.StateActive, StateSince: 10, Until: line.Never}
	event := line.Event{
		Seq: 1, ID: "swap", Kind: line.ChangeSIM, Effective: 200, ReportedAt: line.Instant(200).Time(), Authority: line.Operator, Network: home,
		Until: line.Never, EndedAfter: line.Never, Base: &base,
	}
	h := &line.History{Base: &base, Events: []line.Event{event}}
	inTx(t, pool, func(tx pg.Tx) error {
		if err := linestore.AppendEvents(t.Context(), tx, []linestore.EventRow{{Number: number(1), Event: event}}); err != nil {
			return err
		}
		row := linestore.Record{Number: number(1), Row: h.Row(line.TermsOf(versions))}
		return linestore.SaveRows(t.Context(), tx, []linestore.ChangedRow{{Record: row}})
	})
	finds := func() bool {
		r, err := linestore.Replay(t.Context(), pool, func(linestore.ReplayReport) {})
		if err != nil {
			t.Fatal(err)
		}
		return !r.OK()
	}
	if finds() {
		t.Fatal("the undamaged line is reported")
	}
	rows, err := pool.Query(t.Context(), `SELECT column_name FROM information_schema.columns WHERE table_name = 'line_now' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(columns) < 28 {
		t.Fatalf("the columns are %v, %v", columns, err)
	}
	owner := pgtest.Open(t, pool.Config().ConnString(), "")
	for _, c := range columns {
		if _, err := owner.Exec(t.Context(), fmt.Sprintf(`CREATE TABLE kept AS TABLE line_now; UPDATE line_now SET %[1]s = coalesce(%[1]s, 0) + 1`, c)); err != nil {
			t.Fatal(err)
		}
		if !finds() {
			t.Errorf("a wrong %s is not found", c)
		}
		if _, err := owner.Exec(t.Context(), `DELETE FROM line_now; INSERT INTO line_now SELECT * FROM kept; DROP TABLE kept`); err != nil {
			t.Fatal(err)
		}
	}
	if finds() {
		t.Error("the repaired line is reported")
	}
}
