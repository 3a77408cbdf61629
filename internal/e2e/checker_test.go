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

// kind is what a finding means for callers.
type kind string

const (
	missing kind = "lost"    // it was answered and is not there
	doubled kind = "doubled" // it is there more than once
	phantom kind = "phantom" // it is there and nobody asked, or was refused
	altered kind = "altered" // it is there and says something else, or does not fit what belongs to it
)

// checker compares a ledger with the database.
type checker struct {
	world *world
	book  map[string]*entry
	// asked, if set, is the ledger of a run that only asked questions; otherwise
	// the questions are those of the book.
	asked *questions
	// silentLeavesNothing says that a request without an answer must not have
	// taken effect. After a kill it may have; after an orderly stop it may not.
	silentLeavesNothing bool
	// only, if set, is the one part of the check that is made.
	only func(context.Context, querier) error

	findings []string // the first of them
	counts   map[kind]int
}

// mostFindings bounds what is kept of them. All are counted.
const mostFindings = 1000

// check returns everything that does not fit. It reads everything: a promise is
// broken by what is there too much as well as by what is missing.
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
	if c.counts[what]++; len(c.findings) < mostFindings {
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

// stamp is a moment as the contract writes it.
func stamp(t time.Time) string { return t.UTC().Format(stampForm) }

const stampForm = "2006-01-02T15:04:05.000Z"

// may reports whether a request that ended so may have taken effect.
func (c *checker) may(o outcome) bool {
	return o == okay || o == unknown && !c.silentLeavesNothing
}
