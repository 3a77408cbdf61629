package httpapi_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/access"
)

// A file for a watch-list is read up to a number of lines and of bytes, however small it is
// when it is compressed, and the list stays as it was.
func TestBombOfNumbersIsRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.bankKey(t, access.Live)
	list := listsPath + "/" + s.list(t, key, knownNumber)
	for name, content := range map[string]string{
		"equal lines":    strings.Repeat(knownNumber+"\n", 1_000_000),
		"rejected lines": strings.Repeat("x\n", 1_000_000),
		"empty lines":    strings.Repeat("\n", 1_000_000),
		"one long line":  strings.Repeat("2", 15_000_000),
	} {
		var file bytes.Buffer
		z := must(zstd.NewWriter(&file))(t)
		must(z.Write([]byte(content)))(t)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPut, list+"/members", &file)
		r.Header.Set("Content-Type", "application/zstd")
		r.Header.Set("Authorization", "Bearer "+key)
		size := file.Len()
		res := s.do(t, r)
		if res.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d bytes that become %d answered %d, want 413: %s", name, size, len(content), res.Code, res.Body)
		}
	}
	if res := s.do(t, get(list, key)); field(t, res.Body.Bytes(), "data", "digest") == "" || !strings.Contains(res.Body.String(), `"members":1`) {
		t.Errorf("the list is now %s", res.Body)
	}
}

// An order that takes long delays no other caller, and what waits for it leaves when its own
// time is over.
func TestSlowOrderDelaysNoOtherCaller(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	slow, other := s.lineToken(t, "", "line:order"), s.lineToken(t, "", "line:order")
	owner := openAs(t, s.pool.Config().ConnString())
	blocked := must(owner.Begin(t.Context()))(t)
	defer func() { _ = blocked.Rollback(context.WithoutCancel(t.Context())) }()
	must(blocked.Exec(t.Context(), `SELECT FROM line_now WHERE number = 2348031234567 FOR UPDATE`))(t)
	bar := func(number string) string {
		return `{"phoneNumber":"` + number + `","action":"BAR","reason":"FRAUD","scope":"NUMBER","note":"n"}`
	}
	ended := make(chan int, 2)
	ask := func(token, number string, within time.Duration) {
		ctx, stop := context.WithTimeout(t.Context(), within)
		defer stop()
		ended <- s.do(t, post(ordersPath, token, bar(number)).WithContext(ctx)).Code
	}
	go ask(slow, knownNumber, 8*time.Second)
	var waiting int
	for waiting == 0 { // until the order waits for the line
		if err := owner.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	ask(slow, swappedNumber, 300*time.Millisecond)
	if got := <-ended; got != http.StatusServiceUnavailable {
		t.Errorf("the next order of the same client answered %d, want 503 when its time is over", got)
	}
	ask(other, swappedNumber, 5*time.Second)
	if got := <-ended; got != http.StatusOK {
		t.Errorf("the order of another client answered %d, want 200", got)
	}
	if err := blocked.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-ended; got != http.StatusOK {
		t.Errorf("the slow order answered %d, want 200", got)
	}
}
