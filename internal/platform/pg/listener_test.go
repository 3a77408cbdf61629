package pg_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// One connection receives the notifications of all channels, and each channel gets its own
// only. When the connection is lost, every channel is told, and again once it is back.
func TestOneConnectionListensForAllChannels(t *testing.T) {
	t.Parallel()

	url := pgtest.URL(t)
	pool, super := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, "")
	type seen struct {
		payload   chan string
		listening chan bool
	}
	var channels []pg.Channel
	got := map[string]seen{}
	for _, name := range []string{"first", "Second channel"} {
		s := seen{make(chan string, 10), make(chan bool, 10)}
		got[name] = s
		channels = append(channels, pg.Channel{Name: pg.Named(name), Notified: func(p string) { s.payload <- p }, Listening: func(on bool) { s.listening <- on }})
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { (&pg.Listener{Pool: pool, Channels: channels}).Run(ctx) })
	defer running.Wait()
	defer stop()
	each := func(want bool) {
		t.Helper()
		for name, s := range got {
			if on := <-s.listening; on != want {
				t.Fatalf("%s: listening is %v", name, on)
			}
		}
	}
	each(true)
	if _, err := super.Exec(t.Context(), `SELECT pg_notify('other', 'x'), pg_notify('Second channel', '2'), pg_notify('first', '1')`); err != nil {
		t.Fatal(err)
	}
	if one, two := <-got["first"].payload, <-got["Second channel"].payload; one != "1" || two != "2" {
		t.Errorf("received %q and %q", one, two)
	}
	ended, err := super.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lineproof-listen' AND datname = current_database()`)
	if err != nil || ended.RowsAffected() != 1 {
		t.Fatalf("%d connections listen: %v", ended.RowsAffected(), err)
	}
	each(false)
	each(true)
}

// A channel whose name cannot be read keeps the listener from pretending that it listens.
func TestListenerNeedsTheNamesOfAllChannels(t *testing.T) {
	t.Parallel()

	pool := pgtest.Open(t, pgtest.URL(t), pg.Serve)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	listening := make(chan bool, 10)
	unnamed := pg.Channel{Name: func(context.Context, pg.DB) (string, error) { return "", errors.New("no name") }}
	go (&pg.Listener{Pool: pool, Channels: []pg.Channel{{Name: pg.Named("first"), Listening: func(on bool) { listening <- on }}, unnamed}}).Run(ctx)
	if <-listening {
		t.Error("it listens without one of its channels")
	}
}
