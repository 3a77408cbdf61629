package alerts_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// faultsOfSupply are operators that stop supplying, and sessions that keep changes of lines from
// being passed on.
func (s *site) faultsOfSupply() []fault {
	end := func() {}
	mend := func(context.Context) error { end(); return nil }
	return []fault{
		{
			"an operator has supplied nothing for 32 hours", "LineproofOperatorLate", false,
			func(ctx context.Context) error { return s.ageSupply(ctx, 32*time.Hour) }, s.supplyNow,
		},
		{
			"an operator has supplied nothing for 2 days", "LineproofOperatorSilent", false,
			func(ctx context.Context) error { return s.ageSupply(ctx, 48*time.Hour) }, s.supplyNow,
		},
		{
			"a session holds the mark of the feed while lines change", "LineproofFeedLate", false,
			func(ctx context.Context) (err error) {
				if end, err = s.hold(ctx, `SELECT FROM outbox_mark WHERE reader = 'feed' FOR UPDATE`); err != nil {
					return err
				}
				return s.changeLine(ctx)
			}, mend,
		},
		{
			"a session has held the marks of the notices for 2 hours", "LineproofNoticesLate", false,
			func(ctx context.Context) (err error) {
				if end, err = s.hold(ctx, `SELECT FROM outbox_mark WHERE reader LIKE 'impact%' FOR UPDATE`); err != nil {
					return err
				}
				if err := s.changeLine(ctx); err != nil {
					return err
				}
				return s.sql(ctx, `UPDATE line_change SET reported_at = reported_at - interval '2 hours' WHERE n > (SELECT min(n) FROM outbox_mark WHERE reader LIKE 'impact%')`)
			}, mend,
		},
	}
}

// supplier is the operator of the faults.
const supplier = "AIRTEL"

// ageSupply moves the last supply of the operator back by a time.
func (s *site) ageSupply(ctx context.Context, age time.Duration) error {
	const of = ` WHERE topic IN (1, 2) AND network = (SELECT id FROM network WHERE name = '` + supplier + `')`
	back := fmt.Sprintf("interval '%d seconds'", int64(age.Seconds()))
	return s.sql(ctx, `UPDATE supply_coverage SET supplied_through = supplied_through - `+back+`, updated_at = updated_at - `+back+of+
		`; UPDATE supply_coverage_history SET supplied_through = supplied_through - `+back+`, at = at - `+back+of)
}

// supplyNow lets the operator say that nothing more has happened, as it does when it supplies again.
func (s *site) supplyNow(ctx context.Context) error {
	return s.importEvents(ctx, "", "--as-of", time.Now().UTC().Format(time.RFC3339))
}

// changeLine lets the operator report a new SIM of one of its lines.
func (s *site) changeLine(ctx context.Context) error {
	now := time.Now().UTC()
	return s.importEvents(ctx, fmt.Sprintf("alerts-%d,%s,SIM_CHANGED,%s\n", now.UnixNano(), lineOf(int(now.Unix()%1000)), now.Format(time.RFC3339)))
}

func (s *site) importEvents(ctx context.Context, rows string, flags ...string) error {
	file := filepath.Join(s.dir, "events.csv")
	if err := os.WriteFile(file, []byte("id,number,type,effectiveAt\n"+rows), 0o600); err != nil {
		return err
	}
	_, err := s.command(ctx, append([]string{"lines", "import", "--network", supplier, "--kind", "events", file}, flags...)...)
	return err
}

// lineOf returns the i-th line of the operator in the demonstration.
func lineOf(i int) string { return fmt.Sprintf("+234802%07d", (i+1)*6180339%10_000_000) }

// hold runs a statement in a transaction of another session, which stays open until end is called.
func (s *site) hold(ctx context.Context, statement string) (end func(), err error) {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return nil, err
	}
	end = func() { _ = conn.Close(context.WithoutCancel(ctx)) } // which rolls it back
	if _, err := conn.Exec(ctx, "SET idle_in_transaction_session_timeout = 0; BEGIN; "+statement); err != nil {
		end()
		return nil, err
	}
	return end, nil
}
