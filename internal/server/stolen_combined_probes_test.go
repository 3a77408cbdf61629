package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/hotp"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// thiefProbe is a request that somebody sends with credentials of their own.
type thiefProbe struct {
	name, method, path string
	bearer, cookie     string
	body               string
	heard              bool // the answer says something about a line, which nobody may change
	readable           bool // the login alone can read everything that the answer shows, and write it
	listed             bool // the login alone can read what it shows
}

// thiefReply is a response without what differs every time.
type thiefReply struct {
	status int
	body   string
}

func (r thiefReply) good() bool { return r.status >= 200 && r.status < 300 }

var thiefClient = &http.Client{
	Timeout:       10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (w *thiefWorld) from() netip.Addr { return netip.MustParseAddr("127.0.0.1") }

// send sends a probe and returns the response as it is.
func (w *thiefWorld) send(p *thiefProbe, header ...string) (int, string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), p.method, "http://"+w.server.public+p.path, strings.NewReader(p.body))
	w.must(err)
	if p.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+p.bearer)
	}
	if p.cookie != "" {
		req.Header.Set("Cookie", "__Host-lineproof="+p.cookie)
	}
	if p.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := thiefClient.Do(req)
	if err != nil {
		return 0, "" // an attempt has broken the node, which is no gain
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, ""
	}
	return res.StatusCode, string(body)
}

// What differs from one response to the next: ids of requests and sessions, times, secrets.
var thiefVaries = regexp.MustCompile(`"(requestId|verificationTimestamp|lastUsedAt|lastSeenAt|expiration|token|createdAt|apiKey|keyId|asOf)":"[^"]*"|` +
	`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|lp_[a-z]+_[0-9A-Za-z]+`)

func (w *thiefWorld) probe(p *thiefProbe) thiefReply {
	w.Helper()
	status, body := w.send(p)
	return thiefReply{status, thiefVaries.ReplaceAllString(body, "")}
}

const thiefLanes = 4

func (w *thiefWorld) probeAll() []thiefReply {
	w.Helper()
	replies := make([]thiefReply, len(w.probes))
	var all sync.WaitGroup
	for first := range thiefLanes {
		all.Go(func() {
			for i := first; i < len(w.probes); i += thiefLanes {
				replies[i] = w.probe(&w.probes[i])
			}
		})
	}
	all.Wait()
	return replies
}

// code returns a code of a person's authenticator, some steps from now.
func (w *thiefWorld) code(name string, steps int64) string {
	w.Helper()
	return value(hotp.GenerateCode(w.texts[name+" factor"], uint64(time.Now().Unix()/30+steps)))(w)
}

func (w *thiefWorld) key(name, entity, mode string, rights ...string) {
	w.Helper()
	k := value(w.access.CreateKey(w.Context(), access.KeyForm{
		Entity: w.ids[entity], Name: name, Mode: mode, Purpose: "payment", Rights: rights,
	}, access.Operator, uuid.Nil))(w)
	w.ids[name], w.texts[name] = k.ID, k.Text.Reveal()
}

func (w *thiefWorld) credentials() {
	w.Helper()
	ctx := w.Context()
	all := []string{"watch", "feed", "jobs"}
	w.key("key", "harbour", "live", all...)
	w.key("bare key", "harbour", "live")
	w.key("old key", "harbour", "live")
	w.key("stale key", "harbour", "live")
	w.key("bound key", "harbour", "live")
	w.key("test key", "harbour", "test")
	w.key("delta key", "delta", "live", all...)
	w.key("closed key", "closed", "live")
	w.key("spent key", "spent", "live")
	w.key("halted key", "halted", "live")
	w.must(w.access.RevokeKey(ctx, uuid.Nil, w.ids["old key"], access.Operator, uuid.Nil))
	w.sql(`UPDATE api_key SET expires_at = now() - interval '1 day' WHERE id = $1`, w.ids["stale key"])
	w.sql(`UPDATE api_key SET networks = '{203.0.113.0/24}' WHERE id = $1`, w.ids["bound key"])
	w.must(w.access.SetLimits(ctx, w.ids["spent"], access.Limits{DayQuota: 1}, "small", access.Operator, uuid.Nil))
	for _, name := range []string{"member", "admin", "delta admin", "closed admin"} {
		w.texts[name+" session"], w.texts[name+" cookie"] = w.session(name, false), w.session(name, true)
	}
	w.texts["old session"], w.ids["old session"] = w.session("admin", false), uuid.Nil
	w.must(w.access.EndSession(ctx, w.ids["admin"], w.ids["admin session"], access.Operator, uuid.Nil))
	w.ids["old session"] = w.ids["admin session"]
	w.texts["idle session"] = w.session("admin", false)
	w.sql(`UPDATE session SET last_seen_at = now() - interval '7 hours', proved_at = now() - interval '7 hours' WHERE id = $1`, w.ids["admin session"])
	w.must(pg.InTx(ctx, w.owner, func(tx pg.Tx) error {
		_, err := w.reg.Suspend(ctx, w.ids["closed"], "closed", access.Operator, uuid.Nil)
		return err
	}))
	w.texts["used link"] = w.link("admin", "reset", true)
}

// link plants a link of an e-mail and returns its token.
func (w *thiefWorld) link(person, kind string, used bool) string {
	w.Helper()
	token := secret.New("lp_lnk_")
	w.sql(`INSERT INTO account_link (id, account_id, kind, mac, expires_at, used_at, created_at)
		VALUES ($1, $2, $3, $4, now() + interval '20 minutes', CASE WHEN $5 THEN now() END, now())`,
		uuid.New(), w.ids[person], kind, w.peppers.Sign(secret.ForLinks, token.Reveal()), used)
	return token.Reveal()
}

const (
	thiefVerify  = "/api/v1/phone/api/phone-numbers/verify"
	thiefRecords = "/api/v1/phone/api/phone-numbers/verifications/"
	thiefStaff   = "/api/regulator/v1"
)

// records stores what organisations have, over HTTP, as they would.
func (w *thiefWorld) records() {
	w.Helper()
	made := func(what, path, body, field string) {
		w.Helper()
		for _, who := range []string{"", thiefCanary + " "} {
			status, answer := w.send(&thiefProbe{method: "POST", path: path, bearer: w.texts[who+"key"], body: strings.ReplaceAll(body, "NAME", who+what)})
			var got struct{ Data map[string]any }
			if json.Unmarshal([]byte(answer), &got) != nil || status != http.StatusOK {
				w.Fatalf("%s: %d %s", path, status, answer)
			}
			id, _ := got.Data[field].(string)
			w.ids[who+what] = value(uuid.Parse(id))(w)
		}
	}
	made("list", "/api/v1/watch-lists", `{"name":"NAME"}`, "listId")
	made("file", "/api/v1/jobs", `{"name":"NAME"}`, "jobId")
	made("hook", "/api/v1/webhooks", `{"name":"NAME","url":"https://hooks.bank.example/events"}`, "webhookId")
	made("answer", thiefVerify, `{"phoneNumber":"+2348031000000"}`, "requestId")
	for who, entity := range map[string]string{"": "harbour", thiefCanary + " ": thiefCanary} {
		w.ids[who+"document"] = uuid.New()
		w.sql(`INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, uploader, uploader_id, created_at, state)
			VALUES ($1, $2, 'CAC_CERTIFICATE', 'CAC', $3, 'application/pdf', 9, sha256('x'), 'account', $4, now(), 'clean')`,
			w.ids[who+"document"], w.ids[entity], who+"document.pdf", w.ids["admin"])
	}
	w.sql(`INSERT INTO usage_day (day, entity_id, node, asked, answered, misses, numbers) SELECT (now() AT TIME ZONE 'UTC')::date + d, $1, 'other', 9, 9, 0, 9
		FROM generate_series(-1, 1) d`, w.ids["spent"])
	w.onboard("Delta Agency", "delta-agency-1")
	w.sql(`INSERT INTO who_asked (id, number, first_day, last_day, allowed, expires_at) SELECT gen_random_uuid(), 2348031000001, d, d + 0, false, now() + interval '1 day' FROM current_date AS d`)
	w.sql(`INSERT INTO line_seal (id, number, until, active, asked_at, expires_at) VALUES (gen_random_uuid(), 2348031000001, now() + interval '1 day', false, now(), now() + interval '1 day')`)
	w.sql(`INSERT INTO message (id, account_id, kind, about, detail, path, created_at) VALUES (gen_random_uuid(), $1, 'key_expires', 'delta', 'delta', '/portal/keys', now())`, w.ids["delta admin"])
}

// onboard onboards an organisation with an Idempotency-Key.
func (w *thiefWorld) onboard(name, key string) (int, string) {
	w.Helper()
	slug := strings.ToLower(strings.ReplaceAll(name, " ", "-"))
	body := fmt.Sprintf(`{"name":%q,"cac":"RC 77%d","isDocumentRequired":false,"adminEmail":"%s@agency.example","adminPhone":"+23480310%05d",`+
		`"adminName":"Ngozi %s","adminPassword":"harmattan-38-dust"}`, name, len(name), slug, len(name), name)
	return w.send(&thiefProbe{method: "POST", path: thiefStaff + "/onboard-entity", bearer: w.texts["telco token"], body: body}, "Idempotency-Key", key)
}
