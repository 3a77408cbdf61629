package webhook

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pause"
)

// archivedError is the error in the list of attempts for events that were never sent.
const archivedError = "not sent: the feed had archived these events before the endpoint could get them"

// skipArchived moves the cursor over events that the feed no longer keeps: the endpoint was
// paused or disabled for longer than it keeps them. The list of attempts shows which.
func (x *sending) skipArchived(ctx, work context.Context) error {
	limited, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	seq, err := x.Service.Feed.SkipArchived(limited, x.Owner(), x.Seq)
	if err != nil {
		return err
	}
	if seq == x.Seq { // the feed was restored meanwhile, and is shorter than it was
		pause.For(ctx, tickInterval)
		return ctx.Err()
	}
	o := outcome{progress: x.progress()}
	o.refusals, o.refusedSince = 0, time.Time{} // they are of one of these events
	a := Attempt{At: x.Service.now(), Kind: KindEvents, First: x.Seq + 1, Last: seq, Events: int(min(seq-x.Seq, math.MaxInt32)), Error: archivedError}
	limited, cancel = context.WithTimeout(work, workTime)
	defer cancel()
	if err := move(limited, x.Service.Pool, &x.Endpoint, &a, &o, seq); err != nil {
		return err
	}
	x.Log.LogAttrs(ctx, slog.LevelWarn, "a webhook endpoint does not get events that were archived", slog.String("endpoint", x.ID.String()),
		slog.Int64("first", a.First), slog.Int64("last", a.Last), slog.Int64("events", seq-x.Seq))
	x.Seq, x.refusals, x.refusedSince = seq, 0, time.Time{}
	x.upTo, x.single = 0, false
	return nil
}

// untilGap returns the entries up to the first after which one is missing.
func untilGap(entries []feed.Entry) []feed.Entry {
	for i := 1; i < len(entries); i++ {
		if entries[i].Seq != entries[i-1].Seq+1 {
			return entries[:i]
		}
	}
	return entries
}
