package pg_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// A primary that is listed first and frozen accepts connections and never answers. Once a
// standby is promoted, calls work within a second all the same, and new connections do not
// wait for the frozen one.
func TestAFrozenFirstHostDelaysNothingAfterAPromotion(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	primary, standby := pgtest.StartPair(ctx, t)
	u, err := url.Parse(primary.Database())
	if err != nil {
		t.Fatal(err)
	}
	b := &pg.Breaker{}
	pool := openPool(t, strings.Replace(primary.Database(), u.Host, fmt.Sprintf("%s,127.0.0.1:%d", u.Host, standby.Port()), 1), b)
	if err := primary.Freeze(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = primary.Thaw() })
	short, end := context.WithTimeout(ctx, 100*time.Millisecond)
	defer end()
	if b.ReportFailure(pg.Ping(short, pool)); !b.Open() {
		t.Fatal("a call that was not answered did not open the breaker")
	}
	<-time.After(2 * time.Second) // all hosts have been asked, and none is a primary
	if !b.Open() {
		t.Fatal("the breaker closed without a primary")
	}
	if err := standby.Promote(ctx); err != nil {
		t.Fatal(err)
	}
	promoted, err := standby.Writable(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b.Wait(ctx)
	if after := time.Since(promoted); after > process.Goal(time.Second) {
		t.Errorf("calls were refused until %s after the standby accepted writes", after)
	}
	began := time.Now()
	for range 4 { // all connections of the pool
		conn, err := pg.Acquire(ctx, pool)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
		if at := conn.Conn().Config().Port; int(at) != standby.Port() {
			t.Errorf("a connection leads to the port %d, and the primary is at %d", at, standby.Port())
		}
	}
	if took := time.Since(began); took > process.Goal(time.Second) {
		t.Errorf("four connections took %s", took)
	}
}
