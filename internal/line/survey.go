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

// Survey is what is known of several numbers at one moment, and by which rules
// it is to be read.
type Survey struct {
	at       time.Time
	policy   *policy.Policy
	plan     *numbering.Plan
	coverage func(numbering.Network) Coverage
	rows     map[phone.Number]Row
}

// surveyRules reads the versions in force and the reach of every supply.
const surveyRules = `SELECT ` + inForce + `,
	array_agg(network), array_agg(coalesce(extract(epoch FROM known_since)::bigint, 0)), array_agg(coalesce(extract(epoch FROM complete_since)::bigint, 0)),
	array_agg(coalesce(extract(epoch FROM supplied_through)::bigint, 0)) FROM supply_coverage`

// surveyRows reads the rows of numbers; a number without one is missing. The
// columns are in the order in which readRow takes them.
const surveyRows = `SELECT number, version, baseline, network, state, state_since, tenure_start, sim_at, newest, until, ended_after, port_at, bar_at,
	order_at, black_at, flag_at, flag_by, flag_level, bar_reason, order_reason FROM line_now WHERE number = ANY($1)`

// Survey looks numbers up, at the present moment as a rule. Within a transaction
// that sees one snapshot, what it returns is of one moment. There is no cache
// between it and the rows: a SIM swap that was reported a second ago must show.
func (a *Almanac) Survey(ctx context.Context, from pg.DB, numbers []phone.Number, at time.Time) (*Survey, error) {
	s := &Survey{at: at, rows: make(map[phone.Number]Row, len(numbers))}
	keys := make([]int64, len(numbers))
	for i, n := range numbers {
		keys[i] = n.Int()
	}
	both := &pgx.Batch{}
	both.Queue(surveyRules, at)
	both.Queue(surveyRows, keys)
	results := from.SendBatch(ctx, both)
	policyVersion, planVersion, err := s.readRules(results.QueryRow())
	if err == nil {
		err = s.readRows(results)
	}
	if closing := results.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, fmt.Errorf("line: look up: %w", err)
	}
	s.policy, s.plan, err = a.Rules(ctx, from, policyVersion, planVersion)
	return s, err
}

func (s *Survey) readRules(row pgx.Row) (policyVersion, planVersion int32, err error) {
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

func (s *Survey) readRows(results pgx.BatchResults) error {
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

// readRow reads a row of surveyRows as the database sends it: whole numbers of
// two, four or eight bytes, and nothing for null. Scanning twenty columns by
// their types would cost more than all the rest of the look-up.
func readRow(raw [][]byte) (phone.Number, Row, error) {
	bad := false
	number := func(i, size int, null int32) int32 {
		switch b := raw[i]; {
		case b == nil:
			return null
		case len(b) != size:
			bad = true
		case size == 2:
			return int32(int16(binary.BigEndian.Uint16(b))) //nolint:gosec // two's complement
		case size == 4:
			return int32(binary.BigEndian.Uint32(b)) //nolint:gosec // two's complement
		}
		return 0
	}
	const first, columns = 5, 20 // of the instants, and of all
	if len(raw) != columns || len(raw[0]) != 8 {
		return phone.Number{}, Row{}, errors.New("the row has another form")
	}
	n, ok := phone.FromInt(int64(binary.BigEndian.Uint64(raw[0]))) //nolint:gosec // two's complement
	r := Row{
		Version: number(1, 4, 0), Baseline: number(2, 4, 0), Network: numbering.Network(number(3, 2, 0)), State: State(number(4, 2, 0)), //nolint:gosec // two bytes
		FlagBy: number(16, 4, 0), FlagLevel: Code(number(17, 2, 0)), BarReason: Code(number(18, 2, 0)), OrderReason: Code(number(19, 2, 0)), //nolint:gosec // two bytes
	}
	for i, at := range []*Instant{
		&r.StateSince, &r.Tenure, &r.SIM, &r.Newest, &r.Until, &r.After, &r.PortAt, &r.BarAt, &r.OrderAt, &r.BlackAt, &r.FlagAt,
	} {
		*at = Instant(number(first+i, 4, int32(Never)))
	}
	r.Newest = max(r.Newest, r.shown())
	if bad || !ok {
		return phone.Number{}, Row{}, errors.New("the row has another form")
	}
	return n, r, nil
}

// Policy returns the policy that is in force.
func (s *Survey) Policy() *policy.Policy { return s.policy }

// Look returns what is known of one of the numbers. That nobody supplied it is
// not an error.
func (s *Survey) Look(n phone.Number) Look {
	row, ok := s.rows[n]
	if !ok {
		row = NoRow()
	}
	l := Look{Facts: Facts{Row: row, Coverage: s.coverage}, Policy: s.policy, Plan: s.plan}
	l.Place(n, s.at)
	return l
}
