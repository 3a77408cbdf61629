package supply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// OpenEvent is an event that is stored and does not count. Staff decide about it, or ask the networks.
type OpenEvent struct {
	Number      phone.Number
	Seq         int64
	Type        string
	ID          string // the supplier's
	Source      string // the authority that reported it
	Network     string // code of the network that reported it; empty for other authorities
	Recipient   string // of a port: code of the network to which the number would go
	Holder      string // code of the network that has the number; empty if it is not known
	EffectiveAt time.Time
	ReportedAt  time.Time
	Outcome     string // WAITING
	Reason      string
	Message     string
	Status      line.Status // of the line now
	IfConfirmed line.Status // of the line if the event counted; empty where staff cannot confirm it
}

// OpenQuery selects open events.
type OpenQuery struct {
	Network string // code of the network that reported them, or empty for all
	Held    bool   // only what staff can confirm
	After   OpenPosition
	Limit   int
}

// OpenPosition is a place in the list of open events, which is in the order of
// their reports.
type OpenPosition struct {
	ReportedAt time.Time
	Seq        int64
}

// needsStaff selects the rows of line_open that do more than wait for a port that may still
// be reported: $1 is the code of those that do, and $2 since when they wait too long.
const needsStaff = `(outcome <> $1 OR half OR reported_at < $2)`

// CountOpen counts the events that [Service.OpenEvents] lists without a filter, most at the
// most.
func (s *Service) CountOpen(ctx context.Context, most int) (n int, err error) {
	err = s.Pool.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM line_open WHERE `+needsStaff+` LIMIT $3) AS open`,
		int16(line.Waiting), s.now().Add(-pendingTime), most).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("supply: count open events: %w", err)
	}
	return n, nil
}

// OpenEvents lists open events, the oldest report first. Events that merely wait for a
// port are listed once they are 30 days old.
func (s *Service) OpenEvents(ctx context.Context, q OpenQuery) ([]OpenEvent, error) {
	now := s.now()
	r, err := s.rulesAt(ctx, s.Pool, now)
	if err != nil {
		return nil, err
	}
	var network *int16
	if q.Network != "" {
		n, ok := r.plan.Network(q.Network)
		if !ok {
			return nil, ErrNoNetwork
		}
		code := int16(n)
		network = &code
	}
	rows, err := s.Pool.Query(ctx, `SELECT number, seq FROM line_open
		WHERE ($3::smallint IS NULL OR network = $3) AND CASE WHEN $4 THEN outcome = $5 ELSE `+needsStaff+` END
			AND (reported_at, seq) > ($6, $7) ORDER BY reported_at, seq LIMIT $8`,
		int16(line.Waiting), now.Add(-pendingTime), network, q.Held, int16(line.Held), q.After.ReportedAt, q.After.Seq, q.Limit)
	if err != nil {
		return nil, fmt.Errorf("supply: list open events: %w", err)
	}
	type key struct{ Number, Seq int64 }
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[key])
	if err != nil {
		return nil, fmt.Errorf("supply: list open events: %w", err)
	}
	list := make([]OpenEvent, 0, len(keys))
	for _, k := range keys {
		n, _ := phone.FromInt(k.Number)
		one, err := s.openEvent(ctx, n, k.Seq, r)
		if err != nil {
			return nil, err
		}
		if one != nil {
			list = append(list, *one)
		}
	}
	return list, nil
}

// ErrNotOpen reports an event that is not open, or no longer.
var ErrNotOpen = fault.New(fault.NotFound, "This event does not wait for a decision. It counts, was withdrawn, or the conflict is settled.")

// OpenEvent returns the open event with a sequence number, or [ErrNotOpen].
func (s *Service) OpenEvent(ctx context.Context, seq int64) (OpenEvent, error) {
	r, err := s.rulesAt(ctx, s.Pool, s.now())
	if err != nil {
		return OpenEvent{}, err
	}
	var number int64
	err = s.Pool.QueryRow(ctx, `SELECT number FROM line_open WHERE seq = $1`, seq).Scan(&number)
	if errors.Is(err, pgx.ErrNoRows) {
		return OpenEvent{}, ErrNotOpen
	}
	if err != nil {
		return OpenEvent{}, fmt.Errorf("supply: find an open event: %w", err)
	}
	n, _ := phone.FromInt(number)
	if found, err := s.openEvent(ctx, n, seq, r); err != nil || found != nil {
		return *cmp.Or(found, &OpenEvent{}), err
	}
	return OpenEvent{}, ErrNotOpen
}

// pendingTime is how long an event may wait for a port before staff see it.
const pendingTime = 30 * 24 * time.Hour

// openEvent returns one open event with what it would do, or nil if it has been
// settled in the meantime.
func (s *Service) openEvent(ctx context.Context, n phone.Number, seq int64, r rules) (*OpenEvent, error) {
	lookup, err := s.Lines.Lookup(ctx, s.Pool, n, r.now)
	if err != nil {
		return nil, err
	}
	histories, err := linestore.Histories(ctx, s.Pool, []phone.Number{n}, nil)
	if err != nil {
		return nil, err
	}
	h := histories[n]
	_, outcomes := line.Fold(h, r.terms, line.Forever)
	for i := range h.Events {
		e := &h.Events[i]
		if e.Seq != seq {
			continue
		}
		o := &OpenEvent{
			Number: n, Seq: e.Seq, Type: e.Kind.String(), ID: e.ID, Source: e.Authority.String(), Network: r.plan.Code(e.Network),
			Recipient: r.plan.Code(e.Recipient()), Holder: r.plan.Code(linechange.HolderOf(&lookup.Row, lookup.Holder)), EffectiveAt: e.Effective.Time(),
			ReportedAt: e.ReportedAt, Status: lookup.View(r.now).Status,
		}
		o.Outcome, o.Reason, o.Message = outcomeOf(outcomes[i], e)
		if outcomes[i] == line.Held {
			confirmed := append(slices.Clip(h.Events), line.Event{
				Seq: 1 << 62, Kind: line.Confirm, Authority: line.Regulator, Target: e.Seq, ReportedAt: r.now, Until: line.Never, EndedAfter: line.Never,
			})
			after := *lookup
			after.Row, _ = line.Fold(&line.History{Base: h.Base, Events: confirmed}, r.terms, line.Forever)
			o.IfConfirmed = after.View(r.now).Status
		}
		return o, nil
	}
	return nil, nil
}
