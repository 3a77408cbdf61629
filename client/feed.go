package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// FeedOptions say how to read the feed. The zero value reads what is kept, from the oldest
// event to the newest.
type FeedOptions struct {
	// Position is where to go on: what Save was last called with, or "".
	Position string
	// Save is called with the position after events that you have taken. If it returns an
	// error, the reading ends with it. After a crash, read on from what was saved last: you
	// get some events again, with the same ids.
	Save func(ctx context.Context, position string) error
	// Follow waits for more at the end of the feed, until ctx ends.
	Follow bool
	// Limit is how many events one request brings; 0 means 500.
	Limit int
}

const (
	feedPath         = "/api/v1/feed"
	defaultFeedLimit = 500
	feedWait         = 20 // seconds; a proxy may end longer requests
)

type feedAnswer struct {
	Events []json.RawMessage `json:"events"`
	Next   string            `json:"next"`
	More   bool              `json:"more"`
}

// Feed reads the feed of the key's organisation, which needs the right feed. It checks that
// no event is missing, altered, moved or repeated; if one is, it ends with
// [ErrFeedTampered]. It ends with the first error. If a restore of the service from a backup
// has ended the history that the position is of, it goes on where the two part, and the
// event org.lineproof.feed.v1.rebased says which events are void ([Rebased]). If the service
// can't tell where they part, because it was restored more than once, it ends with an error
// whose code is [CodeGone], as it does when the events after the position are no longer kept:
// read on without a position, and take what does not come again, of the days that are kept,
// for void.
func (c *Client) Feed(ctx context.Context, key Secret, o FeedOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		chain, err := ParseFeedChain(o.Position)
		if err != nil {
			yield(Event{}, err)
			return
		}
		for {
			answer, err := c.readFeed(ctx, key, chain.Cursor(), &o)
			if CodeOf(err) == CodeIncompatibleState && chain.anchored {
				answer, err = c.readRebased(ctx, key, chain.Cursor(), &o)
				chain = FeedChain{epoch: chain.epoch + 1, rebasing: true} // nothing of the epoch that was cut is taken any more
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, raw := range answer.Events {
				event, isNew, err := chain.Check(raw)
				if err != nil {
					yield(Event{}, err)
					return
				}
				if isNew && !yield(event, nil) {
					return
				}
			}
			if len(answer.Events) > 0 && o.Save != nil {
				if err := o.Save(ctx, chain.Position()); err != nil {
					yield(Event{}, err)
					return
				}
			}
			if !answer.More && !o.Follow {
				return
			}
		}
	}
}

func (c *Client) readFeed(ctx context.Context, key Secret, after string, o *FeedOptions) (*feedAnswer, error) {
	return c.readFeedPage(ctx, key, feedQuery(after, o))
}

// readRebased reads on from a position in a history that a restore has ended.
func (c *Client) readRebased(ctx context.Context, key Secret, after string, o *FeedOptions) (*feedAnswer, error) {
	query := feedQuery(after, o)
	query.Set("rebase", "true")
	return c.readFeedPage(ctx, key, query)
}

func feedQuery(after string, o *FeedOptions) url.Values {
	query := url.Values{"limit": {strconv.Itoa(defaultFeedLimit)}}
	if o.Limit > 0 {
		query.Set("limit", strconv.Itoa(o.Limit))
	}
	if after != "" {
		query.Set("after", after)
	}
	if o.Follow {
		query.Set("wait", strconv.Itoa(feedWait))
	}
	return query
}

func (c *Client) readFeedPage(ctx context.Context, key Secret, query url.Values) (*feedAnswer, error) {
	r, err := c.newRead(ctx, "feed", feedPath+"?"+query.Encode(), key)
	if err != nil {
		return nil, err
	}
	r.limit = time.Minute
	return sendData(ctx, c, r, func(d *feedAnswer) bool { return d.Events == nil || d.Next == "" })
}

// Acknowledgement says which events were acknowledged.
type Acknowledgement struct {
	Acknowledged int      `json:"acknowledged"` // now or before
	Unknown      []string `json:"unknown"`      // ids under which the feed has no notice about a past answer
}

// AcknowledgeNotices tells the regulator that you have dealt with up to 1,000 events about
// past answers, whose type is org.lineproof.answer.v1.changed. The key needs the right feed.
func (c *Client) AcknowledgeNotices(ctx context.Context, key Secret, eventIDs ...string) (*Acknowledgement, error) {
	r, err := c.newWatch(ctx, "acknowledge notices", http.MethodPost, feedPath+"/acknowledgements", key, map[string]any{"eventIds": eventIDs})
	if err != nil {
		return nil, err
	}
	r.repeatable = true // the result is the same
	return sendData(ctx, c, r, func(d *Acknowledgement) bool { return d.Unknown == nil })
}
