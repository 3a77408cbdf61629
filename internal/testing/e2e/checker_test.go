package e2e_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// querier reads the database: a pool, or a transaction that will be rolled
// back.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// kind is the kind of a finding.
type kind string

const (
	missing   kind = "lost"    // it was answered and has no record
	duplicate kind = "doubled" // it has more than one record
	phantom   kind = "phantom" // it has a record, but was never requested, or was refused
	altered   kind = "altered" // its record has other content, or is inconsistent
)

// checker compares a ledger with the database.
type checker struct {
	world *fixture
	book  map[string]*entry
	// asked, if set, has the requests of a run with only verifications; otherwise the
	// requests are those of the book.
	asked *requestLog
	// silentLeavesNothing says that a request without a response must not have taken
	// effect. After a kill it may have; after an orderly stop it may not.
	noAnswerNoTrace bool
	// only, if set, limits the check to one part.
	only func(context.Context, querier) error

	findings []string // the first of them
	counts   map[kind]int
}

// maxFindings bounds the findings that are stored. All are counted.
const maxFindings = 1000

// check returns all findings. It reads everything: an extra record is as wrong as a
// missing one.
func (c *checker) check(ctx context.Context, q querier) ([]string, error) {
	c.findings, c.counts = nil, make(map[kind]int)
	parts := []func(context.Context, querier) error{c.journal, c.register}
	if c.only != nil {
		parts = []func(context.Context, querier) error{c.only}
	}
	for _, part := range parts {
		if err := part(ctx, q); err != nil {
			return nil, err
		}
	}
	return c.findings, nil
}

// want adds a finding unless ok.
func (c *checker) want(ok bool, what kind, format string, args ...any) {
	if ok {
		return
	}
	if c.counts[what]++; len(c.findings) < maxFindings {
		c.findings = append(c.findings, string(what)+": "+fmt.Sprintf(format, args...))
	}
}

// rowsOf reads all rows of a query.
func rowsOf[T any](ctx context.Context, q querier, sql string) ([]T, error) {
	rows, err := q.Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("e2e: check: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		return nil, fmt.Errorf("e2e: check: %w", err)
	}
	return all, nil
}

// stamp is a time in the format of the API.
func stamp(t time.Time) string { return t.UTC().Format(stampForm) }

const stampForm = "2006-01-02T15:04:05.000Z"

// may reports whether a request that ended so may have taken effect.
func (c *checker) may(o outcome) bool {
	return o == okay || o == unknown && !c.noAnswerNoTrace
}
