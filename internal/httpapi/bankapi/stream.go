package bankapi

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
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

func (a *API) openStream(entity uuid.UUID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.streams == nil {
		a.streams = make(map[uuid.UUID]int)
	}
	if a.streams[entity] == maxStreams {
		return false
	}
	a.streams[entity]++
	return true
}

func (a *API) closeStream(entity uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.streams[entity]--; a.streams[entity] == 0 {
		delete(a.streams, entity)
	}
}

// streamFeed serves GET /api/v1/feed/stream: server-sent events, whose ids are cursors. It
// ends when the reader goes or takes nothing, when the key is revoked, and when the service
// stops; the reader then connects again with Last-Event-ID.
func (a *API) streamFeed(w http.ResponseWriter, r *http.Request, c *Call) error {
	values, wrong, err := c.Query("after")
	if err != nil {
		return err
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	cursor := values.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		cursor = last
	}
	ctx, o := r.Context(), c.feedOwner()
	seq, err := a.Feed.Resume(ctx, o, cursor)
	if err != nil {
		return err
	}
	if !a.openStream(o.Entity) {
		return errStreams
	}
	defer a.closeStream(o.Entity)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // otherwise the server's own would end the request
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must pass each event on
	web.SetAPIHeaders(h)
	write := func(text []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(takeTime)) // not every writer supports it
		if _, err := w.Write(text); err != nil {               //nolint:gosec // a stream of events is no page
			return err
		}
		return control.Flush()
	}
	for err = write([]byte(":\n\n")); err == nil; {
		if c.StillValid(ctx) != nil {
			return nil
		}
		entries, failed := a.Feed.After(ctx, o, seq, perWrite)
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
			if a.wait(ctx, o, seq, heartbeat) != nil || ctx.Err() != nil {
				return nil
			}
			text = []byte(":\n\n")
		}
		if err = write(text); a.isClosing() {
			return nil // also if there is more: another node sends it
		}
	}
	if errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

func (a *API) isClosing() bool {
	select {
	case <-a.Closing:
		return true
	default:
		return false
	}
}
