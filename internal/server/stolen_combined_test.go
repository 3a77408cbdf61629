package server_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Whoever steals the database login of the service, and has credentials of an ordinary
// organisation or none, gains nothing by combining statements and requests that the service
// neither refuses nor reports afterwards; thiefKnown lists the exceptions, with reasons. Every
// column that the login may write, by the database's own catalogue, is written.
func TestStolenServiceLoginWithRequests(t *testing.T) { //nolint:paralleltest // its load would disturb tests that measure
	w := newThiefWorld(t)
	w.askAround()
	w.keep()
	w.provePlants()
	attempts := slices.Concat(w.zeroIDs(), w.replays(), w.columns(), w.wholeRows(), w.tricks(), w.chains())
	if len(attempts) > thiefMost {
		t.Fatalf("%d attempts are too many for one run", len(attempts))
	}
	only, sum := os.Getenv("LINEPROOF_E2E_THIEF"), newThiefSum()
	for i := range attempts {
		a := &attempts[i]
		if time.Since(sum.begin) > thiefLongest {
			t.Errorf("stopped after %d of %d attempts", i, len(attempts))
			break
		}
		if a.chosen(only, i) {
			sum.add(w.run(a))
		}
	}
	sum.report(t, only)
}

// askAround makes the requests by which gains are seen: everything that must be refused,
// and answers that nobody may change.
func (w *thiefWorld) askAround() {
	w.Helper()
	add := func(p thiefProbe) { w.probes = append(w.probes, p) }
	verify := func(name, bearer, number string, heard bool) {
		add(thiefProbe{
			name: name, method: "POST", path: thiefVerify, bearer: bearer, heard: heard,
			body: fmt.Sprintf(`{"phoneNumber":%q,"include":["signals","coverage","dates"]}`, number),
		})
	}
	verify("a normal number", w.texts["key"], "+2348031000000", true)
	verify("a number with a swapped SIM", w.texts["key"], "+2348031000001", true)
	verify("a number of a silent operator", w.texts["key"], "+2348051000000", true)
	verify("a range without a plan", w.texts["key"], "+2348071000000", true)
	for _, name := range []string{"old", "stale", "bound", "closed", "spent", "halted"} {
		verify("with the "+name+" key", w.texts[name+" key"], "+2348031000000", false)
	}
	verify("with the test key", w.texts["test key"], "+2348031000000", false)
	verify("with a session", w.texts["admin session"], "+2348031000000", false)
	for _, path := range []string{
		thiefRecords + w.ids["delta answer"].String(), "/api/v1/jobs/" + w.ids["delta file"].String(), "/api/v1/watch-lists/" + w.ids["delta list"].String(),
		"/api/v1/webhooks/" + w.ids["delta hook"].String(), "/api/v1/jobs", "/api/v1/watch-lists", "/api/v1/webhooks", "/api/v1/feed",
	} {
		add(thiefProbe{name: "GET " + path + " with the key", method: "GET", path: path, bearer: w.texts["key"], readable: true})
	}
	for _, path := range []string{"/api/v1/jobs", "/api/v1/watch-lists", "/api/v1/feed"} {
		add(thiefProbe{name: "GET " + path + " without the right", method: "GET", path: path, bearer: w.texts["bare key"]})
	}
	for _, who := range []string{"member", "admin", "old", "idle", "leaver", "closed admin"} {
		for _, path := range []string{"/keys", "/team", "/documents", "/documents/" + w.ids["delta document"].String(), "/documents/" + w.ids["delta document"].String() + "/content"} {
			add(thiefProbe{name: "GET " + path + " with the session of " + who, method: "GET", path: thiefStaff + path, bearer: w.texts[who+" session"], listed: path == "/keys"})
		}
		add(thiefProbe{
			name: "a live key with the session of " + who, method: "POST", path: thiefStaff + "/keys", bearer: w.texts[who+" session"],
			body: `{"name":"x","mode":"live","purpose":"payment"}`,
		})
		for _, path := range []string{"history", "conflicts", "orders"} {
			p := thiefProbe{name: path + " of lines with the session of " + who, method: "GET", path: "/api/v1/lines/" + path, bearer: w.texts[who+" session"]}
			if path == "history" {
				p.method, p.body = "POST", `{"phoneNumber":"+2348031000000"}`
			}
			add(p)
		}
	}
	for _, who := range []string{"member", "admin"} {
		for _, path := range []string{"desk/staff", "desk/entities", "desk/approvals", "desk/audit", "keys", "team", "webhooks", "messages"} {
			add(thiefProbe{name: "page " + path + " of " + who, method: "GET", path: "/portal/" + path, cookie: w.texts[who+" cookie"], readable: !strings.HasPrefix(path, "desk")})
		}
	}
	for _, who := range []string{"leaver", "closed admin", "guarded"} {
		add(thiefProbe{
			name: "log in as " + who, method: "POST", path: thiefStaff + "/login",
			body: fmt.Sprintf(`{"email":%q,"password":%q}`, w.texts[who+" email"], thiefPassword),
		})
	}
	add(thiefProbe{
		name: "the used link", method: "POST", path: thiefStaff + "/password-reset/complete",
		body: fmt.Sprintf(`{"token":%q,"newPassword":"four-loud-herons"}`, w.texts["used link"]),
	})
	for client, name := range map[string]string{"telco": "old secret", "feeder": "telco secret"} {
		add(thiefProbe{
			name: "a token for " + client + " with the " + name, method: "POST", path: "/api/auth/token",
			body: fmt.Sprintf(`{"grant_type":"client_credentials","client_id":%q,"client_secret":%q}`, w.ids[client], w.texts[name]),
		})
	}
	for _, name := range []string{"telco", "old"} {
		add(thiefProbe{
			name: "supply lines with the " + name + " token", method: "POST", path: "/api/v1/lines/events", bearer: w.texts[name+" token"],
			body: `{"events":[{"eventId":"x1","type":"SIM_CHANGED","phoneNumber":"+2348031000000","effectiveAt":"2026-01-01T00:00:00Z"}]}`,
		})
	}
	w.allIsRead()
	add(thiefProbe{name: "keys without a credential", method: "GET", path: thiefStaff + "/keys"})
}

// provePlants proves the judge: it reports rows that are wrongly signed.
func (w *thiefWorld) provePlants() {
	w.Helper()
	plant := func(name, sql string, args ...any) thiefAttempt {
		return thiefAttempt{family: "plant", name: name, as: w.owner, before: []thiefStep{{sql: sql, args: args}}}
	}
	for _, p := range []struct {
		want  string
		found bool
		a     thiefAttempt
	}{
		{"desk/staff", false, plant("a session of somebody else", `UPDATE session SET account_id = $1 WHERE account_id = $2`, w.ids["ada"], w.ids["member"])},
		{"spent key", false, plant("a higher quota", `UPDATE entity_limit SET day_quota = 0`)},
		{"without the right", false, plant("a right of a key", `UPDATE api_key SET rights = '{jobs}' WHERE id = $1`, w.ids["bare key"])},
		{"stale key", false, plant("an expired key", `UPDATE api_key SET expires_at = NULL WHERE id = $1`, w.ids["stale key"])},
		{"old key", false, plant("a revoked key", `UPDATE api_key SET revoked_at = NULL WHERE id = $1`, w.ids["old key"])},
		{"closed key", false, plant("a suspended organisation", `UPDATE entity SET status = 'Approved' WHERE id = $1`, w.ids["closed"])},
	} {
		v := w.run(&p.a)
		if v.refused != nil || !strings.Contains(fmt.Sprint(v.gains), p.want) || (len(v.found) > 0) != p.found {
			w.Fatalf("the judge does not see a planted gain, %s: %v, %q, found %v", p.a.name, v.refused, v.gains, v.found)
		}
	}
	honest := thiefAttempt{family: "plant", name: "nothing", before: []thiefStep{{sql: `SELECT 1`}}, after: []thiefStep{{sql: `SELECT 1`}}}
	if v := w.run(&honest); v.refused != nil || len(v.gains) > 0 {
		w.Fatalf("the judge sees a gain without an attempt: %v, %q", v.refused, v.gains)
	}
}
