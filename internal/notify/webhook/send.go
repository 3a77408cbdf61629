package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry/span"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// sending is one endpoint while its events are sent.
type sending struct {
	*Sender

	leased *leased
	Endpoint

	// upTo is the seq of the last event of the request that is sent, so that a repeated
	// request has the same events; 0 before a request. While single is set, events up to
	// there are sent one by one.
	upTo   int64
	single bool
}

// send sends the events of one endpoint until ctx ends, which is between two requests, or
// work ends, which is at once.
func (s *Sender) send(ctx, work context.Context, l *leased) {
	defer close(l.done)
	defer s.release(work, l)
	defer l.stop()
	x := &sending{Sender: s, leased: l}
	for ctx.Err() == nil {
		err := x.begin(ctx)
		for err == nil {
			err = x.next(ctx, work)
		}
		if errors.Is(err, errLeaseLost) || errors.Is(err, secret.ErrSealed) || ctx.Err() != nil {
			if errors.Is(err, secret.ErrSealed) {
				s.Log.LogAttrs(ctx, slog.LevelError, "a webhook endpoint gets no events", slog.String("endpoint", l.id.String()), slog.String("error", err.Error()))
				<-ctx.Done() // until the row is changed, or the node ends
			}
			return
		}
		pause.For(ctx, tickInterval) // the database does not answer; Run logs that once for all endpoints
	}
}

// begin reads the endpoint.
func (x *sending) begin(ctx context.Context) error {
	rows, err := x.Service.Pool.Query(ctx, `SELECT `+endpointColumns+endpointTables+`WHERE e.id = $1 AND c.lease = $2 AND e.state = 'active'`, x.leased.id, x.leased.lease)
	if err != nil {
		return fmt.Errorf("webhook: read an endpoint: %w", err)
	}
	x.Endpoint, err = pgx.CollectExactlyOneRow(rows, scanEndpoint)
	if errors.Is(err, pgx.ErrNoRows) {
		return errLeaseLost
	}
	return fault.Wrap(err, "webhook: read an endpoint")
}

// next waits for the next events, sends them, and records what became of them.
func (x *sending) next(ctx, work context.Context) error {
	if now := x.Service.now(); now.Before(x.NextAt) {
		pause.For(ctx, x.NextAt.Sub(now))
		return ctx.Err()
	}
	entries, err := x.read(ctx)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		if err := x.Service.Feed.Wait(ctx, x.Owner(), x.Seq); err != nil {
			return err
		}
		if entries, err = x.read(ctx); err != nil {
			return err
		}
	}
	if len(entries) == 0 || entries[0].Seq != x.Seq+1 { // although the feed goes further
		return x.skipArchived(ctx, work)
	}
	select {
	case x.slots <- struct{}{}:
		defer func() { <-x.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if x.leased.remaining() < x.postTime() {
		return errLeaseLost // the database did not renew it; another node may have it soon
	}
	keys, err := x.Service.keys(&x.Endpoint, x.Service.now())
	if err != nil {
		return err
	}
	m := compose(x.Form, entries)
	x.upTo = max(x.upTo, m.last)
	limited, cancel := context.WithTimeout(work, x.postTime())
	defer cancel()
	begin := time.Now()
	attempt, answer, err := x.Service.post(limited, &x.Endpoint, keys, m)
	if work.Err() != nil {
		return work.Err()
	}
	now := x.Service.now()
	o := judge(x.progress(), answer, err, m.events, now, rand.Float64()) //nolint:gosec // spreads retries
	span.Record(ctx, "send webhook", begin, m.events, !o.accepted)
	if x.Observe != nil {
		x.Observe(o.word(), m.events, now.Sub(entries[m.events-1].At))
	}
	return x.settle(work, &attempt, &o, &entries[0])
}

// read returns the events of the next request: those of a repeated one if it failed.
func (x *sending) read(ctx context.Context) ([]feed.Entry, error) {
	limit := maxEvents
	switch {
	case x.Form == Single || x.single:
		limit = 1
	case x.upTo > x.Seq:
		limit = int(x.upTo - x.Seq)
	}
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	entries, err := x.Service.Feed.After(ctx, x.Owner(), x.Seq, limit)
	return untilGap(entries), err
}

func (x *sending) progress() progress {
	return progress{failures: x.Failures, failingSince: x.FailingSince, nextAt: x.NextAt, notified: x.notified, refusals: x.refusals, refusedSince: x.refusedSince}
}

// settle stores what follows from an attempt. The first event is the one that was refused
// if it is dead.
func (x *sending) settle(work context.Context, a *Attempt, o *outcome, first *feed.Entry) error {
	ctx, cancel := context.WithTimeout(work, workTime)
	defer cancel()
	seq := x.Seq
	if o.accepted || o.dead {
		seq = a.Last
	}
	var err error
	if o.dead || o.notify || o.disable != "" {
		err = pg.InTx(ctx, x.Service.Pool, func(tx pg.Tx) error { return x.settleWith(ctx, tx, a, o, seq, first) })
	} else {
		err = move(ctx, x.Service.Pool, &x.Endpoint, a, o, seq)
	}
	if err != nil {
		return err
	}
	if o.disable != "" {
		return errLeaseLost // it is not active any more
	}
	x.Seq, x.Failures, x.FailingSince, x.NextAt = seq, o.failures, o.failingSince, o.nextAt
	x.notified, x.refusals, x.refusedSince = o.notified, o.refusals, o.refusedSince
	if o.split {
		x.single = true
	}
	if x.Seq >= x.upTo {
		x.upTo, x.single = 0, false
	}
	return nil
}

// settleWith does what needs more than one statement.
func (x *sending) settleWith(ctx context.Context, tx pg.Tx, a *Attempt, o *outcome, seq int64, first *feed.Entry) error {
	if err := move(ctx, tx, &x.Endpoint, a, o, seq); err != nil {
		return err
	}
	if o.dead {
		return x.putAside(ctx, tx, a, seq, first)
	}
	notice, since := NoticeFailing, o.failingSince
	if o.disable != "" {
		notice = NoticeDisabled
		x.ChangedAt = x.Service.now()
		if err := setState(ctx, tx, &x.Endpoint, Disabled, o.disable); err != nil {
			return err
		}
		err := audit.Write(ctx, tx, audit.Entry{
			At: x.ChangedAt, Actor: audit.Actor{Kind: audit.System}, Action: audit.WebhookDisabled, Subject: x.ID, Entity: x.entity,
			Before: map[string]any{"state": Active}, After: map[string]any{"state": Disabled, "reason": o.disable},
		})
		if err != nil {
			return err
		}
	}
	if err := x.Service.Notify(ctx, tx, x.entity, notice); err != nil {
		return err
	}
	data := map[string]string{"endpoint": x.ID.String(), "name": x.Name}
	if !since.IsZero() {
		data["since"] = since.Format("2006-01-02T15:04:05.000Z")
	}
	if o.disable != "" {
		data["reason"] = o.disable
	}
	return feed.Append(ctx, tx, x.Owner(), feed.Event{Type: "endpoint.v1." + string(notice), Time: a.At, Data: data})
}

// refusedNotice is how often admins get an e-mail about events that were put aside.
const refusedNotice = 24 * time.Hour

// putAside records an event that the endpoint will never accept, and tells the admins, once a
// day at most. The feed does not tell it: an endpoint that refuses everything would refuse
// that event, too, and make another one of it.
func (x *sending) putAside(ctx context.Context, tx pg.Tx, a *Attempt, seq int64, first *feed.Entry) error {
	var told bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM hook_dead WHERE endpoint_id = $1 AND died_at > $2)`, x.ID, a.At.Add(-refusedNotice)).Scan(&told); err != nil {
		return fmt.Errorf("webhook: read dead events: %w", err)
	}
	_, err := tx.Exec(ctx, `INSERT INTO hook_dead (endpoint_id, seq, type, refusals, died_at, status, answer) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (endpoint_id, seq) DO UPDATE
		SET refusals = excluded.refusals, died_at = excluded.died_at, status = excluded.status, answer = excluded.answer, sent_at = NULL`,
		x.ID, seq, first.Type, x.refusals+1, a.At, a.Status, a.Answer)
	if err != nil {
		return fmt.Errorf("webhook: put an event aside: %w", err)
	}
	if told {
		return nil
	}
	return x.Service.Notify(ctx, tx, x.entity, NoticeRefused)
}

// word names an outcome for metrics.
func (o *outcome) word() string {
	switch {
	case o.accepted:
		return "accepted"
	case o.split:
		return "split"
	case o.dead:
		return "dead"
	case o.disable != "":
		return "disabled"
	}
	return "failed"
}
