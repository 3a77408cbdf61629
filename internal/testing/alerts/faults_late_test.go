package alerts_test

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// faultsOfTime are those of which only the age is moved: what makes it grow is real.
func (s *site) faultsOfTime() []fault {
	end := func() {}
	return []fault{
		{
			"a transaction that writes has been open for 2 hours", "LineproofCountsLate", false,
			func(ctx context.Context) (err error) {
				if end, err = s.hold(ctx, `SELECT pg_current_xact_id()`); err != nil {
					return err
				}
				// Only then does the count wait for the transaction. A count that a killed node left is
				// taken over after 3 minutes.
				if err := within(ctx, 6*time.Minute, "the counts are fenced", s.countsAreFenced); err != nil {
					return err
				}
				return s.sql(ctx, `UPDATE tally_mark SET settled = settled - interval '2 hours'`)
			},
			func(context.Context) error { end(); return nil },
		},
		{
			"the signatures of the virus scanner are 8 days old", "LineproofScannerOld", false,
			func(ctx context.Context) error {
				return errors.Join(s.clam.SetDate(ctx, time.Now().Add(-8*24*time.Hour)), s.serve(ctx)) // it asks for the date at its start, and then every 5 minutes
			},
			func(ctx context.Context) error {
				return errors.Join(s.clam.SetDate(ctx, time.Now().Add(-time.Hour)), s.serve(ctx))
			},
		},
	}
}

// countsAreFenced succeeds once the job that counts answers waits for an open transaction.
func (s *site) countsAreFenced(ctx context.Context) error {
	return s.holds(ctx, `SELECT fence_xact > pg_snapshot_xmin(pg_current_snapshot()) FROM tally_mark`)
}

// holds fails unless a query returns true.
func (s *site) holds(ctx context.Context, query string, args ...any) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var is bool
	if err := conn.QueryRow(ctx, query, args...).Scan(&is); err != nil {
		return err
	}
	if !is {
		return errors.New("not yet: " + query)
	}
	return nil
}
