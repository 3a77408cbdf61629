package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// perWatcher is how many numbers are watched for each bank; every number is in the lists of
// two banks.
const (
	perWatcher   = 100
	firstWatched = 2348039000000
)

// watchers are banks with a watch-list and a key that reads the feed. They also have webhook
// endpoints, which can be on this machine only in test mode: whatever changes is written to
// the outbox, and in the same transaction to the test feed of one of the banks that watch it.
type watchers struct {
	*hooks

	keys []client.Secret
	live []*hooked // what streams have brought

	mu   sync.Mutex
	sent map[change]time.Time // just before the commit
}

// change is one version of a line.
type change struct {
	number  int64
	version int32
}

func newWatchers(t *testing.T, w *fixture, count int) *watchers {
	t.Helper()
	x := &watchers{hooks: newHooks(t, w, count), sent: map[change]time.Time{}}
	g := guard.New(&guard.Guard{Pool: w.pool, Node: "lists", Mode: guard.Stop, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	lists := &watchlist.Service{Pool: w.pool, Guard: g, Lines: &linestore.Resolver{}, Now: time.Now}
	for i, h := range x.all {
		x.live = append(x.live, &hooked{next: 1, sentAt: x.sentAt})
		key := must(w.keeper.CreateKey(t.Context(), access.KeyForm{Entity: h.owner.Entity, Name: "feed", Mode: access.Live, Purpose: "kyc", Rights: []string{"feed"}}, access.Operator, uuid.Nil))(t)
		x.keys = append(x.keys, client.Secret(key.Text.Reveal()))
		o := watchlist.Owner{Entity: h.owner.Entity, Mode: access.Live}
		l := must(lists.Create(t.Context(), o, "customers"))(t)
		var numbers []phone.Number
		for _, whose := range []int{i, (i + 1) % count} {
			for n := range perWatcher {
				numbers = append(numbers, watchedNumber(whose*perWatcher+n))
			}
		}
		must(lists.Change(t.Context(), o, l.ID, numbers, nil))(t)
	}
	must(w.pool.Exec(t.Context(), `UPDATE watch_list SET state = 'active'`))(t) // nobody supplies these lines
	return x
}

func watchedNumber(i int) phone.Number {
	n, _ := phone.FromInt(firstWatched + int64(i))
	return n
}

func (x *watchers) sentAt(e *sentEvent) time.Time {
	var c change
	_, _ = fmt.Sscan(strings.TrimPrefix(e.Data.PhoneNumber, "+"), &c.number)
	c.version = e.Data.Version
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sent[c]
}

// commit writes changes as supply does.
func (x *watchers) commit(ctx context.Context, changes ...change) error {
	all, told := make([]outbox.Change, len(changes)), map[*hooked]bool{}
	now := time.Now()
	x.mu.Lock()
	for i, c := range changes {
		x.sent[c] = now
		told[x.all[int(c.number-firstWatched)/perWatcher]] = true
		n, _ := phone.FromInt(c.number)
		all[i] = outbox.Change{
			Number: n, FromVersion: c.version - 1, Version: c.version, Kind: outbox.Swapped, ReportedAt: now, Before: line.Normal, After: line.Swapped,
			Effective: line.InstantOf(now), Until: line.InstantOf(now.Add(time.Hour)), Network: 1,
		}
	}
	x.mu.Unlock()
	return pg.InTx(ctx, x.w.pool, func(tx pg.Tx) error {
		return errors.Join(tellIn(ctx, tx, slices.Collect(maps.Keys(told))), outbox.Append(ctx, tx, all...))
	})
}

// stream reads the feed of a bank as server-sent events until ctx ends.
func (x *watchers) stream(ctx context.Context, t *testing.T, node *instance, i int) {
	t.Helper()
	h := x.live[i]
	req := must(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+node.public+"/api/v1/feed/stream", http.NoBody))(t)
	req.Header.Set("Authorization", "Bearer "+string(x.keys[i]))
	res, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("stream: %v, %v", res, err)
		return
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		text, isEvent := strings.CutPrefix(lines.Text(), "data: ")
		if !isEvent {
			continue
		}
		arrived := time.Now()
		var e sentEvent
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Error(err)
			return
		}
		h.mu.Lock()
		h.count(&e, arrived)
		h.mu.Unlock()
	}
}
