package supply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Service takes in reports about lines. All fields but Files, Peppers and Limits are
// required.
type Service struct {
	Pool    *pgxpool.Pool
	Region  *phone.Region
	Lines   *linestore.Resolver
	Files   blob.Store      // holds files that were sent to the API until their import is finished
	Peppers *secret.Peppers // hide a number in the audit trail; [Service.StaffLookup] needs them
	Limits  ImportLimits    // of files that are sent to the API
	Now     func() time.Time
}

// rules are the policy and the numbering plan that apply to everything in one
// transaction, and the transaction's time.
type rules struct {
	policy *policy.Policy
	plan   *numbering.Plan
	terms  line.TermsAt // of every version of the policy
	now    time.Time

	lastSnapshot map[numbering.Network]line.Instant // the as-of time of each network's newest snapshot
	coverage     func(numbering.Network) line.Coverage
}

// rulesAt reads the policy and the plan that are active at a time.
func (s *Service) rulesAt(ctx context.Context, from pg.DB, now time.Time) (rules, error) {
	current, plan, err := s.Lines.Current(ctx, from, now)
	if err != nil {
		return rules{}, err
	}
	versions, err := policy.History(ctx, from)
	if err != nil {
		return rules{}, err
	}
	r := rules{policy: current, plan: plan, terms: line.TermsOf(versions), now: now, lastSnapshot: make(map[numbering.Network]line.Instant)}
	if r.coverage, err = linestore.CoverageAt(ctx, from, now); err != nil {
		return rules{}, err
	}
	rows, err := from.Query(ctx, `SELECT network, max(as_of) FROM supply_import WHERE kind = 'snapshot' AND state = 'applied' GROUP BY network`)
	if err != nil {
		return rules{}, fmt.Errorf("supply: read the last snapshots: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var n numbering.Network
		var asOf time.Time
		if err := rows.Scan(&n, &asOf); err != nil {
			return rules{}, fmt.Errorf("supply: read the last snapshots: %w", err)
		}
		r.lastSnapshot[n] = line.InstantOf(asOf)
	}
	if err := rows.Err(); err != nil {
		return rules{}, fmt.Errorf("supply: read the last snapshots: %w", err)
	}
	return r, nil
}

// inTx runs fn in a transaction, and retries it if another transaction was in
// conflict with it.
func (s *Service) inTx(ctx context.Context, fn func(tx pg.Tx) error) error {
	return retry(func() error { return pg.InTx(ctx, s.Pool, fn) })
}

// inLongTx is inTx for a chunk of a file, which takes longer.
func (s *Service) inLongTx(ctx context.Context, fn func(tx pg.Tx) error) error {
	return retry(func() error { return pg.InLongTx(ctx, s.Pool, fn) })
}

// maxTries is how often a transaction is tried before the caller gets an error.
const maxTries = 8

func retry(try func() error) (err error) {
	for range maxTries {
		if err = try(); err == nil || !isConflict(err) {
			return err
		}
	}
	return fault.New(fault.Unavailable, "Too many other requests are changing the same numbers. Send it again shortly.").Because(err)
}

// isConflict reports whether a transaction failed only because of another one:
// a row had changed since it was read, a deadlock (40P01), a serialisation
// failure (40001), a lock timeout (55P03), or a unique violation (23505), which
// the next try finds as an existing row. A unique violation in supply_import is
// no conflict: it would fail again.
func isConflict(err error) bool {
	if errors.Is(err, linestore.ErrConcurrentUpdate) {
		return true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "40P01" || e.Code == "40001" || e.Code == "55P03" || e.Code == "23505" && e.TableName != "supply_import")
}

// now returns the time in whole microseconds, the precision of PostgreSQL.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// day returns the start of the day, in UTC, under which something is counted.
func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func idOrNull(id uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: id, Valid: id != uuid.Nil} }
