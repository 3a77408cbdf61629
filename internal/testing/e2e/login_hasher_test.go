package e2e_test

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// A login whose hashing process is killed is answered with 503 and the time to wait,
// and not with 401: nobody is told that a right password is wrong. Another process takes
// over, and none outlives a server that is killed.
func TestLoginWhenTheHashingProcessDies(t *testing.T) {
	w := newFixture(t, pgtest.URL(t))
	p := start(t, w)
	logIn := func(password string) (answer, error) {
		conn := callFrom(t, anyLoopback(), p.public)
		defer conn.close()
		return conn.send(post(loginPath, "application/json", encode(map[string]string{"email": adminEmail, "password": password})))
	}
	if got, err := logIn(adminPassword); err != nil || got.status != http.StatusOK {
		t.Fatalf("the right password: %d %s, %v", got.status, got.body, err)
	}
	if got, err := logIn("not-the-one-38"); err != nil || got.status != http.StatusUnauthorized {
		t.Fatalf("a wrong password: %d %s, %v", got.status, got.body, err)
	}
	first := p.hasher(t)
	must(0, syscall.Kill(first, syscall.SIGSTOP))(t)
	inFlight := make(chan answer, 1)
	go func() {
		got, err := logIn(adminPassword)
		if err != nil {
			t.Errorf("the login in flight: %v", err)
		}
		inFlight <- got
	}()
	process.Until(t, "a password is being hashed", func() bool { return p.gauge(t, "lineproof_password_hashes_in_flight") == 1 })
	_ = pass(t.Context(), 200*time.Millisecond) // until it is sent to the process
	must(0, syscall.Kill(first, syscall.SIGKILL))(t)
	got := <-inFlight
	if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != http.StatusServiceUnavailable || err != nil || seconds < 1 {
		t.Errorf("the login in flight: %d, Retry-After %q: %s", got.status, got.header.Get("Retry-After"), got.body)
	}
	process.Until(t, "there is another process", func() bool { return p.hasher(t) != first })
	if got, err := logIn(adminPassword); err != nil || got.status != http.StatusOK {
		t.Errorf("the right password, in the next process: %d %s, %v", got.status, got.body, err)
	}
	last := p.hasher(t)
	p.Kill()
	process.Until(t, "the process ends with the server", func() bool { return hasEnded(last) })
}

// gauge returns the value of a metric without labels.
func (p *instance) gauge(t *testing.T, name string) float64 {
	t.Helper()
	for line := range strings.Lines(string(fetch(t, "http://"+p.private+"/metrics"))) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			return must(strconv.ParseFloat(strings.TrimSpace(text), 64))(t)
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// hasEnded reports whether a process has ended, even if nobody has waited for it.
func hasEnded(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(text), ") Z ")
}
