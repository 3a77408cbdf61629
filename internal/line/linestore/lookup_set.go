package linestore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// LookupSet is the look-up of several numbers at one moment: their rows, and the
// policy, plan and coverage that their statuses are computed by.
type LookupSet struct {
	at       time.Time
	policy   *policy.Policy
	plan     *numbering.Plan
	coverage func(numbering.Network) line.Coverage
	rows     map[phone.Number]line.Row
}

// rulesQuery reads the current versions of policy and plan, and the coverage of
// every network and topic.
const rulesQuery = `SELECT ` + currentVersions + `,
	array_agg(network), array_agg(topic), array_agg(coalesce(extract(epoch FROM known_since)::bigint, 0)),
	array_agg(coalesce(extract(epoch FROM complete_since)::bigint, 0)), array_agg(coalesce(extract(epoch FROM supplied_through)::bigint, 0)),
	array_agg(doubtful) FROM supply_coverage`

// rowsQuery reads the rows of numbers; a number without a row is missing from the
// result.
var rowsQuery = `SELECT ` + columns + ` FROM line_now WHERE number = ANY($1)`

// LookupAll looks up numbers at a time, which is usually the present. In a
// transaction with one snapshot (REPEATABLE READ) all of the result is of one
// moment. Rows are never cached: a SIM swap that was reported a second ago must
// show.
func (r *Resolver) LookupAll(ctx context.Context, from pg.DB, numbers []phone.Number, at time.Time) (*LookupSet, error) {
	s := &LookupSet{at: at, rows: make(map[phone.Number]line.Row, len(numbers))}
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
		return nil, fmt.Errorf("linestore: look up: %w", err)
	}
	s.policy, s.plan, err = r.Rules(ctx, from, policyVersion, planVersion)
	return s, err
}

func (s *LookupSet) readRules(row pgx.Row) (policyVersion, planVersion int32, err error) {
	var (
		networks                 []numbering.Network
		topics                   []line.Topic
		known, complete, through []int64
		doubtful                 []bool
	)
	err = row.Scan(&policyVersion, &planVersion, &networks, &topics, &known, &complete, &through, &doubtful)
	s.coverage = func(of numbering.Network) (c line.Coverage) {
		for i, n := range networks {
			setSpan(&c, of, n, topics[i], line.Span{KnownSince: unix(known[i]), CompleteSince: unix(complete[i]), Through: unix(through[i]), Doubtful: doubtful[i]})
		}
		return c
	}
	return policyVersion, planVersion, err
}

// setSpan sets the span of a topic, if it is one of a network or of the nation.
func setSpan(c *line.Coverage, of, n numbering.Network, t line.Topic, s line.Span) {
	switch {
	case t == line.TopicPort && n == line.Nation:
		c.Ports = s
	case n != of:
	case t == line.TopicLifecycle:
		c.Lifecycle = s
	case t == line.TopicSIM:
		c.SIM = s
	}
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

// Policy returns the current policy.
func (s *LookupSet) Policy() *policy.Policy { return s.policy }

// Get returns the look-up of one of the numbers. A number that was never supplied
// is not an error.
func (s *LookupSet) Get(n phone.Number) Lookup {
	row, ok := s.rows[n]
	if !ok {
		row = line.NoRow()
	}
	l := Lookup{Facts: line.Facts{Row: row, Coverage: s.coverage}, Policy: s.policy, Plan: s.plan}
	l.ApplyPlan(n, s.at)
	return l
}
