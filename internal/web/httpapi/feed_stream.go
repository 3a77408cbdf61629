package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

const (
	maxStreams = 4 // of one organisation on one node
	// heartbeat is how often a stream without events sends a comment, and how often its key
	// is looked up again: a revoked key must not go on reading.
	heartbeat = 3 * time.Second
	// takeTime is how long a reader may take nothing before its stream is closed.
	takeTime = 30 * time.Second
	perWrite = 200 // events that are read and sent at once
)

var errStreams = fault.New(fault.TooManyRequests, "Your organisation has "+strconv.Itoa(maxStreams)+
	" streams open, which is the limit. Close one, or read the feed with GET /api/v1/feed, which has no such limit.")

func (b *Bank) openStream(entity uuid.UUID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.streams == nil {
		b.streams = make(map[uuid.UUID]int)
	}
	if b.streams[entity] == maxStreams {
		return false
	}
	b.streams[entity]++
	return true
}

func (b *Bank) closeStream(entity uuid.UUID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.streams[entity]--; b.streams[entity] == 0 {
		delete(b.streams, entity)
	}
}

// streamFeed serves GET /api/v1/feed/stream: server-sent events, whose ids are cursors. It
// ends when the reader goes or takes nothing, when the key is revoked, and when the service
// stops; the reader then connects again with Last-Event-ID.
func (b *Bank) streamFeed(w http.ResponseWriter, r *http.Request, c *bankCall) error {
	values, wrong, err := readQuery(r.URL.RawQuery, "after")
	if err != nil {
		return err
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	cursor, last := values.Get("after"), r.Header.Get("Last-Event-ID")
	ctx, o := r.Context(), c.feedOwner()
	seq, err := b.Feed.Resume(ctx, o, cmp.Or(last, cursor))
	if last != "" && errors.Is(err, feed.ErrCursor) {
		wrong.Check(false, "Last-Event-ID", fault.BadFormat, feed.ErrCursor.Violations[0].Message)
		return wrong.Err()
	}
	if err != nil {
		return err
	}
	if err := b.checkStopped(c); err != nil {
		return err
	}
	if !b.openStream(o.Entity) {
		return errStreams
	}
	defer b.closeStream(o.Entity)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // otherwise the server's own would end the request
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must pass each event on
	web.SetAPIHeaders(h)
	write := func(text []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(takeTime)) // not every writer supports it
		if _, err := w.Write(text); err != nil {               // a stream of events is no page
			return err
		}
		return control.Flush()
	}
	for err = write([]byte(":\n\n")); err == nil; {
		if c.checkValid(ctx) != nil || b.checkStopped(c) != nil {
			return nil
		}
		entries, failed := b.Feed.After(ctx, o, seq, perWrite)
		if failed != nil {
			return nil // the header is sent; the reader connects again
		}
		var text []byte
		for i := range entries {
			e := &entries[i]
			text = append(append(append(text, "id: "...), e.Cursor()...), "\ndata: "...)
			text = append(append(text, e.JSON()...), "\n\n"...)
			seq = e.Seq
		}
		if len(entries) == 0 {
			if b.wait(ctx, o, seq, heartbeat) != nil || ctx.Err() != nil {
				return nil
			}
			text = []byte(":\n\n")
		}
		if err = write(text); b.isClosing() {
			return nil // also if there is more: another node sends it
		}
	}
	if errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

func (b *Bank) isClosing() bool {
	select {
	case <-b.Closing:
		return true
	default:
		return false
	}
}
