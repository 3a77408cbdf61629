package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// logged is a log that a test reads while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// levels returns the level of each line about requests that waited.
func (l *logged) levels(t *testing.T) (levels []string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		var entry struct{ Level, Route string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Route == "GET "+feedPath || entry.Route == "GET "+streamPath {
			levels = append(levels, entry.Level)
		}
	}
	return levels
}

// A reader that goes away while it waits for an event is no error of the service, and is
// not logged as one.
func TestReaderThatGoesIsNoError(t *testing.T) {
	t.Parallel()

	s, log := newStack(t), &logged{}
	url, key := s.serve(t), s.bankKey(t, access.Live)
	s.do(t, get(feedPath, key)) // from now on the key is known
	s.Log = slog.New(slog.NewJSONHandler(log, nil))
	for i, path := range []string{feedPath + "?wait=30", streamPath} {
		ctx, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		if res, err := (&http.Client{Timeout: time.Minute}).Do(r); err == nil { // a stream begins
			<-ctx.Done()
			_ = res.Body.Close()
		}
		leave()
		process.Until(t, "the request is logged", func() bool { return len(log.levels(t)) > i })
		if got := log.levels(t)[i]; got != "INFO" {
			t.Errorf("%s is logged as %s", path, got)
		}
	}
}

// When the service stops, whoever waits gets an empty page at once, and a stream ends, even if
// it has more to send.
func TestReadersAreLetGoWhenTheServiceStops(t *testing.T) {
	t.Parallel()

	s, log, closing := newStack(t), &logged{}, make(chan struct{})
	s.Bank.Closing = closing
	s.serve(t)
	key := s.bankKey(t, access.Live)
	for range 450 { // more than are sent at once
		s.tell(t, access.Live)
	}
	last := field(t, s.do(t, get(feedPath+"?limit=1000", key)).Body.Bytes(), "data", "next")
	s.Log = slog.New(slog.NewJSONHandler(log, nil))
	done, begun := make(chan *httptest.ResponseRecorder, 1), time.Now()
	go func() { done <- s.do(t, get(feedPath+"?wait=30&after="+last, key)) }()
	<-time.After(100 * time.Millisecond) // most of the time it waits by then
	close(closing)
	for _, res := range []*httptest.ResponseRecorder{<-done, s.do(t, get(feedPath+"?wait=30&after="+last, key))} {
		if res.Code != http.StatusOK || field(t, res.Body.Bytes(), "data", "next") != last || !strings.Contains(res.Body.String(), `"events":[]`) {
			t.Errorf("a reader that waits gets %d: %s", res.Code, res.Body)
		}
	}
	if n := strings.Count(s.do(t, get(streamPath, key)).Body.String(), "\nid: "); n == 0 || n == 450 {
		t.Errorf("the stream ends after %d events", n)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("they are let go after %s", took)
	}
	if got := log.levels(t); len(got) != 3 || slices.ContainsFunc(got, func(level string) bool { return level != "INFO" }) {
		t.Errorf("logged as %q", got)
	}
}
