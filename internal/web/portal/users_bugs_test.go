package portal_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access"
)

// A single address is a network of one: the form accepts it, and the pages show it as it
// was written. What is neither is explained with an example of both.
func TestKeyIsLimitedToASingleAddress(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member := s.as(t, "member")
	res := s.post(t, "/portal/new-key", member.session, url.Values{"name": {"core"}, "mode": {"test"}, "networks": {"192.0.2.7 2001:db8::1\n198.51.100.0/24"}})
	wantPage(t, res, http.StatusOK, "shown only once")
	key := apiKeyText.FindString(res.Body.String())
	for _, path := range []string{"/portal/keys", "/portal/keys/" + s.keyID(t, "core")} {
		wantPage(t, s.get(t, path, member.session), http.StatusOK, "192.0.2.7 2001:db8::1 198.51.100.0/24")
	}
	must(s.Access.Authenticate(t.Context(), key, addr))(t) // 192.0.2.7
	if _, err := s.Access.Authenticate(t.Context(), key, addr.Next()); err == nil {
		t.Error("the key works from another address")
	}
	wantPage(t, s.post(t, "/portal/new-key", member.session, url.Values{"name": {"x"}, "mode": {"test"}, "networks": {"192.0.2"}}), http.StatusUnprocessableEntity,
		"Write each address as 192.0.2.7, and each network as 192.0.2.0/24")
}

// However often a person lets "Try it" create a key, one key of it is active; those of
// colleagues and other keys stay.
func TestTryingOftenLeavesOneKey(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member, colleague := s.as(t, "member"), s.as(t, "member")
	s.madeKey(t, member, "pipeline", "test")
	try := url.Values{"make": {"yes"}, "phoneNumber": {testNumber}}
	wantPage(t, s.post(t, "/portal/try", colleague.session, try), http.StatusOK, "200 OK")
	last := ""
	for range 3 {
		page := s.post(t, "/portal/try", member.session, try)
		wantPage(t, page, http.StatusOK, "200 OK", "It replaces the one that you created here before")
		last = apiKeyText.FindString(page.Body.String())
	}
	must(s.Access.Authenticate(t.Context(), last, addr))(t)
	active := map[string]int{}
	for _, k := range must(s.Access.Keys(t.Context(), s.bank.ID))(t) {
		if k.Active(time.Now()) {
			active[k.Name]++
		}
	}
	if active["Try it"] != 2 || active["pipeline"] != 1 {
		t.Errorf("active keys: %v, want one of each person and the other one", active)
	}
}

// The Go example of a new key compiles and runs as it is shown, on a machine that can
// fetch nothing.
func TestGoExampleRunsWithoutFetchingAnything(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	server := httptest.NewServer(s.API)
	t.Cleanup(server.Close)
	res := s.post(t, "/portal/new-key", s.as(t, "member").session, url.Values{"name": {"mobile app"}, "mode": {"test"}})
	shown := regexp.MustCompile(`(?s)<pre id="code-go"[^>]*>(.*?)</pre>`).FindStringSubmatch(res.Body.String())
	if shown == nil {
		t.Fatal("the page has no lines of Go")
	}
	program := strings.ReplaceAll(html.UnescapeString(shown[1]), "https://lineproof.example", server.URL)
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": program, "go.mod": "module example\n\ngo 1.22\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "true NORMAL Savanna Mobile ") {
		t.Errorf("it printed %s, %v:\n%s", out, err, program)
	}
}

// A live key gets UNALLOCATED for a test number; the page of the record says that it is
// one, and what to do. It does not for other numbers, nor for a test key.
func TestRecordOfATestNumberWithALiveKeySaysSo(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	live, _ := s.madeKey(t, admin, "app", access.Live)
	test, _ := s.madeKey(t, admin, "pipeline", access.Test)
	for number, hint := range map[string]bool{testNumber: true, "+2347290000199": false} {
		id := s.asked(t, live, "", number)[0]
		page := s.get(t, "/portal/journal/"+id, admin.session)
		wantPage(t, page, http.StatusOK, "UNALLOCATED")
		if got := strings.Contains(page.Body.String(), "use a test key (lp_test_)"); got != hint {
			t.Errorf("%s: the hint is shown: %t", number, got)
		}
	}
	if page := s.get(t, "/portal/journal/"+s.asked(t, test, "", "+2347290000031")[0], admin.session); strings.Contains(page.Body.String(), "use a test key") {
		t.Error("a test key is told to use a test key")
	}
}
