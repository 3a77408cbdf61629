package watchlist

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/lineproof/lineproof/internal/feed"
	"github.com/lineproof/lineproof/internal/pg"
)

// feed returns the feed that tells of the owner's lists.
func (o *Owner) feed() feed.Owner { return feed.Owner{Entity: o.Entity, Mode: o.Mode} }

// listData is what an event tells about a list.
type listData struct {
	Digest        string `json:"digest"`
	EffectiveFrom int64  `json:"effectiveFrom"`
	ListID        string `json:"listId"`
	Members       int64  `json:"members"`
	Name          string `json:"name"`
}

func dataOf(l *List) *listData {
	return &listData{Digest: hex.EncodeToString(l.Digest[:]), EffectiveFrom: l.EffectiveFrom, ListID: l.ID.String(), Members: l.Members, Name: l.Name}
}

// tell adds what has become of a list to the feed of its owner, in the transaction that
// changes it: the list as a whole takes effect, or it waits for staff. Tx has the mark of
// the outbox locked.
func tell(ctx context.Context, tx pg.Tx, o feed.Owner, l *List, at time.Time) error {
	event := feed.Event{Type: "list.v1.applied", Time: at, Data: dataOf(l)}
	if l.State == Held {
		event.Type = "list.v1.held"
	}
	return feed.Append(ctx, tx, o, event)
}
