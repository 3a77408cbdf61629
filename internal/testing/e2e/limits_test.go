package e2e_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/redistest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// rates returns the settings of a node with a limit for each entity.
func rates(node, redis string, rate, burst int) []string {
	return []string{
		"LINEPROOF_NODE=" + node, "LINEPROOF_REDIS_URL=" + redis, "LINEPROOF_KEY_RATE=50", "LINEPROOF_KEY_BURST=100",
		"LINEPROOF_ENTITY_RATE=" + strconv.Itoa(rate), "LINEPROOF_ENTITY_BURST=" + strconv.Itoa(burst),
	}
}

// Two hundred keys of one entity, used from two hundred addresses on two nodes,
// get together the rate of the entity: not 1 % more, and not much less.
func TestLimitsOverTwoNodes(t *testing.T) {
	rate, length := size(t, "LINEPROOF_E2E_LIMIT", 100), time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 5))*time.Second
	server := redistest.New(t)
	w := newFixture(t, pgtest.URL(t))
	one, two := start(t, w, rates("one", server.URL(), rate, 2*rate)...), start(t, w, rates("two", server.URL(), rate, 2*rate)...)
	c := newManyKeys(t, w, 4*rate, one, two)
	stop := make(chan struct{})
	time.AfterFunc(length, func() { close(stop) })
	all := c.run(t, stop)
	onlyLimited(t, all)

	let := passed(all)
	took := let[len(let)-1].at.Sub(let[0].sent)
	may := float64(2*rate) + float64(rate)*took.Seconds()
	share := float64(len(let)) / may
	t.Logf("%d requests of %d keys from as many addresses in %s: %d passed of %.0f that the entity may have, %.4f", len(all), keyCount, took.Round(time.Millisecond), len(let), may, share)
	least := 0.99
	if length < 20*time.Second {
		least = 0.9 // what waits at the end is a larger part of a short run
	}
	if share > 1.01 || share < least {
		t.Errorf("%.4f of what the entity may have, want %g to 1.01", share, least)
	}
	for _, p := range []*instance{one, two} {
		if text := metricsOf(t, p); !strings.Contains(text, "\nlineproof_limit_local_total 0\n") {
			t.Error("a node went on by itself although Redis was there")
		}
	}
}

// Redis is killed under load and restarted empty. No response is 5xx, requests are
// answered all the time, and in no second are more accepted than the limit allows.
func TestLimitsWithoutRedis(t *testing.T) {
	rate, length := size(t, "LINEPROOF_E2E_LIMIT", 100), time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 3))*time.Second
	kills := size(t, "LINEPROOF_E2E_KILLS", 1)
	server := redistest.New(t)
	w := newFixture(t, pgtest.URL(t))
	burst := rate / 2
	one, two := start(t, w, rates("one", server.URL(), rate, burst)...), start(t, w, rates("two", server.URL(), rate, burst)...)
	c := newManyKeys(t, w, 4*rate, one, two)
	type outage struct{ from, to time.Time }
	var outages []outage
	stop := make(chan struct{})
	hurt := make(chan error, 1)
	go func() {
		defer close(stop)
		for range kills {
			<-time.After(length)
			server.Stop()
			from := time.Now()
			<-time.After(length)
			if err := server.Restart(t.Context()); err != nil {
				hurt <- err
				return
			}
			outages = append(outages, outage{from, time.Now()})
		}
		<-time.After(length)
		hurt <- nil
	}()
	all := c.run(t, stop)
	if err := <-hurt; err != nil {
		t.Fatal(err)
	}
	onlyLimited(t, all)
	most, at := busiest(all, time.Second)
	if may := float64(rate+burst) * 1.01; float64(most) > may {
		t.Errorf("%d passed in the second from %s after the begin, and %.0f may", most, at.Sub(all[0].sent), may)
	}
	for i, o := range outages {
		n := 0
		for _, h := range passed(all) {
			if h.sent.After(o.from) && h.at.Before(o.to) {
				n++
			}
		}
		long := o.to.Sub(o.from)
		t.Logf("outage %d of %s: %d passed, %.0f a second of %d", i+1, long.Round(time.Millisecond), n, float64(n)/long.Seconds(), rate)
		if float64(n) < 0.5*float64(rate)*long.Seconds() {
			t.Errorf("outage %d: %d passed in %s; limits must not become an outage", i+1, n, long)
		}
	}
	t.Logf("%d requests, %d kills: %v; at most %d passed in a second, and %d may", len(all), kills, byStatus(all), most, rate+burst)
	for _, p := range []*instance{one, two} {
		if text := metricsOf(t, p); strings.Contains(text, "\nlineproof_limit_local_total 0\n") {
			t.Error("what a node decided by itself is not counted")
		}
		if log := p.output(t); !strings.Contains(log, "Redis is unavailable") || !strings.Contains(log, "Redis is available again") {
			t.Error("the log does not say that Redis went away and came back")
		}
	}
}

// A forged X-Forwarded-For changes nothing: guesses are refused after the limit of
// the network, whatever address they claim. Behind a listed proxy, the address that
// the proxy reports counts.
func TestLimitsAreNotForged(t *testing.T) {
	const burst, tries = 10, 100
	w := newFixture(t, pgtest.URL(t))
	for name, tc := range map[string]struct {
		proxies string
		forge   func(i int) string
		most    int
	}{
		"no proxy, many names":       {"", func(i int) string { return fmt.Sprintf("198.51.%d.7", i) }, burst},
		"another proxy, many names":  {"127.0.9.0/24", func(i int) string { return fmt.Sprintf("198.51.%d.7", i) }, burst},
		"listed proxy, many callers": {"127.0.7.0/24", func(i int) string { return fmt.Sprintf("198.51.%d.7", i) }, tries},
		"listed proxy, one caller":   {"127.0.7.0/24", func(i int) string { return fmt.Sprintf("203.0.113.9, 198.51.100.%d", i) }, burst},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, w, "LINEPROOF_ADDRESS_RATE=1", "LINEPROOF_ADDRESS_BURST="+strconv.Itoa(burst), "LINEPROOF_TRUSTED_PROXIES="+tc.proxies)
			conn, err := dialFrom("127.0.7.1", p.public)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.close()
			begin, heard := time.Now(), 0
			for i := range tries {
				guess := secret.New(secret.LiveKey).Reveal()
				a, err := conn.send(post(verifyPath, "application/json", []byte(`{"phoneNumber":"+2348031000000"}`), "Authorization", "Bearer "+guess, "X-Forwarded-For", tc.forge(i)))
				switch {
				case err != nil:
					t.Fatal(err)
				case a.status == http.StatusUnauthorized:
					heard++
				case a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "":
					t.Fatalf("a guess is answered with %d", a.status)
				}
			}
			if come := int(time.Since(begin) / time.Second); heard < min(tc.most, tries) || heard > tc.most+come+1 {
				t.Errorf("%d of %d guesses were heard in %s, want %d", heard, tries, time.Since(begin).Round(time.Millisecond), tc.most)
			}
			if a := askOnce(t, p.public, w.key, firstLine); a.status != http.StatusOK {
				t.Errorf("somebody else is answered with %d", a.status)
			}
		})
	}
}
