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
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
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

// rebasedFeed returns a feed as a reader had it, and as it is after a restore to its third
// event.
func rebasedFeed(t *testing.T) (had, now [][]byte) {
	t.Helper()
	url := pgtest.URL(t)
	pool, owner := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, pg.Owner)
	o := feed.Owner{Entity: uuid.Must(uuid.NewV7()), Mode: "live"}
	if _, err := pool.Exec(t.Context(), `INSERT INTO entity (id, name, cac, status, document_required, asks, supplies, created_at)
		VALUES ($1, 'A Bank', 'RC 1', 'Approved', false, true, false, '2020-01-01')`, o.Entity); err != nil {
		t.Fatal(err)
	}
	add := func(count int) [][]byte {
		t.Helper()
		err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
			for i := range count {
				if err := feed.Append(t.Context(), tx, o, feed.Event{Type: "list.v1.applied", Time: time.Now(), Data: map[string]int{"members": i}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := (&feed.Service{Pool: pool, Now: time.Now}).After(t.Context(), o, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var raw [][]byte
		for i := range entries {
			raw = append(raw, entries[i].JSON())
		}
		return raw
	}
	had = add(6)
	if _, err := owner.Exec(t.Context(), `WITH gone AS (DELETE FROM feed_entry WHERE seq > 3) UPDATE feed_head h SET seq = 3, hash = e.hash FROM feed_entry e WHERE e.seq = 3`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := feed.Rebase(t.Context(), owner, time.Now()); err != nil {
		t.Fatal(err)
	}
	return had, add(2)
}

// After a restore of the service a reader goes on where its history was cut, is told so, and
// takes no event that does not follow from there.
func TestFeedGoesOnAfterARestore(t *testing.T) {
	t.Parallel()

	had, now := rebasedFeed(t)
	var chain client.FeedChain
	for _, raw := range had {
		if _, _, err := chain.Check(raw); err != nil {
			t.Fatal(err)
		}
	}
	serve := func(after [][]byte) (types []string, last error) {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("rebase") != "true" {
				w.WriteHeader(http.StatusConflict)
				data := map[string]any{"code": "INCOMPATIBLE_STATE", "message": "restored", "violations": []string{}, "requestId": "x"}
				_ = json.NewEncoder(w).Encode(map[string]any{"status": "Error", "statusCode": "409", "data": data})
				return
			}
			events := []json.RawMessage{}
			for _, raw := range after {
				events = append(events, raw)
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"status": "Success", "statusCode": "200", "data": map[string]any{"events": events, "next": "2-1-0123456789abcdef", "more": false}})
		}))
		defer srv.Close()
		c := &client.Client{BaseURL: srv.URL, HTTP: srv.Client(), Retries: -1}
		for e, err := range c.Feed(t.Context(), apiKey, client.FeedOptions{Position: chain.Position()}) {
			if err != nil {
				return types, err
			}
			types = append(types, strings.TrimPrefix(e.Type, "org.lineproof."))
		}
		return types, nil
	}
	if types, err := serve(now[3:]); err != nil || !slices.Equal(types, []string{"feed.v1.rebased", "list.v1.applied", "list.v1.applied"}) {
		t.Errorf("read %v, %v", types, err)
	}
	altered := bytes.Replace(bytes.Clone(now[3]), []byte(`"hash":"`), []byte(`"hash":"A`), 1)
	for name, after := range map[string][][]byte{"without the event": now[4:], "of the lost history": had[3:], "altered": append([][]byte{altered}, now[4:]...)} {
		if types, err := serve(after); !errors.Is(err, client.ErrFeedTampered) || len(types) != 0 {
			t.Errorf("%s: %v, %v", name, types, err)
		}
	}
}
