package impact

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Answer is the content of an answer.
type Answer struct{ Status, Network string }

// Notice is the last notice about an answer. What it says is in the feed of the organisation:
// Known is false for a notice whose event is no longer in the database, or was erased.
type Notice struct {
	Request      uuid.UUID
	Event        string    // the id of its event, by which it is acknowledged
	Told         time.Time // when the organisation was told
	Acknowledged time.Time // zero if it is not
	Stands       bool      // the answer would again say what it said

	Known          bool
	Number         string
	Asked          time.Time
	Effective      time.Time // of what was reported since; zero if it is not known
	Reported       time.Time // when that was reported
	Differs        []string  // members of the answer
	Said, WouldSay Answer
}

// Position is the place of a notice in the list.
type Position struct {
	At time.Time
	ID uuid.UUID
}

// ListFilter selects notices of an organisation.
type ListFilter struct {
	Entity uuid.UUID
	Open   bool      // only those that are not acknowledged
	Since  time.Time // told since then
	Before Position  // zero for the newest
	Limit  int
}

// List returns the last notice about each answer of an organisation, the newest first.
func (n *Notices) List(ctx context.Context, f ListFilter) ([]Notice, error) {
	before := f.Before
	if before.At.IsZero() {
		before.At = n.Now().AddDate(1, 0, 0)
	}
	list, err := pg.Collect(ctx, n.Pool, func(row pgx.CollectableRow) (x Notice, err error) {
		var acknowledged *time.Time
		if err = row.Scan(&x.Request, &x.Event, &x.Told, &acknowledged, &x.Stands); acknowledged != nil {
			x.Acknowledged = acknowledged.UTC()
		}
		x.Told = x.Told.UTC()
		return x, err
	}, `SELECT request_id, event_id, told_at, acknowledged_at, digest IS NULL FROM impact_notice n
		WHERE entity_id = $1 AND told_at >= $2 AND (told_at, request_id) < ($3, $4) AND (NOT $5 OR acknowledged_at IS NULL)
		AND NOT EXISTS (SELECT FROM impact_notice l WHERE l.request_id = n.request_id AND l.events > n.events)
		ORDER BY told_at DESC, request_id DESC LIMIT $6`, f.Entity, f.Since, before.At, before.ID, f.Open, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("impact: list notices: %w", err)
	}
	return list, n.fill(ctx, f.Entity, list)
}

// fill reads what the notices say from the feed.
func (n *Notices) fill(ctx context.Context, entity uuid.UUID, list []Notice) error {
	places := make(map[int64]int, len(list))
	seqs := make([]int64, 0, len(list))
	for i := range list {
		_, text, _ := strings.Cut(list[i].Event, "-")
		seq, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			continue
		}
		places[seq], seqs = i, append(seqs, seq)
	}
	entries, err := (&feed.Service{Pool: n.Pool, Now: n.Now}).Entries(ctx, feed.Owner{Entity: entity, Mode: "live"}, seqs)
	if err != nil {
		return err
	}
	for i := range entries {
		at, ok := places[entries[i].Seq]
		if !ok || entries[i].Erased || entries[i].ID() != list[at].Event {
			continue
		}
		if err := list[at].read(entries[i].Body); err != nil {
			return fmt.Errorf("impact: read the event %s: %w", list[at].Event, err)
		}
	}
	return nil
}

func (x *Notice) read(body []byte) error {
	var event struct {
		Data data `json:"data"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return err
	}
	d := &event.Data
	x.Known, x.Number, x.Differs = true, d.PhoneNumber, d.Differs
	x.Said, x.WouldSay = Answer{d.Said.Status, d.Said.MobileNetwork}, Answer{d.WouldSay.Status, d.WouldSay.MobileNetwork}
	for text, to := range map[string]*time.Time{d.AskedAt: &x.Asked, d.ToldAt: &x.Reported} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return err
		}
		*to = at
	}
	if d.EffectiveAt == nil {
		return nil
	}
	at, err := time.Parse(time.RFC3339, *d.EffectiveAt)
	x.Effective = at
	return err
}
