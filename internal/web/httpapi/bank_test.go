package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/notify/distribute"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

const (
	listsPath  = "/api/v1/watch-lists"
	feedPath   = "/api/v1/feed"
	streamPath = "/api/v1/feed/stream"
	acksPath   = "/api/v1/feed/acknowledgements"
)

// bankRoutes are the routes that need a right of a key.
var bankRoutes = []string{
	"GET " + listsPath, "POST " + listsPath, "GET " + listsPath + "/{listId}", "DELETE " + listsPath + "/{listId}", "GET " + listsPath + "/{listId}/members",
	"PUT " + listsPath + "/{listId}/members", "POST " + listsPath + "/{listId}/members", "GET " + feedPath, "GET " + streamPath, "POST " + acksPath,
	"GET " + hooksPath, "POST " + hooksPath, "GET " + hooksPath + "/{webhookId}", "DELETE " + hooksPath + "/{webhookId}", "GET " + hooksPath + "/{webhookId}/attempts",
	"POST " + hooksPath + "/{webhookId}/confirm", "POST " + hooksPath + "/{webhookId}/test", "POST " + hooksPath + "/{webhookId}/pause", "POST " + hooksPath + "/{webhookId}/resume",
	"POST " + hooksPath + "/{webhookId}/roll", "POST " + hooksPath + "/{webhookId}/replay", "GET " + hooksPath + "/{webhookId}/refused", "POST " + hooksPath + "/{webhookId}/resend",
	"GET " + jobsPath, "POST " + jobsPath, "GET " + jobsPath + "/{jobId}", "PUT " + jobsPath + "/{jobId}/file", "GET " + jobsPath + "/{jobId}/result", "POST " + jobsPath + "/{jobId}/cancel",
}

// bankRequest returns a request about watch-lists or the feed that succeeds with a key of
// the bank; nil for other paths.
func bankRequest(t *testing.T, s *stack, method, path string) *http.Request {
	t.Helper()
	switch path {
	case feedPath:
		return get(feedPath, "")
	case acksPath:
		return post(acksPath, "", `{"eventIds":["1-1"]}`)
	case streamPath:
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		t.Cleanup(cancel)
		return get(streamPath, "").WithContext(ctx)
	case listsPath:
		super(t, s, `DELETE FROM watch_list`) // there may be only so many
		if method == http.MethodPost {
			return post(listsPath, "", `{"name":"x"}`)
		}
		return get(listsPath, "")
	}
	if strings.HasPrefix(path, hooksPath) {
		return hookRequest(t, s, method, path)
	}
	if strings.HasPrefix(path, jobsPath) {
		return jobRequest(t, s, method, path)
	}
	if !strings.HasPrefix(path, listsPath) {
		return nil
	}
	super(t, s, `DELETE FROM watch_list`)
	path = strings.Replace(path, "{listId}", s.list(t, s.bankKey(t, access.Live)), 1)
	switch method {
	case http.MethodPut:
		r := httptest.NewRequest(method, path, strings.NewReader(knownNumber))
		r.Header.Set("Content-Type", "text/csv")
		return r
	case http.MethodPost:
		return post(path, "", `{"add":["`+knownNumber+`"]}`)
	}
	return httptest.NewRequest(method, path, http.NoBody)
}

func (s *stack) withBank(t testing.TB, region *phone.Region, stage *sandbox.Simulator) {
	t.Helper()
	lines := &linestore.Resolver{}
	g := guard.New(&guard.Guard{Pool: s.pool, Node: "test", Mode: guard.Stop, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	s.Bank = &httpapi.Bank{
		Lists: &watchlist.Service{Pool: s.pool, Guard: g, Lines: lines, Now: time.Now}, Feed: &feed.Service{Pool: s.pool, Now: time.Now}, Notices: &impact.Notices{Pool: s.pool, Now: time.Now},
		Sandbox: &sandbox.Service{Pool: s.pool, Simulator: stage, Now: time.Now}, Tests: &distribute.Tests{Simulator: stage, Lines: lines}, Region: region,
		ListMaxRows: 100_000, ListMaxBytes: 1 << 20, Closing: make(chan struct{}), Webhooks: newWebhooks(s.pool, s.Answers.Peppers),
	}
	s.Bank.Jobs = s.newJobs(t, g, region)
	s.ImportMaxBytes, s.Timeouts.Import = 1<<20, 20*time.Second
}

// bankKey creates a key that has every right.
func (s *stack) bankKey(t testing.TB, mode string) string {
	t.Helper()
	form := access.KeyForm{Entity: s.bank.ID, Name: "feed", Mode: mode, Rights: []string{"watch", "feed", "jobs"}}
	return must(s.Access.CreateKey(t.Context(), form, access.Operator, uuid.Nil))(t).Text.Reveal()
}

func (s *stack) list(t testing.TB, key string, numbers ...string) string {
	t.Helper()
	res := s.do(t, post(listsPath, key, `{"name":"customers"}`))
	id := field(t, res.Body.Bytes(), "data", "listId")
	if len(numbers) > 0 {
		if res := s.do(t, post(listsPath+"/"+id+"/members", key, `{"add":["`+strings.Join(numbers, `","`)+`"]}`)); res.Code != http.StatusOK {
			t.Fatalf("numbers are not added: %s", res.Body)
		}
	}
	return id
}

// tell adds an event to the feed of the bank.
func (s *stack) tell(t testing.TB, mode string) {
	t.Helper()
	n, _ := phone.FromInt(2348031234567)
	data := &distribute.LineData{Lists: []string{}, MobileNetwork: "MTN", PhoneNumber: n.E164(), PlanVersion: 1, PolicyVersion: 1, Previous: "NORMAL", Status: "SWAPPED", Version: 7}
	event := feed.Event{Type: "line.v1.swapped", Number: n, Time: time.Now(), Data: data}
	if err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) error {
		return feed.Append(t.Context(), tx, feed.Owner{Entity: s.bank.ID, Mode: mode}, event)
	}); err != nil {
		t.Fatal(err)
	}
}

func put(path, bearer, kind string, body []byte) *http.Request {
	r := httptest.NewRequest(http.MethodPut, path, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.Header.Set("Content-Type", kind)
	return r
}

// bankTrouble are the errors that every operation of API keys beside verify can have.
func bankTrouble(name string, ask func(key string) *http.Request) map[string]answer {
	with := func(change func(s *stack, r *http.Request)) asker {
		return func(t *testing.T, s *stack) *http.Request {
			r := ask(s.bankKey(t, access.Live))
			change(s, r)
			return r
		}
	}
	return map[string]answer{
		name + "_no_credential":  {401, with(func(_ *stack, r *http.Request) { r.Header.Del("Authorization") })},
		name + "_no_right":       {403, func(_ *testing.T, s *stack) *http.Request { return ask(s.key) }},
		name + "_bad_correlator": {400, with(func(_ *stack, r *http.Request) { r.Header.Set("x-correlator", "no good!") })},
		name + "_panic":          {500, with(func(s *stack, _ *http.Request) { s.Access.Peppers = nil })},
		name + "_unavailable":    {503, with(func(s *stack, _ *http.Request) { s.pool.Close() })},
	}
}

func bankAnswers() map[string]answer {
	some := listsPath + "/" + uuid.NewString()
	all := make(map[string]answer)
	for name, ask := range map[string]func(key string) *http.Request{
		"lists": func(key string) *http.Request { return get(listsPath, key) }, "lists_create": func(key string) *http.Request { return post(listsPath, key, `{"name":"x"}`) },
		"lists_show": func(key string) *http.Request { return get(some, key) }, "lists_delete": func(key string) *http.Request { return without(http.MethodDelete, some, key) },
		"members":         func(key string) *http.Request { return get(some+"/members", key) },
		"members_replace": func(key string) *http.Request { return put(some+"/members", key, "text/csv", []byte(knownNumber)) },
		"members_change":  func(key string) *http.Request { return post(some+"/members", key, `{"add":["`+knownNumber+`"]}`) },
		"feed":            func(key string) *http.Request { return get(feedPath, key) }, "stream": func(key string) *http.Request { return get(streamPath, key) },
		"acks": func(key string) *http.Request { return post(acksPath, key, `{"eventIds":["1-1"]}`) },
	} {
		maps.Copy(all, bankTrouble(name, ask))
	}
	on := func(ask func(key, list string) *http.Request) asker {
		return func(t *testing.T, s *stack) *http.Request {
			key := s.bankKey(t, access.Live)
			return ask(key, listsPath+"/"+s.list(t, key, knownNumber, swappedNumber))
		}
	}
	no := func(ask func(key, list string) *http.Request) asker {
		return func(t *testing.T, s *stack) *http.Request { return ask(s.bankKey(t, access.Live), some) }
	}
	file := func(query, kind, body string) func(key, list string) *http.Request {
		return func(key, list string) *http.Request { return put(list+"/members"+query, key, kind, []byte(body)) }
	}
	change := func(body string) func(key, list string) *http.Request {
		return func(key, list string) *http.Request { return post(list+"/members", key, body) }
	}
	create := func(body string) asker {
		return func(t *testing.T, s *stack) *http.Request { return post(listsPath, s.bankKey(t, access.Live), body) }
	}
	show := func(key, list string) *http.Request { return get(list, key) }
	remove := func(key, list string) *http.Request { return without(http.MethodDelete, list, key) }
	members := func(key, list string) *http.Request { return get(list+"/members", key) }
	maps.Copy(all, map[string]answer{
		"lists_ok": {200, on(func(key, _ string) *http.Request { return get(listsPath, key) })},
		"lists_ok_test": {200, func(t *testing.T, s *stack) *http.Request {
			s.list(t, s.bankKey(t, access.Live))
			return get(listsPath, s.bankKey(t, access.Test))
		}},
		"lists_create_ok":    {200, create(`{"name":"customers"}`)},
		"lists_create_empty": {400, create(`{}`)},
		"lists_create_many": {409, func(t *testing.T, s *stack) *http.Request {
			key := s.bankKey(t, access.Live)
			for range 16 {
				s.list(t, key)
			}
			return post(listsPath, key, `{"name":"x"}`)
		}},
		"lists_create_large": {413, create(`{"name":"` + strings.Repeat("x", 17<<10) + `"}`)},
		"lists_create_type": {415, func(t *testing.T, s *stack) *http.Request {
			r := create(`{}`)(t, s)
			r.Header.Del("Content-Type")
			return r
		}},
		"lists_show_ok":   {200, on(show)},
		"lists_show_none": {404, no(show)},
		"lists_show_other": {404, func(t *testing.T, s *stack) *http.Request {
			return show(s.bankKey(t, access.Test), listsPath+"/"+s.list(t, s.bankKey(t, access.Live)))
		}},
		"lists_delete_ok":          {200, on(remove)},
		"lists_delete_none":        {404, no(remove)},
		"members_ok":               {200, on(members)},
		"members_none":             {404, no(members)},
		"members_replace_ok":       {200, on(file("", "text/csv", knownNumber+"\n\n 0803-123 45.68\r\nnobody\n+442071838750\n"))},
		"members_replace_ok_dry":   {200, on(file("?dryRun=true", "text/csv", knownNumber))},
		"members_replace_none":     {404, no(file("", "text/csv", knownNumber))},
		"members_replace_query":    {400, on(file("?dryRun=yes&x=1", "text/csv", knownNumber))},
		"members_replace_damaged":  {400, on(file("", "application/gzip", "\x1f\x8bnot gzip at all"))},
		"members_replace_large":    {413, on(file("", "text/csv", strings.Repeat(knownNumber+"\n", 80_000)))},
		"members_replace_type":     {415, on(file("", "application/json", "{}"))},
		"members_change_ok":        {200, on(change(`{"add":["+2348039999999"],"remove":["` + knownNumber + `"]}`))},
		"members_change_wrong":     {400, on(change(`{"add":["nobody","+442071838750"],"remove":["` + knownNumber + `",""]}`))},
		"members_change_empty":     {400, on(change(`{}`))},
		"members_change_none":      {404, no(change(`{"add":["` + knownNumber + `"]}`))},
		"members_change_too_large": {413, on(change(`{"add":["` + strings.Repeat("1", 1<<20) + `"]}`))},
		"members_change_type": {415, on(func(key, list string) *http.Request {
			r := change(`{}`)(key, list)
			r.Header.Set("Content-Type", "text/plain")
			return r
		})},
		"members_change_not_test": {400, func(t *testing.T, s *stack) *http.Request {
			key := s.bankKey(t, access.Test)
			return post(listsPath+"/"+s.list(t, key)+"/members", key, `{"add":["`+knownNumber+`"]}`)
		}},
	})
	maps.Copy(all, feedAnswers())
	maps.Copy(all, hookAnswers())
	maps.Copy(all, jobAnswers())
	return all
}

func feedAnswers() map[string]answer {
	read := func(query string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			key := s.bankKey(t, access.Live)
			s.tell(t, access.Live)
			s.tell(t, access.Live)
			s.tell(t, access.Test)
			return get(feedPath+query, key)
		}
	}
	// after asks with the cursor of the first event.
	after := func(path string, change func(t *testing.T, s *stack, cursor string) string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			res := s.do(t, read("?limit=1")(t, s))
			return get(path+"?after="+change(t, s, field(t, res.Body.Bytes(), "data", "next")), s.bankKey(t, access.Live))
		}
	}
	same := func(_ *testing.T, _ *stack, cursor string) string { return cursor }
	other := func(_ *testing.T, _ *stack, cursor string) string {
		return cursor[:len(cursor)-16] + "0123456789abcdef"
	}
	gone := func(t *testing.T, s *stack, cursor string) string {
		var name string
		if err := s.pool.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
			t.Fatal(err)
		}
		s.tell(t, access.Live)
		owner := pgtest.Open(t, pgtest.Server(t).URL(name), pg.Owner)
		must(owner.Exec(t.Context(), `DELETE FROM feed_entry WHERE mode = 'live' AND seq <= 2`))(t)
		return cursor
	}
	acks := func(mode, body string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			super(t, s, `INSERT INTO impact_notice (request_id, events, entity_id, event_id, told_at) SELECT gen_random_uuid(), 1, '`+s.bank.ID.String()+`', '1-' || i, now() FROM generate_series(1, 3) i`)
			super(t, s, `UPDATE impact_notice SET acknowledged_at = told_at WHERE event_id = '1-2'`)
			return post(acksPath, s.bankKey(t, mode), body)
		}
	}
	return map[string]answer{
		"acks_ok":      {200, acks(access.Live, `{"eventIds":["1-1","1-2","1-4"]}`)},
		"acks_ok_test": {200, acks(access.Test, `{"eventIds":["1-1"]}`)},
		"acks_empty":   {400, acks(access.Live, `{}`)},
		"acks_wrong":   {400, acks(access.Live, `{"eventIds":["1-1","1","1-1"]}`)},
		"acks_large":   {413, acks(access.Live, `{"eventIds":["`+strings.Repeat("1", 65<<10)+`"]}`)},
		"acks_type": {415, func(t *testing.T, s *stack) *http.Request {
			r := acks(access.Live, `{}`)(t, s)
			r.Header.Del("Content-Type")
			return r
		}},
		"feed_ok":       {200, read("")},
		"feed_ok_limit": {200, read("?limit=1")},
		"feed_ok_after": {200, after(feedPath, same)},
		"feed_ok_none":  {200, func(t *testing.T, s *stack) *http.Request { return get(feedPath+"?wait=0", s.bankKey(t, access.Live)) }},
		"feed_wrong":    {400, read("?limit=1001&wait=31&from=x")},
		"feed_cursor":   {400, read("?after=x")},
		"feed_other":    {409, after(feedPath, other)},
		"feed_gone":     {410, after(feedPath, gone)},
		"stream_other":  {409, after(streamPath, other)},
		"stream_gone":   {410, after(streamPath, gone)},
		"stream_ok": {200, func(t *testing.T, s *stack) *http.Request {
			r := read("")(t, s)
			closing := make(chan struct{})
			close(closing)
			s.Bank.Closing = closing // it ends when it has sent something
			r.URL.Path = streamPath
			return r
		}},
	}
}

// serve starts a real server with the feeds running.
func (s *stack) serve(t *testing.T) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Bank.Feed.Run(ctx) })
	running.Go(func() { (&pg.Listener{Pool: s.Bank.Feed.Pool, Channels: []pg.Channel{s.Bank.Feed.Channel()}}).Run(ctx) })
	server := httptest.NewServer(s.handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		stop()
		running.Wait()
	})
	return server.URL
}

func (s *stack) open4(t *testing.T, url, key, last string) stream {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+streamPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return stream{res.StatusCode, res.Header.Get("Content-Type"), bufio.NewReader(res.Body)}
}

// stream is a response that goes on.
type stream struct {
	status int
	kind   string
	body   *bufio.Reader
}

// nextID returns the id of the next message of a stream.
func nextID(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			return strings.TrimSpace(id)
		}
	}
}

// A stream sends what is there and what comes, goes on after a break, and ends when its key
// is revoked; an organisation has four of them.
func TestStream(t *testing.T) {
	t.Parallel()

	s := newStack(t)
	url, key := s.serve(t), s.bankKey(t, access.Live)
	s.tell(t, access.Live)
	first := s.open4(t, url, key, "")
	in := first.body
	if first.kind != "text/event-stream" {
		t.Errorf("the type is %q", first.kind)
	}
	id := nextID(t, in)
	s.tell(t, access.Live)
	begun := time.Now()
	if next := nextID(t, in); !strings.HasPrefix(next, "1-2-") || time.Since(begun) > process.Goal(3*time.Second) { // a poll, if the listener has only just begun
		t.Errorf("the second event is %s, after %v", next, time.Since(begun))
	}
	again := s.open4(t, url, key, id)
	if next := nextID(t, again.body); !strings.HasPrefix(next, "1-2-") {
		t.Errorf("after a break it goes on with %s", next)
	}
	s.open4(t, url, key, "")
	s.open4(t, url, key, "")
	if fifth := s.open4(t, url, key, ""); fifth.status != http.StatusTooManyRequests {
		t.Errorf("the fifth stream got %d", fifth.status)
	}
	keys := must(s.Access.Keys(t.Context(), s.bank.ID))(t)
	for _, k := range keys {
		if err := s.Access.RevokeKey(t.Context(), s.bank.ID, k.ID, access.Operator, uuid.Nil); err != nil {
			t.Fatal(err)
		}
	}
	s.tell(t, access.Live)
	rest := new(bytes.Buffer)
	if _, err := rest.ReadFrom(in); err != nil || strings.Contains(rest.String(), "id: 1-3-") {
		t.Errorf("after the key was revoked: %v, %s", err, rest)
	}
}

// A request that waits is answered as soon as there is an event, or without one when its
// time is over.
func TestLongPoll(t *testing.T) {
	t.Parallel()

	s := newStack(t)
	s.serve(t)
	key := s.bankKey(t, access.Live)
	next := field(t, s.do(t, get(feedPath, key)).Body.Bytes(), "data", "next")
	if got := field(t, s.do(t, get(feedPath+"?wait=1&after="+next, key)).Body.Bytes(), "data", "next"); got != next {
		t.Errorf("an empty feed goes from %s to %s", next, got)
	}
	done := make(chan *httptest.ResponseRecorder)
	begun := time.Now()
	go func() { done <- s.do(t, get(feedPath+"?wait=30&after="+next, key)) }()
	<-time.After(100 * time.Millisecond) // most of the time it waits by then; if not, it finds the event
	s.tell(t, access.Live)
	if got := field(t, (<-done).Body.Bytes(), "data", "next"); !strings.HasPrefix(got, "1-1-") || time.Since(begun) > 20*time.Second {
		t.Errorf("waited until %s, for %v", got, time.Since(begun))
	}
}

// A test key watches test numbers, and moving its clock tells what happens to them.
func TestTestClockSendsEvents(t *testing.T) {
	t.Parallel()

	s := newStack(t)
	key := s.bankKey(t, access.Test)
	s.list(t, key, testLife)
	for _, step := range []string{`{"reset":true}`, `{"advance":"P500D"}`} {
		if res := s.do(t, post(clockPath, key, step)); res.Code != http.StatusOK {
			t.Fatalf("%s: %s", step, res.Body)
		}
	}
	body := s.do(t, get(feedPath+"?limit=1000", key)).Body.String()
	for _, want := range []string{"line.v1.swapped", "line.v1.churn-announced", "line.v1.recycled", `"phoneNumber":"` + testLife + `"`, "Savanna Mobile"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in %s", want, body)
		}
	}
	if strings.Contains(body, "+2347290000091") {
		t.Error("a number that is not watched is told")
	}
}

// A large compressed file becomes the list, and the list comes back as a file.
func TestMembersBothWays(t *testing.T) {
	t.Parallel()

	s := newStack(t)
	key := s.bankKey(t, access.Live)
	id := s.list(t, key, knownNumber)
	var want strings.Builder
	for i := range 20_000 {
		want.WriteString("+" + strconv.Itoa(2348031000000+i*7) + "\n")
	}
	packer := must(zstd.NewWriter(nil))(t)
	res := s.do(t, put(listsPath+"/"+id+"/members", key, "application/zstd", packer.EncodeAll([]byte(want.String()), nil)))
	if res.Code != http.StatusOK || !strings.Contains(res.Body.String(), `"members":20000`) {
		t.Fatalf("%d %s", res.Code, res.Body)
	}
	if got := s.do(t, get(listsPath+"/"+id+"/members", key)).Body.String(); got != want.String() {
		t.Errorf("the list came back with %d bytes, and was sent with %d", len(got), want.Len())
	}
}
