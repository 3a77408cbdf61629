package webhook_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// logText is a log that a test reads while it is written.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) lines(containing string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, containing) {
			found = append(found, line)
		}
	}
	return found
}

// loggedSender is sender with a log that can be read.
func (e *env) loggedSender() *logText {
	e.t.Helper()
	l := &logText{}
	ctx, cancel := context.WithCancel(context.Background())
	s := &webhook.Sender{Service: e.Service, Node: "one", Log: slog.New(slog.NewTextHandler(l, nil))}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	e.t.Cleanup(func() { cancel(); <-done })
	return l
}

// archive removes entries of a feed from the database, as its archive does.
func (e *env) archive(o feed.Owner, first, last int64) {
	e.t.Helper()
	owner := pgtest.Open(e.t, e.pool.Config().ConnString(), pg.Owner)
	if _, err := owner.Exec(e.t.Context(), `DELETE FROM feed_entry WHERE entity_id = $1 AND seq BETWEEN $2 AND $3`, o.Entity, first, last); err != nil {
		e.t.Fatal(err)
	}
}

// leftOut returns the attempts that say which events were left out.
func (e *env) leftOut(o feed.Owner, c webhook.Created) (list [][2]int64) {
	e.t.Helper()
	attempts, err := e.Attempts(e.t.Context(), o, c.ID, 0, 100)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, a := range attempts {
		if a.Kind == webhook.KindEvents && !a.Succeeded() && strings.Contains(a.Error, "archived") && a.Events == int(a.Last-a.First+1) {
			list = append(list, [2]int64{a.First, a.Last})
		}
	}
	return list
}

// An endpoint that is resumed after its events were archived gets those that the feed still
// has, and its page and the log say which it did not get. Events archived between others
// are told, too.
func TestArchivedEventsAreLeftOutAndTold(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	if _, err := e.Pause(t.Context(), o, c.ID, by); err != nil {
		t.Fatal(err)
	}
	e.tell(o, 1, 9)
	e.archive(o, 1, 4)
	e.archive(o, 7, 7)
	log := e.loggedSender()
	if _, err := e.Resume(t.Context(), o, c.ID, by); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the events that are kept", func() bool { return e.now(o, c.ID).Behind == 0 })
	if diff := cmp.Diff([]string{"1-5", "1-6", "1-8", "1-9"}, r.got()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][2]int64{{7, 7}, {1, 4}}, e.leftOut(o, c)); diff != "" {
		t.Errorf("attempts that say what was left out (-want +got):\n%s", diff)
	}
	warnings := log.lines("level=WARN")
	if len(warnings) != 2 || !strings.Contains(warnings[0], c.ID.String()) || !strings.Contains(warnings[0], "events=4") || !strings.Contains(warnings[1], "events=1") {
		t.Errorf("log: %q", warnings)
	}
	if x := e.now(o, c.ID); x.Failing() || x.State != webhook.Active || len(r.changed) > 0 {
		t.Errorf("the endpoint afterwards: %+v", x)
	}
}

// An endpoint all of whose events were archived goes on with the next one that is added, and
// does not ask the database without a pause until then.
func TestEndpointGoesOnWhenAllEventsAreArchived(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	if _, err := e.Pause(t.Context(), o, c.ID, by); err != nil {
		t.Fatal(err)
	}
	e.tell(o, 1, 9)
	e.archive(o, 1, 9)
	log := e.loggedSender()
	if _, err := e.Resume(t.Context(), o, c.ID, by); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cursor", func() bool { return e.now(o, c.ID).Behind == 0 })
	begin := e.pool.Stat().AcquireCount()
	<-time.After(time.Second)
	if n := e.pool.Stat().AcquireCount() - begin; n > 100 {
		t.Errorf("the sender asked the database %d times in a second without events", n)
	}
	e.tell(o, 10, 11)
	eventually(t, "later events", func() bool { return len(r.got()) == 2 })
	if diff := cmp.Diff(ids(10, 11), r.got()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][2]int64{{1, 9}}, e.leftOut(o, c)); diff != "" {
		t.Errorf("attempts that say what was left out (-want +got):\n%s", diff)
	}
	if n := len(log.lines("level=WARN")); n != 1 {
		t.Errorf("%d warnings", n)
	}
}
