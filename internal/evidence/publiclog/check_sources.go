package publiclog

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/logentry"
)

const (
	// bodyAt is where the body of an entry begins, as SQL counts.
	bodyAt = "32"
	// What the log must have: the view computes it from what is in the database now. A pending
	// entry is added within seconds, and a month within an hour.
	notLogged = `SELECT s.kind, s.body FROM log_source s, log_head h WHERE (s.kind <> 8 OR substring(s.body FOR 8) < log_time(h.since - interval '1 month 1 day 2 hours'))
		AND NOT EXISTS (SELECT FROM log_pending p WHERE p.kind = s.kind AND p.body = s.body)
		AND NOT EXISTS (SELECT FROM log_entry l WHERE l.kind <> 1 AND l.kind = s.kind AND substring(l.entry FROM ` + bodyAt + `) = s.body) LIMIT $1`
	// The tables do not have what a restore has lost, which the entry about it says.
	withoutSource = `SELECT l.kind, substring(l.entry FROM ` + bodyAt + `) FROM log_entry l WHERE l.kind NOT IN (1, 7) AND l.idx < $2 AND NOT l.lost
		AND NOT EXISTS (SELECT FROM log_source s WHERE s.kind = l.kind AND s.body = substring(l.entry FROM ` + bodyAt + `)) ORDER BY l.idx LIMIT $1`
	// A key may be used again after another one.
	loggedTwice = `SELECT l.kind, substring(l.entry FROM ` + bodyAt + `) FROM log_entry l WHERE l.kind NOT IN (1, 5, 7) AND l.idx < $2 AND NOT l.lost
		GROUP BY 1, 2 HAVING count(*) > 1 LIMIT $1`
	// Otherwise a mark in the database would hide a deletion. The entry about a restore begins
	// with the first index and the one after the last.
	lostUnnamed = `SELECT l.kind, substring(l.entry FROM ` + bodyAt + `) FROM log_entry l WHERE l.lost AND l.idx < $2 AND NOT EXISTS (SELECT FROM log_entry r
		WHERE r.kind = 7 AND r.idx > l.idx AND substring(r.entry FROM ` + bodyAt + ` FOR 8) <= int8send(l.idx) AND substring(r.entry FROM 40 FOR 8) > int8send(l.idx)) LIMIT $1`
)

// checkSources compares the entries of the other kinds with what they are about: rules, the
// audit trail, files of operators, archives, erasures and keys.
func (r *Report) checkSources(ctx context.Context, from pg.DB) error {
	if err := r.findSources(ctx, from, "%s is in the database, but not in the log, or was changed after it was logged", notLogged, maxFindings); err != nil {
		return err
	}
	if err := r.findSources(ctx, from, "%s is in the log, but the database does not have it, or has another one", withoutSource, maxFindings, r.Size); err != nil {
		return err
	}
	if err := r.findSources(ctx, from, "%s is in the log twice", loggedTwice, maxFindings, r.Size); err != nil {
		return err
	}
	return r.findSources(ctx, from, "%s is marked as lost, but no entry about a restore names it", lostUnnamed, maxFindings, r.Size)
}

// findSources reports every entry that the query returns.
func (r *Report) findSources(ctx context.Context, from pg.DB, what, query string, args ...any) error {
	var kind int16
	var e logentry.Entry
	err := pg.ForEach(ctx, from, []any{&kind, &e.Body}, func() error {
		e.Kind = logentry.Kind(kind) //nolint:gosec // the table has a check
		about := fmt.Sprintf("an entry of kind %d", kind)
		if body, err := e.DecodeBody(); err == nil {
			about = body.String()
		}
		r.find(what, about)
		return nil
	}, query, args...)
	return fault.Wrap(err, "publiclog: compare with the sources")
}
