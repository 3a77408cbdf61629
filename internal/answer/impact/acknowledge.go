package impact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Notices reads what was told, and records what organisations say to it. All fields are
// required.
type Notices struct {
	Pool *pgxpool.Pool
	Now  func() time.Time
}

// Acknowledgement is that an organisation has dealt with notices, which it names by the
// ids of their events, and who says so.
type Acknowledgement struct {
	Entity  uuid.UUID
	Events  []string
	By      audit.Actor
	Request uuid.UUID
}

// Acknowledge records an acknowledgement, and in the audit trail which notices it is the
// first about. To do that again changes nothing. It returns the ids under which the
// organisation got no notice.
func (n *Notices) Acknowledge(ctx context.Context, a Acknowledgement) (unknown []string, err error) {
	var known []string
	err = pg.InTx(ctx, n.Pool, func(tx pg.Tx) error {
		at := n.Now()
		fresh, err := eventIDs(ctx, tx, `UPDATE impact_notice SET acknowledged_at = $3 WHERE entity_id = $1 AND event_id = ANY($2) AND acknowledged_at IS NULL RETURNING event_id`, a.Entity, a.Events, at)
		if err != nil {
			return err
		}
		// The update does not return what was acknowledged before, so the ids are read as well.
		if known, err = eventIDs(ctx, tx, `SELECT event_id FROM impact_notice WHERE entity_id = $1 AND event_id = ANY($2)`, a.Entity, a.Events); err != nil || len(fresh) == 0 {
			return err
		}
		slices.Sort(fresh)
		return audit.Write(ctx, tx, audit.Entry{
			At: at, Actor: a.By, Action: audit.NoticesAcknowledged, Subject: a.Entity, Entity: a.Entity, Request: a.Request,
			After: map[string]any{"notices": len(fresh), "eventIds": fresh},
		})
	})
	if err != nil {
		return nil, err
	}
	unknown = []string{}
	for _, id := range a.Events {
		if !slices.Contains(known, id) {
			unknown = append(unknown, id)
		}
	}
	return unknown, nil
}

func eventIDs(ctx context.Context, tx pg.Tx, statement string, args ...any) ([]string, error) {
	ids, err := pg.Collect(ctx, tx, pgx.RowTo[string], statement, args...)
	return ids, fault.Wrap(err, "impact: acknowledge")
}

// Count is how many answers an organisation was told of on a day, and with how many of them
// it has dealt.
type Count struct {
	Day                time.Time
	Entity             uuid.UUID
	Name               string
	Told, Acknowledged int64
}

// Counts returns the counts since a time, by day and organisation. They have answers, and
// not notices: with the last notice about an answer, it is acknowledged.
func (n *Notices) Counts(ctx context.Context, since time.Time) ([]Count, error) {
	counts, err := pg.Collect(ctx, n.Pool, pgx.RowToStructByPos[Count], `SELECT n.day, n.entity_id, e.name, n.told, n.acknowledged FROM (
			SELECT date_trunc('day', told_at, 'UTC') AS day, entity_id, count(*) AS told, count(acknowledged_at) AS acknowledged
			FROM (SELECT DISTINCT ON (request_id) told_at, entity_id, acknowledged_at FROM impact_notice WHERE told_at >= $1 ORDER BY request_id, events DESC) last
			GROUP BY 1, 2) n
		JOIN entity e ON e.id = n.entity_id ORDER BY n.day, e.name, n.entity_id`, since)
	if err != nil {
		return nil, fmt.Errorf("impact: count notices: %w", err)
	}
	for i := range counts {
		counts[i].Day = counts[i].Day.UTC()
	}
	return counts, nil
}

// Round has the notices of one time: about the answers that the changes of some seconds made
// different, such as those of one correction, or more if a file corrected much.
type Round struct {
	At                              time.Time
	Answers, Entities, Acknowledged int64
}

// Rounds returns the last rounds, newest first. A notice counts as acknowledged if a later
// one about the same answer is, too.
func (n *Notices) Rounds(ctx context.Context, since time.Time, limit int) ([]Round, error) {
	rounds, err := pg.Collect(ctx, n.Pool, pgx.RowToStructByPos[Round], `SELECT told_at, count(*), count(DISTINCT entity_id),
			count(*) FILTER (WHERE acknowledged_at IS NOT NULL OR EXISTS (SELECT FROM impact_notice l WHERE l.request_id = n.request_id AND l.events > n.events AND l.acknowledged_at IS NOT NULL))
		FROM impact_notice n WHERE told_at >= $1 GROUP BY told_at ORDER BY told_at DESC LIMIT $2`, since, limit)
	if err != nil {
		return nil, fmt.Errorf("impact: count rounds: %w", err)
	}
	for i := range rounds {
		rounds[i].At = rounds[i].At.UTC()
	}
	return rounds, nil
}

// CountOf returns of how many answers an organisation was told since a time, and how many
// of them it has acknowledged.
func CountOf(ctx context.Context, from pg.DB, entity uuid.UUID, since time.Time) (told, acknowledged int64, err error) {
	err = from.QueryRow(ctx, `SELECT count(*), count(acknowledged_at) FROM (
			SELECT DISTINCT ON (request_id) acknowledged_at FROM impact_notice WHERE told_at >= $1 AND entity_id = $2 ORDER BY request_id, events DESC) last`, since, entity).Scan(&told, &acknowledged)
	return told, acknowledged, fault.Wrap(err, "impact: count notices of an organisation")
}

// keptFor is how long notices are kept: longer than a report may be backdated.
const keptFor = 400 * 24 * time.Hour

// DeleteOld deletes old notices, and returns how many.
func DeleteOld(ctx context.Context, in pg.DB, now time.Time) (int64, error) {
	return pg.InBatches(func() (int64, error) {
		done, err := in.Exec(ctx, `DELETE FROM impact_notice WHERE (request_id, events) IN (SELECT request_id, events FROM impact_notice WHERE told_at < $1 LIMIT 10000)`, now.Add(-keptFor))
		if err != nil {
			return 0, fmt.Errorf("impact: delete old notices: %w", err)
		}
		return done.RowsAffected(), nil
	})
}
