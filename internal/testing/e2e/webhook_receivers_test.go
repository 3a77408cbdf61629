package e2e_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/egress"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

var programs = regexp.MustCompile("(?ms)^```(go|js|python)\n(.*?)^```$")

// The receivers of the how-to page work as they stand there: they answer the challenge,
// take every event of a real server once, also when it is sent again, and refuse what is
// not signed by it.
func TestWebhookReceivers(t *testing.T) {
	page := string(must(os.ReadFile("../../../docs/how-to/receive-webhooks.md"))(t))
	found := programs.FindAllStringSubmatch(page, -1)
	if len(found) != 3 {
		t.Fatalf("the page has %d programs", len(found))
	}
	w := newFixture(t, pgtest.URL(t))
	service := webhookService(t, w)
	service.Egress = egress.New(egress.Options{})
	start(t, w, "LINEPROOF_WEBHOOK_LOOPBACK=true")
	for _, m := range found {
		for _, algorithm := range []webhook.Algorithm{webhook.Ed25519, webhook.HMAC} {
			t.Run(m[1]+" "+string(algorithm), func(t *testing.T) {
				x := &hooks{w: w, service: service}
				x.tryReceiver(t, runProgram(t, m[1], m[2]), algorithm)
			})
		}
	}
}

// runProgram stores a program, and returns the command that starts it.
func runProgram(t *testing.T, kind, text string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), map[string]string{"go": "main.go", "js": "receiver.js", "python": "receiver.py"}[kind])
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if kind != "go" {
		return []string{map[string]string{"js": "node", "python": "python3"}[kind], file}
	}
	binary := file + ".bin"
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, file)
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return []string{binary}
}

func (x *hooks) tryReceiver(t *testing.T, command []string, algorithm webhook.Algorithm) {
	ctx, by := t.Context(), webhook.By{Actor: access.Operator}
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := ln.Addr().String()
	_ = ln.Close()
	_, port, _ := net.SplitHostPort(address)
	bank := must(x.w.registry.CreateRelyingParty(ctx, "Receiver Bank", "RC 77", access.Operator, uuid.Nil))(t)
	h := &hooked{owner: feed.Owner{Entity: bank.ID, Mode: access.Test}}
	e := must(x.service.Create(ctx, h.owner, webhook.NewForm{Name: "receiver", URL: "http://" + address + "/lineproof", Algorithm: algorithm}, by))(t)

	log := must(os.Create(filepath.Join(t.TempDir(), "out")))(t)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "WEBHOOK_KEY="+e.Key.Reveal(), "PORT="+port)
	child := must(process.Run(cmd, log))(t)
	t.Cleanup(child.Kill)
	text := func() string { return string(must(os.ReadFile(log.Name()))(t)) }
	until := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !ok(); <-time.After(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("timed out waiting for %s:\n%s", what, text())
			}
		}
	}
	until("the receiver to listen", func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	must(x.service.Confirm(ctx, h.owner, e.ID, by))(t)
	for range 5 {
		if err := x.tell(ctx, []*hooked{h}); err != nil {
			t.Fatal(err)
		}
	}
	all := func() bool { return strings.Contains(text(), "1-5 org.lineproof.line.v1.swapped") }
	until("the events", all)
	must(x.service.Replay(ctx, h.owner, e.ID, "", by))(t)
	sent := func() bool {
		now := must(x.service.Endpoint(ctx, h.owner, e.ID))(t)
		return now.Behind == 0 && now.Seq == 5
	}
	until("the events again", sent)
	for i := 1; i <= 5; i++ {
		if n := strings.Count(text(), fmt.Sprintf("1-%d org", i)); n != 1 {
			t.Errorf("event %d was taken %d times:\n%s", i, n, text())
		}
	}
	forged := []byte(`{"id":"1-6","type":"org.lineproof.line.v1.swapped","data":{}}`)
	s := webhook.Sign("1-6", time.Now(), forged, webhook.NewKey(algorithm))
	r := must(http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(forged)))(t)
	r.Header = http.Header{"Webhook-Id": {s.ID}, "Webhook-Timestamp": {s.Timestamp}, "Webhook-Signature": {s.Signature}}
	res, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized || strings.Contains(text(), "1-6") {
		t.Errorf("a forged request is answered %d:\n%s", res.StatusCode, text())
	}
}
