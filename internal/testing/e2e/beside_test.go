package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

// crowd is other work that the server has beside verifications.
type crowd struct {
	name  string
	conns int
	// request returns the next request of a connection.
	request func(conn, n int) (method string, raw []byte)
	served  atomic.Int64
	refused atomic.Int64 // 429 and 503
}

// run sends requests over all connections until ctx ends. A caller that is refused comes
// again after a moment.
func (c *crowd) run(ctx context.Context, t *testing.T, address string) {
	var all sync.WaitGroup
	for i := range c.conns {
		all.Go(func() {
			conn := &wire{address: address}
			defer conn.close()
			for n := 0; ctx.Err() == nil; n++ {
				method, raw := c.request(i, n)
				err := conn.write(raw)
				var got answer
				if err == nil {
					got, err = conn.read(method)
				}
				switch {
				case err != nil:
					t.Errorf("%s: %v", c.name, err)
					return
				case got.status == http.StatusTooManyRequests || got.status == http.StatusServiceUnavailable:
					c.refused.Add(1)
					_ = pass(ctx, 50*time.Millisecond)
				case got.status != http.StatusOK && got.status != http.StatusSeeOther:
					t.Errorf("%s: %d: %.300s", c.name, got.status, got.body)
					return
				default:
					c.served.Add(1)
				}
			}
		})
	}
	all.Wait()
}

// Whatever else the server is asked for, verifications are answered: nobody is refused,
// and how much longer it takes is measured in one run, in turn with and without. The
// others have the limits of a service as it is installed. The ratio is enforced only if
// the environment says so, because it needs a quiet machine.
func TestVerifyBeside(t *testing.T) {
	rate, rounds := size(t, "LINEPROOF_E2E_RATE", 100), size(t, "LINEPROOF_E2E_ROUNDS", 1)
	long := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 1)) * time.Second
	o := plantTown(t, newFixture(t, startDurable(t)()), 20, 48, size(t, "LINEPROOF_E2E_ENTRIES", 2_000), 0)
	p := start(t, o.fixture, "LINEPROOF_CLIENT_RATE=20", "LINEPROOF_CLIENT_BURST=100", "LINEPROOF_CLIENT_CONCURRENT=4", "LINEPROOF_SESSION_RATE=20",
		"LINEPROOF_SESSION_BURST=100", "LINEPROOF_SESSION_CONCURRENT=8", "LINEPROOF_FILE_RATE=50", "LINEPROOF_FILE_BURST=500", "LINEPROOF_ADDRESS_RATE=10",
		"LINEPROOF_ADDRESS_BURST=100", "LINEPROOF_VERIFY_TIMEOUT=1s")
	l := &openLoop{world: o.fixture, address: p.public, rate: rate}
	calm := func(ctx context.Context) error { return pass(ctx, long) }
	l.run(t, &phase{name: "while it warms up"}, calm)
	for _, c := range o.crowds(t) {
		without, with := &phase{name: "without " + c.name}, &phase{name: "with " + c.name}
		for range rounds {
			l.run(t, without, calm)
			l.run(t, with, func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, long)
				defer cancel()
				c.run(ctx, t, p.public) // until its last requests are answered
				return nil
			})
		}
		without.report(t)
		with.report(t)
		ratio := float64(with.quantile(0.99)) / float64(without.quantile(0.99))
		t.Logf("%s: %d served, %d refused; p99 is %.2f times that without", c.name, c.served.Load(), c.refused.Load(), ratio)
		if failed, why := with.failed(); failed > 0 {
			t.Errorf("with %s, %d of %d verifications had no answer, such as: %s", c.name, failed, len(with.askings), why)
		}
		if c.served.Load() == 0 {
			t.Errorf("nobody was served of %s", c.name)
		}
		if most := os.Getenv("LINEPROOF_E2E_RATIO"); most != "" && ratio > must(strconv.ParseFloat(most, 64))(t) {
			t.Errorf("with %s, p99 is %.2f times that without, more than %s", c.name, ratio, most)
		}
	}
}

// crowds returns the other work.
func (o *portalData) crowds(t *testing.T) []*crowd {
	t.Helper()
	supplier := must(o.keeper.CreateClient(t.Context(), access.ClientForm{Name: "Cobalt", Scopes: []string{"line:supply"}, Network: "COBALT"}, access.Operator, uuid.Nil))(t)
	token := "Bearer " + o.newToken(t, supplier)
	var told atomic.Int64
	suppliers := func(int, int) (string, []byte) {
		type event struct {
			ID          string `json:"id"`
			PhoneNumber string `json:"phoneNumber"`
			Type        string `json:"type"`
			EffectiveAt string `json:"effectiveAt"`
		}
		events := make([]event, 1000)
		first := told.Add(int64(len(events))) - int64(len(events))
		now := time.Now().UTC().Format(time.RFC3339) // what happened earlier was said to be reported already
		for i := range events {
			n := first + int64(i)
			events[i] = event{fmt.Sprint("crowd-", n), "+" + strconv.FormatInt(firstLine+100_000+n%8_000_000, 10), "ASSIGNED", now}
		}
		return http.MethodPost, post("/api/v1/lines/events", "application/json", encode(map[string]any{"events": events}), "Authorization", token)
	}
	sessions := make([]string, 16)
	for i := range sessions {
		sessions[i] = o.signIn(t, fmt.Sprint("exporter ", i), "admin", "", o.bank.ID)
	}
	exports := func(conn, _ int) (string, []byte) {
		return http.MethodGet, get("/portal/export/journal.csv", "Cookie", "__Host-lineproof="+sessions[conn])
	}
	keys := make([]string, 48)
	for i := range keys {
		entity := o.entities[i%len(o.entities)]
		keys[i] = must(o.keeper.CreateKey(t.Context(), access.KeyForm{Entity: entity, Name: fmt.Sprint("batches ", i), Mode: "live", Purpose: "kyc"}, access.Operator, uuid.Nil))(t).Text.Reveal()
	}
	numbers := make([]string, 1000)
	for i := range numbers {
		numbers[i] = "+" + strconv.FormatInt(firstLine+int64(i), 10)
	}
	body := encode(map[string]any{"phoneNumbers": numbers})
	batches := func(conn, _ int) (string, []byte) {
		return http.MethodPost, post(verifyPath+"-batch", "application/json", body, "Authorization", "Bearer "+keys[conn])
	}
	pages := func(conn, n int) (string, []byte) {
		path := []string{"/openapi.json", "/portal/sign-in", "/docs", "/openapi.yaml"}[(conn+n)%4]
		return http.MethodGet, get(path, "Accept-Encoding", "gzip")
	}
	return []*crowd{
		{name: "16 connections of a supplier", conns: 16, request: suppliers},
		{name: "16 exports", conns: 16, request: exports},
		{name: "batches of 1,000 from 48 keys", conns: 48, request: batches},
		{name: "pages and files from 64 connections", conns: 64, request: pages},
	}
}

// get returns a GET request.
func get(path string, headers ...string) []byte {
	raw := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: lineproof.test\r\n", path)
	for i := 0; i < len(headers); i += 2 {
		raw = fmt.Appendf(raw, "%s: %s\r\n", headers[i], headers[i+1])
	}
	return append(raw, "\r\n"...)
}
