package watchlist

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// feed returns the feed that tells of the owner's lists.
func (o *Owner) feed() feed.Owner { return feed.Owner{Entity: o.Entity, Mode: o.Mode} }

// listData is the data of an event about a list.
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

// tell adds to the feed of its owner that a list as a whole takes effect, or waits for staff, in
// the transaction that changes it. That transaction has locked the mark of the outbox, so that no
// change that was matched with the old list comes into the feed after this.
func tell(ctx context.Context, tx pg.Tx, o feed.Owner, l *List, at time.Time) error {
	event := feed.Event{Type: "list.v1.applied", Time: at, Data: dataOf(l)}
	if l.State == Held {
		event.Type = "list.v1.held"
	}
	return feed.Append(ctx, tx, o, event)
}
