package portal_test

import (
	"net/http"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/limit"
)

// A session has a rate, and a number of requests that may be in progress.
func TestSessionIsLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	session := s.openFor(t, s.as(t, "administrator"))
	s.Limiter, s.Session = limit.NewMemory(), limit.Rate{PerSecond: 0.01, Burst: 3}
	for i, want := range []int{200, 200, 200, 429} {
		if got := s.get(t, "/portal/desk/audit", session).Code; got != want {
			t.Errorf("request %d: %d, want %d", i+1, got, want)
		}
	}
}

// An export waits for its turn, while other pages do not.
func TestExportsTakeTurns(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	session := s.openFor(t, s.as(t, "administrator"))
	const export = "/portal/export/audit.csv"
	if got := s.get(t, export, session).Code; got != http.StatusOK {
		t.Fatalf("the export got %d", got)
	}
	entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.ReadExported(t.Context(), func() error {
			close(entered)
			<-leave
			return nil
		})
	}()
	<-entered
	exported := make(chan int, 1)
	go func() { exported <- s.get(t, export, session).Code }()
	if got := s.get(t, "/portal/desk/audit", session).Code; got != http.StatusOK {
		t.Errorf("a page got %d beside an export", got)
	}
	select {
	case <-exported:
		t.Error("an export did not wait for its turn")
	default:
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := <-exported; got != http.StatusOK {
		t.Errorf("the export got %d in its turn", got)
	}
}
