package line

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
)

// LookupSet is the look-up of several numbers at one moment: their rows, and the
// policy, plan and coverage that their statuses are computed by.
type LookupSet struct {
	at       time.Time
	policy   *policy.Policy
	plan     *numbering.Plan
	coverage func(numbering.Network) Coverage
	rows     map[phone.Number]Row
}

// rulesQuery reads the current versions of policy and plan, and the coverage of
// every network.
const rulesQuery = `SELECT ` + currentVersions + `,
	array_agg(network), array_agg(coalesce(extract(epoch FROM known_since)::bigint, 0)), array_agg(coalesce(extract(epoch FROM complete_since)::bigint, 0)),
	array_agg(coalesce(extract(epoch FROM supplied_through)::bigint, 0)) FROM supply_coverage`

// rowsQuery reads the rows of numbers; a number without a row is missing from the
// result. readRow expects the columns in this order.
const rowsQuery = `SELECT number, version, baseline, network, state, state_since, tenure_start, sim_at, newest, until, ended_after, port_at, bar_at,
	order_at, black_at, flag_at, flag_by, flag_level, bar_reason, order_reason FROM line_now WHERE number = ANY($1)`

// LookupAll looks up numbers at a time, which is usually the present. In a
// transaction with one snapshot (REPEATABLE READ) all of the result is of one
// moment. Rows are never cached: a SIM swap that was reported a second ago must
// show.
func (r *Resolver) LookupAll(ctx context.Context, from pg.DB, numbers []phone.Number, at time.Time) (*LookupSet, error) {
	s := &LookupSet{at: at, rows: make(map[phone.Number]Row, len(numbers))}
	keys := make([]int64, len(numbers))
	for i, n := range numbers {
		keys[i] = n.Int()
	}
	queries := &pgx.Batch{}
	queries.Queue(rulesQuery, at)
	queries.Queue(rowsQuery, keys)
	results := from.SendBatch(ctx, queries)
	policyVersion, planVersion, err := s.readRules(results.QueryRow())
	if err == nil {
		err = s.readRows(results)
	}
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("line: look up: %w", err)
	}
	s.policy, s.plan, err = r.Rules(ctx, from, policyVersion, planVersion)
	return s, err
}

func (s *LookupSet) readRules(row pgx.Row) (policyVersion, planVersion int32, err error) {
	var (
		networks                 []numbering.Network
		known, complete, through []int64
	)
	err = row.Scan(&policyVersion, &planVersion, &networks, &known, &complete, &through)
	s.coverage = func(of numbering.Network) Coverage {
		for i, n := range networks {
			if n == of {
				return Coverage{KnownSince: unix(known[i]), CompleteSince: unix(complete[i]), Through: unix(through[i])}
			}
		}
		return Coverage{}
	}
	return policyVersion, planVersion, err
}

func (s *LookupSet) readRows(results pgx.BatchResults) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		n, r, err := readRow(rows.RawValues())
		if err != nil {
			return err
		}
		s.rows[n] = r
	}
	return rows.Err()
}

var errMalformedRow = errors.New("the row does not have the expected columns")

// readRow decodes a row of rowsQuery in PostgreSQL's binary format: integers of
// two, four or eight bytes, and no bytes for null. Scanning twenty columns by
// their types would cost more than the rest of the look-up.
func readRow(raw [][]byte) (phone.Number, Row, error) {
	malformed := false
	number := func(i, size int, null int32) int32 {
		switch b := raw[i]; {
		case b == nil:
			return null
		case len(b) != size:
			malformed = true
		case size == 2:
			return int32(int16(binary.BigEndian.Uint16(b))) //nolint:gosec // two's complement
		case size == 4:
			return int32(binary.BigEndian.Uint32(b)) //nolint:gosec // two's complement
		}
		return 0
	}
	const firstInstant, columns = 5, 20
	if len(raw) != columns || len(raw[0]) != 8 {
		return phone.Number{}, Row{}, errMalformedRow
	}
	n, ok := phone.FromInt(int64(binary.BigEndian.Uint64(raw[0]))) //nolint:gosec // two's complement
	r := Row{
		Version: number(1, 4, 0), Baseline: number(2, 4, 0), Network: numbering.Network(number(3, 2, 0)), State: State(number(4, 2, 0)), //nolint:gosec // two bytes
		FlagBy: number(16, 4, 0), FlagLevel: Code(number(17, 2, 0)), BarReason: Code(number(18, 2, 0)), OrderReason: Code(number(19, 2, 0)), //nolint:gosec // two bytes
	}
	for i, at := range []*Instant{
		&r.StateSince, &r.Tenure, &r.SIM, &r.Newest, &r.Until, &r.EndedAfter, &r.PortAt, &r.BarAt, &r.OrderAt, &r.BlackAt, &r.FlagAt,
	} {
		*at = Instant(number(firstInstant+i, 4, int32(Never)))
	}
	r.Newest = max(r.Newest, r.newestColumn())
	if malformed || !ok {
		return phone.Number{}, Row{}, errMalformedRow
	}
	return n, r, nil
}

// Policy returns the current policy.
func (s *LookupSet) Policy() *policy.Policy { return s.policy }

// Get returns the look-up of one of the numbers. A number that was never supplied
// is not an error.
func (s *LookupSet) Get(n phone.Number) Lookup {
	row, ok := s.rows[n]
	if !ok {
		row = NoRow()
	}
	l := Lookup{Facts: Facts{Row: row, Coverage: s.coverage}, Policy: s.policy, Plan: s.plan}
	l.ApplyPlan(n, s.at)
	return l
}
