package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/feed"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// realFeed returns the events of a feed that package feed wrote, one of them erased.
func realFeed(t *testing.T, events int) (raw [][]byte) {
	t.Helper()
	url := pgtest.URL(t)
	pool := pgtest.Open(t, url, pg.Serve)
	o := feed.Owner{Entity: uuid.Must(uuid.NewV7()), Mode: "live"}
	if _, err := pool.Exec(t.Context(), `INSERT INTO entity (id, name, cac, status, document_required, asks, supplies, created_at)
		VALUES ($1, 'A Bank', 'RC 1', 'Approved', false, true, false, '2020-01-01')`, o.Entity); err != nil {
		t.Fatal(err)
	}
	err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
		for i := range events {
			n, _ := phone.FromInt(2348030000000 + int64(i))
			event := feed.Event{Type: "line.v1.swapped", Number: n, Time: time.Now(), Data: map[string]any{"phoneNumber": n.E164(), "version": i, "until": nil}}
			if err := feed.Append(t.Context(), tx, o, event); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	owner := pgtest.Open(t, url, pg.Owner)
	if _, err := owner.Exec(t.Context(), `UPDATE feed_entry SET digest = sha256(body), body = NULL, number = NULL WHERE seq = $1`, events/2); err != nil {
		t.Fatal(err)
	}
	entries, err := (&feed.Service{Pool: pool, Now: time.Now}).After(t.Context(), o, 0, events)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		raw = append(raw, entries[i].JSON())
	}
	return raw
}

// read checks events one by one. It returns those that are new.
func read(raw [][]byte) (events []string, err error) {
	var chain client.FeedChain
	for _, one := range raw {
		e, isNew, err := chain.Check(one)
		if err != nil {
			return events, err
		}
		if isNew {
			events = append(events, fmt.Sprint(e))
		}
	}
	return events, nil
}

// 10,000 times an event of a feed is dropped, swapped with another, altered or repeated: the
// chain finds each. A repeated event right after itself is dropped, and so is what was
// altered about an erased one.
func TestTamperingIsFound(t *testing.T) {
	t.Parallel()

	const events, tries = 24, 10_000
	raw := realFeed(t, events)
	good, err := read(raw)
	if err != nil || len(good) != events {
		t.Fatalf("%d of %d events of a good feed, %v", len(good), events, err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	found := make(map[string]int)
	for range tries {
		changed, i, j := slices.Clone(raw), random.IntN(events-1), random.IntN(events)
		var what string
		switch random.IntN(4) {
		case 0: // not the last one, which shows with the next, nor the first, before which a reader without a position may begin
			i = max(i, 1)
			what, changed = "drop", slices.Delete(changed, i, i+1)
		case 1:
			for j == i {
				j = random.IntN(events)
			}
			what, changed[i], changed[j] = "swap", changed[j], changed[i]
		case 2:
			what, changed[i] = "alter", bytes.Clone(changed[i])
			changed[i][random.IntN(len(changed[i]))] ^= byte(1 + random.IntN(255))
		case 3:
			what, changed = "repeat", slices.Insert(changed, j, raw[i])
		}
		got, err := read(changed)
		harmless := (what == "repeat" || what == "alter" && i+1 == events/2) && slices.Equal(got, good)
		if !errors.Is(err, client.ErrFeedTampered) && !harmless {
			t.Fatalf("%s of event %d was not found: %v", what, i+1, err)
		}
		found[what]++
	}
	t.Logf("found: %v", found)
}

// feedService serves events as the service does.
func feedService(t *testing.T, raw [][]byte) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := 0
		if after := r.URL.Query().Get("after"); after != "" {
			from, _ = strconv.Atoi(strings.Split(after, "-")[1])
		}
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		part := raw[from:min(from+limit, len(raw))]
		events := make([]json.RawMessage, len(part))
		for i := range part {
			events[i] = part[i]
		}
		body := map[string]any{"events": events, "next": fmt.Sprintf("1-%d-0123456789abcdef", from+len(part)), "more": from+len(part) < len(raw)}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "Success", "data": body, "statusCode": "200"})
	}))
	t.Cleanup(srv.Close)
	return srv
}

// The iterator goes through all pages, saves its position, and goes on from there; events
// that were taken and not saved come again.
func TestFeedGoesOnWhereItWasSaved(t *testing.T) {
	t.Parallel()

	raw := realFeed(t, 12)
	srv := feedService(t, raw)
	c := &client.Client{BaseURL: srv.URL, HTTP: srv.Client(), Retries: -1}
	var saved string
	o := client.FeedOptions{Limit: 5, Save: func(_ context.Context, position string) error { saved = position; return nil }}
	var got []int64
	for e, err := range c.Feed(t.Context(), apiKey, o) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Erased != (e.Sequence == 6) {
			t.Errorf("event %d is erased: %v", e.Sequence, e.Erased)
		}
		got = append(got, e.Sequence)
		if e.Sequence == 8 {
			break // a crash: 6 to 8 were not saved
		}
	}
	o.Position = saved
	for e, err := range c.Feed(t.Context(), apiKey, o) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Sequence)
	}
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 6, 7, 8, 9, 10, 11, 12}; !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	srv2 := feedService(t, slices.Delete(slices.Clone(raw), 6, 7))
	c = &client.Client{BaseURL: srv2.URL, HTTP: srv2.Client(), Retries: -1}
	var last error
	for _, err := range c.Feed(t.Context(), apiKey, client.FeedOptions{}) {
		last = err
	}
	if !errors.Is(last, client.ErrFeedTampered) {
		t.Errorf("a missing event: %v", last)
	}
	for _, err := range c.Feed(t.Context(), apiKey, client.FeedOptions{Position: "1-2"}) {
		if err == nil {
			t.Error("a wrong position is taken")
		}
	}
}
