package server

import (
	"log/slog"
	"reflect"
	"testing"
	"time"
)

// A clock that is off by more than half a second makes a node not ready.
func TestClockMayDifferByHalfASecond(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		skew time.Duration
		ok   bool
	}{
		{0, true},
		{499 * time.Millisecond, true},
		{-499 * time.Millisecond, true},
		{501 * time.Millisecond, false},
		{-501 * time.Millisecond, false},
		{time.Hour, false},
	} {
		if err := checkClock(tc.skew); (err == nil) != tc.ok {
			t.Errorf("a skew of %s gives %v", tc.skew, err)
		}
	}
}

// Without a timeout for every phase of a request, a slow client could occupy a
// connection for ever.
func TestServerHasEveryTimeout(t *testing.T) {
	t.Parallel()
	srv := reflect.ValueOf(*newServer(nil, slog.DiscardHandler))
	for _, name := range []string{"ReadHeaderTimeout", "ReadTimeout", "WriteTimeout", "IdleTimeout", "MaxHeaderBytes"} {
		if srv.FieldByName(name).IsZero() {
			t.Errorf("%s is not set", name)
		}
	}
}
