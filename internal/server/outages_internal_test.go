package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

// A database that comes and goes is reported as away once, and as back once it has answered for
// a while, with how often it was away.
func TestADatabaseThatComesAndGoesIsReportedOnce(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		o := &outages{ctx: t.Context(), log: slog.New(slog.NewTextHandler(&text, nil)), metrics: metrics}
		logged := func() string {
			o.mu.Lock() // the timer writes under it
			defer o.mu.Unlock()
			return text.String()
		}
		for range 5 {
			o.change(true, 0)
			<-time.After(time.Second)
			o.change(false, time.Second)
		}
		<-time.After(settled - time.Millisecond)
		synctest.Wait()
		if said := logged(); strings.Contains(said, "answers again") {
			t.Errorf("it was back too soon:\n%s", said)
		}
		<-time.After(2 * settled)
		synctest.Wait()
		if said := logged(); strings.Count(said, "does not answer") != 1 || strings.Count(said, "answers again") != 1 || !strings.Contains(said, "after=5s outages=5") {
			t.Errorf("the log says\n%s", said)
		}
		o.change(true, 0)
		if said := logged(); strings.Count(said, "does not answer") != 2 {
			t.Errorf("a later outage is not reported:\n%s", said)
		}
	})
}
