package e2e_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// minSecrets is the minimum number of secret values in the requests.
const minSecrets = 1000

// No secret that a caller sends or receives occurs in the output of the server, in
// the log of its database or in its metrics: not after successful requests, not
// after refused ones, and not when the database fails during one.
func TestNoSecretInOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	ctx := t.Context()
	cluster := must(pgtest.Start(ctx, pgtest.Quick))(t)
	stop := sync.OnceFunc(cluster.Stop)
	t.Cleanup(stop)
	if err := cluster.MakeTemplate(ctx); err != nil {
		t.Fatal(err)
	}
	w := newFixture(t, cluster.URL(must(cluster.Clone(ctx))(t)))
	databaseLog := must(os.Open(cluster.LogFile()))(t) // opened now, because the cluster removes it
	defer databaseLog.Close()
	p := start(t, w, "LINEPROOF_LOG_LEVEL=debug", "LINEPROOF_REQUEST_TIMEOUT=4s", "LINEPROOF_VERIFY_TIMEOUT=1s", "LINEPROOF_UPLOAD_TIMEOUT=4s",
		"LINEPROOF_DRAIN_TIMEOUT=2s")
	a := &secretSearch{world: w, wire: &wire{address: p.public}, answers: make(map[string]int)}
	defer a.wire.close()
	a.add(w.token, w.session, w.key.Text.Reveal(), w.client.Secret.Reveal(), w.testKey, w.weak)
	a.add(pepper, adminEmail, adminPassword)

	a.phase = "healthy"
	for len(a.texts) < minSecrets*6/10 {
		a.callAll(t)
	}
	a.phase = "tables locked"
	locked(t, w, func() { a.allAtOnce(t) })
	a.phase = "connections cut"
	cut(t, w, func() {
		for len(a.texts) < minSecrets*9/10 {
			a.callAll(t)
		}
	})
	metrics := fetch(t, "http://"+p.private+"/metrics")
	control := "SELECT 'control-" + strings.ToLower(rand.Text()) + "'::int"
	if _, err := w.pool.Exec(ctx, control); err == nil {
		t.Error("the control of the database's log did not fail")
	}
	stop()
	a.phase = "database gone"
	for len(a.texts) < minSecrets {
		a.callAll(t)
	}
	begin := time.Now()
	p.terminate(t)
	p.wait(t)
	t.Logf("without a database the server took %s to stop, with exit code %d", time.Since(begin).Round(time.Millisecond), p.ExitCode())

	t.Logf("%d canaries; answers: %v", len(a.texts), a.answers)
	for _, must := range []string{"healthy 200", "healthy 400", "healthy 401", "healthy 409", "tables locked 503", "connections cut 503", "database gone 503"} {
		if a.answers[must] == 0 {
			t.Errorf("there was no answer %q, so its way was not searched", must)
		}
	}
	for what := range a.answers {
		if strings.HasSuffix(what, " 500") {
			t.Errorf("an answer was %q", what)
		}
	}
	a.search(t, "the server's output", must(os.ReadFile(p.log))(t), a.control)
	a.search(t, "the database's log", must(io.ReadAll(databaseLog))(t), control)
	a.search(t, "the metrics", metrics, "lineproof")
}

// secretSearch creates secrets, sends them in requests, and searches for them.
type secretSearch struct {
	world   *fixture
	wire    *wire
	phase   string
	answers map[string]int
	texts   []string // all secrets, in the form to search for
	control string   // one that is logged on purpose
	numbers int64
}

func (a *secretSearch) add(texts ...string) { a.texts = append(a.texts, texts...) }

// newSecret returns a new secret text.
func (a *secretSearch) newSecret() string {
	s := "Cnry" + rand.Text()
	a.add(s)
	return s
}

// phone returns a new phone number. The text to search for is the part that all
// notations have in common without the characters between the digits.
func (a *secretSearch) phone() int64 {
	a.numbers++
	n := 234_816_000_0000 + a.numbers*7919
	a.add(strconv.FormatInt(n, 10)[3:])
	return n
}

// search fails the test for every secret in text. The control must be there, or
// the search itself does not work.
func (a *secretSearch) search(t *testing.T, where string, text []byte, control string) {
	t.Helper()
	t.Logf("%s has %d bytes", where, len(text))
	if !bytes.Contains(text, []byte(control)) {
		t.Errorf("%s does not even show what is logged on purpose", where)
	}
	plain := bytes.ToLower(text)
	joined := bytes.Map(func(r rune) rune { // numbers in any notation
		if strings.ContainsRune(" -.()_:;/<>{}", r) {
			return -1
		}
		return r
	}, plain)
	for _, c := range a.texts {
		lower := []byte(strings.ToLower(c))
		for _, hay := range [][]byte{plain, joined} {
			if i := bytes.Index(hay, lower); i >= 0 {
				t.Errorf("%s shows a canary (%.12s...): %q", where, c, hay[max(0, i-300):min(len(hay), i+100)])
				break
			}
		}
	}
}

// send sends a request and counts its response. A request without a response does
// not matter here.
func (a *secretSearch) send(t *testing.T, raw []byte) answer {
	t.Helper()
	got, err := a.wire.send(raw)
	if err != nil {
		t.Fatalf("%s: %v", a.phase, err)
	}
	a.answers[fmt.Sprintf("%s %d", a.phase, got.status)]++
	return got
}

// locked runs fn while the tables of the operations are locked. Its connection has
// none of the timeouts of the server.
func locked(t *testing.T, w *fixture, fn func()) {
	t.Helper()
	ctx := t.Context()
	conn := must(pgx.Connect(ctx, w.url))(t)
	defer conn.Close(ctx)
	_, err := conn.Exec(ctx, `BEGIN; LOCK TABLE account, journal_entry, session, document, access_token IN EXCLUSIVE MODE`)
	if err != nil {
		t.Fatal(err)
	}
	fn()
}

// cut runs fn while the connections of the server are repeatedly terminated.
func cut(t *testing.T, w *fixture, fn func()) {
	t.Helper()
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(3 * time.Millisecond):
			}
			_, err := w.pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lineproof%' AND pid <> pg_backend_pid()
				AND datname = current_database() AND query NOT LIKE '%pg_terminate_backend%'`)
			if err != nil && t.Context().Err() != nil {
				return
			}
		}
	})
	fn()
	close(done)
	all.Wait()
}

func fetch(t *testing.T, url string) []byte {
	t.Helper()
	client := &http.Client{Timeout: patience}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return must(io.ReadAll(resp.Body))(t)
}
