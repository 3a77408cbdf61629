package httpapi

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

const (
	maxFeedEvents = 1000 // in one response
	defaultEvents = 100
	maxWait       = 30 // seconds
	// answerTime is how long a request may take besides its waiting.
	answerTime = 10 * time.Second
)

type feedResponse struct {
	Events []jsontext.Value `json:"events"`
	Next   string           `json:"next"`
	More   bool             `json:"more"`
}

// readFeed serves GET /api/v1/feed.
func (b *Bank) readFeed(w http.ResponseWriter, r *http.Request, c *bankCall) error {
	values, wrong, err := readQuery(r.URL.RawQuery, "after", "limit", "wait", "rebase")
	if err != nil {
		return err
	}
	number := func(name string, otherwise, most int) int {
		text := values.Get(name)
		if !values.Has(name) {
			return otherwise
		}
		n, err := strconv.Atoi(text)
		low := min(1, otherwise)
		wrong.Check(err == nil && n >= low && n <= most && strconv.Itoa(n) == text, name, fault.NotAllowed, "Must be a number from "+strconv.Itoa(low)+" to "+strconv.Itoa(most)+".")
		return n
	}
	limit, wait := number("limit", defaultEvents, maxFeedEvents), number("wait", 0, maxWait)
	rebase := values.Get("rebase")
	wrong.Check(!values.Has("rebase") || rebase == "true" || rebase == "false", "rebase", fault.NotAllowed, "Must be true or false.")
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := b.checkStopped(c); err != nil {
		return err
	}
	waits := time.Duration(wait) * time.Second
	ctx, cancel := web.WithTimeout(r.Context(), w, answerTime+waits)
	defer cancel()
	page, err := b.pageAfter(ctx, c.feedOwner(), values.Get("after"), limit, waits, rebase == "true")
	switch {
	case wait > 0 && r.Context().Err() != nil:
		return nil // whoever waited has gone, which is no fault of the service
	case err != nil:
		return err
	}
	return c.respond(page)
}

// checkStopped refuses the feed to an organisation that the guard has stopped. Its events are
// kept, and it reads them when staff have released it.
func (b *Bank) checkStopped(c *bankCall) error {
	if c.isTest() {
		return nil
	}
	return b.Lists.Guard.CheckStopped(c.owner.Entity, c.owner.Budget)
}

// pageAfter returns up to limit events after a cursor. If there are none, it waits for one.
func (b *Bank) pageAfter(ctx context.Context, o feed.Owner, cursor string, limit int, waits time.Duration, rebase bool) (feedResponse, error) {
	page := feedResponse{Events: []jsontext.Value{}, Next: cursor}
	resume := b.Feed.Resume
	if rebase {
		resume = b.Feed.Rejoin
	}
	seq, err := resume(ctx, o, cursor)
	if err != nil {
		return page, err
	}
	entries, err := b.Feed.After(ctx, o, seq, limit+1) // one more tells whether there are more
	if err == nil && len(entries) == 0 && waits > 0 {
		if err = b.wait(ctx, o, seq, waits); err == nil {
			entries, err = b.Feed.After(ctx, o, seq, limit+1)
		}
	}
	if err != nil {
		return page, err
	}
	page.More = len(entries) > limit
	for _, e := range entries[:min(limit, len(entries))] {
		page.Events, page.Next = append(page.Events, e.JSON()), e.Cursor()
	}
	if len(page.Events) == 0 && (cursor == "" || rebase) { // a feed that has nothing yet
		page.Next, err = b.Feed.CursorBefore(ctx, o, seq)
	}
	return page, err
}

// wait waits until the feed has more, for some time at most.
func (b *Bank) wait(ctx context.Context, o feed.Owner, seq int64, most time.Duration) error {
	ctx, cancel := b.untilClosing(ctx, most)
	defer cancel()
	err := b.Feed.Wait(ctx, o, seq)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // nothing came
	}
	return err
}

// untilClosing returns a context that ends after a time, and when the service stops.
func (b *Bank) untilClosing(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, most)
	stop := make(chan struct{})
	go func() {
		select {
		case <-b.Closing:
			cancel()
		case <-stop:
		}
	}()
	return ctx, func() {
		close(stop)
		cancel()
	}
}
