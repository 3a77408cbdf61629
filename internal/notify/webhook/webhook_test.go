package webhook_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ids returns the ids of events from first to last.
func ids(first, last int) (list []string) {
	for i := first; i <= last; i++ {
		list = append(list, fmt.Sprintf("1-%d", i))
	}
	return list
}

// Events arrive in their order and once, in batches or one by one, also those that were
// added before the endpoint was confirmed.
func TestEventsArriveInOrder(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.sender(0)
	for _, form := range []webhook.Form{webhook.Batch, webhook.Single} {
		o, r := e.bank(), newReceiver(t)
		e.tell(o, 1, 3) // before the endpoint was created: not for it
		c, err := e.Create(t.Context(), o, webhook.NewForm{Name: "x", URL: r.URL, Form: form}, by)
		if err != nil {
			t.Fatal(err)
		}
		e.tell(o, 4, 250)
		if r.count() != 0 {
			t.Error("an endpoint that is not confirmed gets requests")
		}
		if _, err := e.Confirm(t.Context(), o, c.ID, by); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the events", func() bool { return len(r.got()) >= 247 })
		e.tell(o, 251, 260)
		eventually(t, "later events", func() bool { return len(r.got()) >= 257 })
		if diff := cmp.Diff(ids(4, 260), r.got()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", form, diff)
		}
		eventually(t, "the cursor", func() bool { return e.now(o, c.ID).Behind == 0 })
		if x := e.now(o, c.ID); x.Seq != 260 || x.Failing() || x.DeliveredAt.IsZero() {
			t.Errorf("the endpoint afterwards: %+v", x)
		}
		attempts, err := e.Attempts(t.Context(), o, c.ID, 0, 10)
		if err != nil || len(attempts) == 0 || !attempts[0].Succeeded() || attempts[0].Last != 260 {
			t.Errorf("attempts: %+v, %v", attempts, err)
		}
	}
}

// An endpoint is not confirmed by one that does not send the challenge back, and the
// caller hears why.
func TestOnlyAnAnsweredChallengeConfirms(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o := e.bank()
	for name, handler := range map[string]http.HandlerFunc{
		"another answer": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"challenge":"x"}`)) },
		"no answer":      func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"an error":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"only 200":       func(http.ResponseWriter, *http.Request) {},
	} {
		r := newReceiver(t)
		r.Config.Handler = handler
		c, err := e.Create(t.Context(), o, webhook.NewForm{Name: name, URL: r.URL}, by)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Confirm(t.Context(), o, c.ID, by)
		refused, ok := errors.AsType[*webhook.ChallengeError](err)
		if !ok || fault.CodeOf(err) != fault.IncompatibleState || refused.Attempt.Kind != webhook.KindChallenge {
			t.Errorf("%s: %v", name, err)
		}
		if x := e.now(o, c.ID); x.State != webhook.Unconfirmed {
			t.Errorf("%s: the endpoint is %s", name, x.State)
		}
		if _, err := e.Confirm(t.Context(), o, c.ID, by); fault.CodeOf(err) != fault.TooManyRequests {
			t.Errorf("%s: again at once: %v", name, err)
		}
	}
}

// A request that failed is repeated with the same bytes; meanwhile nothing overtakes it,
// and the page shows since when the endpoint fails.
func TestFailedRequestIsRepeated(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	failing := true
	r.on(func(w http.ResponseWriter, req *http.Request, _ []byte) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if failing {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte("the database is away"))
		}
		return !failing
	})
	e.tell(o, 1, 5)
	e.sender(0)
	eventually(t, "a failure", func() bool { return e.now(o, c.ID).Failures == 1 })
	e.tell(o, 6, 10) // does not change the request that is repeated
	x := e.now(o, c.ID)
	if !x.Failing() || x.Behind != 10 || x.NextAt.Sub(x.FailingSince) < 4*time.Second {
		t.Errorf("while it fails: %+v", x)
	}
	r.mu.Lock()
	failing = false
	r.mu.Unlock()
	eventually(t, "all events", func() bool { return len(r.got()) == 10 })
	if diff := cmp.Diff(ids(1, 10), r.got()); diff != "" {
		t.Error(diff)
	}
	if len(r.changed) > 0 || r.bodies["1-1_1-5"] == "" {
		t.Errorf("requests with other bytes: %v", r.changed)
	}
	eventually(t, "the cursor", func() bool { return e.now(o, c.ID).Behind == 0 }) // an attempt is recorded after its answer
	attempts, err := e.Attempts(t.Context(), o, c.ID, 0, 10)
	if err != nil || len(attempts) != 4 || attempts[2].Status != 500 || string(attempts[2].Answer) != "the database is away" {
		t.Errorf("attempts: %+v, %v", attempts, err)
	}
}

// A receiver that hangs, cuts, or answers with errors loses nothing, gets everything in
// order, and does not delay the endpoint of another organisation.
func TestHostileReceiversLoseNothing(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.sender(3 * time.Second) // a request may take one second
	hostile, honest := newReceiver(t), newReceiver(t)
	a, b := e.bank(), e.bank()
	bad, _ := e.endpoint(a, hostile), e.endpoint(b, honest)
	turn := 0
	hostile.on(func(w http.ResponseWriter, req *http.Request, body []byte) bool {
		hostile.mu.Lock()
		turn++
		now := turn
		hostile.mu.Unlock()
		switch now % 6 {
		case 0:
			return true
		case 1:
			<-req.Context().Done() // hangs
		case 2:
			panic(http.ErrAbortHandler) // cuts
		case 3:
			w.WriteHeader(http.StatusBadGateway)
		case 4:
			hostile.accept(body) // accepts, and the answer is lost
			panic(http.ErrAbortHandler)
		case 5:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		return false
	})
	for i := range 10 {
		e.tell(a, i*3+1, i*3+3)
		e.tell(b, i*3+1, i*3+3)
	}
	eventually(t, "the honest receiver", func() bool { return len(honest.got()) >= 30 })
	stop := make(chan struct{})
	go func() { // retries without the waits
		for {
			select {
			case <-stop:
				return
			case <-time.After(300 * time.Millisecond):
				_, _ = e.pool.Exec(e.t.Context(), `WITH c AS (UPDATE hook_cursor SET next_at = NULL WHERE endpoint_id = $1 AND next_at > now()) UPDATE hook_endpoint SET version = version + 1 WHERE id = $1`, bad.ID)
			}
		}
	}()
	eventually(t, "the hostile receiver", func() bool { return e.now(a, bad.ID).Behind == 0 })
	close(stop)
	var once []string
	for _, id := range hostile.got() {
		if !slices.Contains(once, id) {
			once = append(once, id)
		}
	}
	if diff := cmp.Diff(ids(1, 30), once); diff != "" {
		t.Errorf("events without repetitions (-want +got):\n%s", diff)
	}
	if len(hostile.changed) > 0 {
		t.Errorf("requests with other bytes under the same id: %v", hostile.changed)
	}
}

// One event that an endpoint never accepts is put aside after ten refusals, the others
// arrive, and it can be sent again.
func TestPoisonEventIsPutAside(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	r.on(func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		if strings.Contains(string(body), `"id":"1-3"`) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte("what is this?"))
			return false
		}
		return true
	})
	e.tell(o, 1, 5)
	e.sender(0)
	eventually(t, "the refusal of the event alone", func() bool { return e.now(o, c.ID).Failures >= 1 && e.now(o, c.ID).Seq == 2 })
	// As after nine refusals within an hour.
	_, err := e.pool.Exec(t.Context(), `UPDATE hook_cursor SET refusals = 9, refused_since = now() - interval '61 minutes', failing_since = now() - interval '61 minutes' WHERE endpoint_id = $1`, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	e.hurry(c.ID)
	eventually(t, "the other events", func() bool { return e.now(o, c.ID).Behind == 0 })
	if diff := cmp.Diff([]string{"1-1", "1-2", "1-4", "1-5"}, r.got()); diff != "" {
		t.Error(diff)
	}
	dead, err := e.Dead(t.Context(), o, c.ID, 10)
	if err != nil || len(dead) != 1 || dead[0].Seq != 3 || dead[0].Refusals != 10 || string(dead[0].Answer) != "what is this?" || e.now(o, c.ID).Dead != 1 {
		t.Fatalf("dead: %+v, %v", dead, err)
	}
	e.mu.Lock()
	if diff := cmp.Diff([]webhook.Notice{webhook.NoticeRefused}, e.notices); diff != "" {
		t.Errorf("what the admins are told: %s", diff)
	}
	e.mu.Unlock()
	r.on(nil)
	e.hurry(c.ID)
	if a, err := e.SendAgain(t.Context(), o, c.ID, 3, 3); err != nil || !a.Succeeded() || a.Kind != webhook.KindAgain {
		t.Errorf("send again: %+v, %v", a, err)
	}
	if x := e.now(o, c.ID); x.Dead != 0 || x.Seq != 5 {
		t.Errorf("after it was sent again: %+v", x)
	}
}

// An endpoint that is gone is disabled at once, one that fails for long is reported after
// an hour and disabled after three days; each is told in the feed and by e-mail.
func TestEndpointIsDisabledAndReported(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	status := http.StatusBadGateway
	r.on(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		w.WriteHeader(status)
		return status < 300
	})
	set := func(s int) { r.mu.Lock(); status = s; r.mu.Unlock() }
	e.sender(0)
	e.tell(o, 1, 1)
	eventually(t, "a failure", func() bool { return e.now(o, c.ID).Failures == 1 })
	for _, past := range []string{"61 minutes", "73 hours"} {
		before := e.now(o, c.ID).Failures
		if _, err := e.pool.Exec(t.Context(), `UPDATE hook_cursor SET failing_since = now() - $2::interval WHERE endpoint_id = $1`, c.ID, past); err != nil {
			t.Fatal(err)
		}
		e.hurry(c.ID)
		eventually(t, "another failure", func() bool { return e.now(o, c.ID).Failures > before })
	}
	if x := e.now(o, c.ID); x.State != webhook.Disabled || x.Reason != webhook.ReasonFailing {
		t.Errorf("after three days it is %s because of %q", x.State, x.Reason)
	}
	if _, err := e.Resume(t.Context(), o, c.ID, by); fault.CodeOf(err) != fault.IncompatibleState {
		t.Errorf("resume of a disabled endpoint: %v", err)
	}
	set(http.StatusGone)
	e.hurry(c.ID)
	if x, err := e.Confirm(t.Context(), o, c.ID, by); err != nil || x.State != webhook.Active || x.Failing() {
		t.Fatalf("confirmed again: %+v, %v", x, err)
	}
	eventually(t, "the end", func() bool { return e.now(o, c.ID).State == webhook.Disabled })
	if x := e.now(o, c.ID); x.Reason != webhook.ReasonGone || x.Seq != 0 {
		t.Errorf("after 410 it is disabled because of %q, with the cursor at %d", x.Reason, x.Seq)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if diff := cmp.Diff([]webhook.Notice{webhook.NoticeFailing, webhook.NoticeDisabled, webhook.NoticeDisabled}, e.notices); diff != "" {
		t.Error(diff)
	}
	entries, err := e.Feed.After(t.Context(), o, 1, 10)
	if err != nil || len(entries) != 3 || entries[0].Type != "endpoint.v1.failing" || entries[1].Type != "endpoint.v1.disabled" || !strings.Contains(string(entries[2].Body), `"reason":"gone"`) {
		t.Errorf("the feed has %d entries, %v: %+v", len(entries), err, entries)
	}
}

// Pause stops, resume goes on where it stopped, and replay sends again from a cursor.
func TestPauseResumeAndReplay(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	e.sender(0)
	e.tell(o, 1, 2)
	eventually(t, "the first events", func() bool { return e.now(o, c.ID).Seq == 2 })
	if _, err := e.Pause(t.Context(), o, c.ID, by); err != nil {
		t.Fatal(err)
	}
	// The sender notices within a second; only then is it certain to have stopped.
	eventually(t, "the sender to let go", func() bool {
		var free bool
		err := e.pool.QueryRow(t.Context(), `SELECT leased_until IS NULL FROM hook_cursor WHERE endpoint_id = $1`, c.ID).Scan(&free)
		return err == nil && free
	})
	before := r.count()
	e.tell(o, 3, 4)
	e.senderLooks()
	if r.count() != before {
		t.Error("a paused endpoint got a request")
	}
	if _, err := e.Resume(t.Context(), o, c.ID, by); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other events", func() bool { return len(r.got()) == 4 })
	entries, err := e.Feed.After(t.Context(), o, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Replay(t.Context(), o, c.ID, entries[0].Cursor(), by); err != nil { // after the second
		t.Fatal(err)
	}
	eventually(t, "the repeated events", func() bool { return len(r.got()) >= 6 })
	if diff := cmp.Diff(append(ids(1, 4), ids(3, 4)...), r.got()); diff != "" {
		t.Error(diff)
	}
	if _, err := e.Replay(t.Context(), o, c.ID, "nonsense", by); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("replay from what is no cursor: %v", err)
	}
}

// A test event says that it is one, and is no part of the feed.
func TestTestEvent(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c, err := e.Create(t.Context(), o, webhook.NewForm{Name: "x", URL: r.URL}, by)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.SendTest(t.Context(), o, c.ID); fault.CodeOf(err) != fault.IncompatibleState {
		t.Errorf("before it is confirmed: %v", err)
	}
	e.hurry(c.ID)
	if _, err := e.Confirm(t.Context(), o, c.ID, by); err != nil {
		t.Fatal(err)
	}
	e.hurry(c.ID)
	a, err := e.SendTest(t.Context(), o, c.ID)
	if err != nil || !a.Succeeded() || !strings.Contains(r.bodies[a.Message], `"type":"org.lineproof.endpoint.v1.test"`) {
		t.Errorf("a test event: %+v, %v", a, err)
	}
}

// Nobody reaches the endpoint of another organisation or of the other mode, an
// organisation has a limit, and all mistakes are reported at once.
func TestEndpointsBelongToOneFeed(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	for _, other := range []feed.Owner{e.bank(), {Entity: o.Entity, Mode: "live"}} {
		calls := map[string]func() error{
			"read":    func() error { _, err := e.Endpoint(t.Context(), other, c.ID); return err },
			"confirm": func() error { _, err := e.Confirm(t.Context(), other, c.ID, by); return err },
			"pause":   func() error { _, err := e.Pause(t.Context(), other, c.ID, by); return err },
			"resume":  func() error { _, err := e.Resume(t.Context(), other, c.ID, by); return err },
			"roll":    func() error { _, err := e.Roll(t.Context(), other, c.ID, by); return err },
			"replay":  func() error { _, err := e.Replay(t.Context(), other, c.ID, "", by); return err },
			"test":    func() error { _, err := e.SendTest(t.Context(), other, c.ID); return err },
			"again":   func() error { _, err := e.SendAgain(t.Context(), other, c.ID, 1, 1); return err },
			"delete":  func() error { return e.Delete(t.Context(), other, c.ID, by) },
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, webhook.ErrNoEndpoint) {
				t.Errorf("%s by another: %v", name, err)
			}
		}
		if a, err := e.Attempts(t.Context(), other, c.ID, 0, 10); err != nil || len(a) != 0 {
			t.Errorf("attempts for another: %v, %v", a, err)
		}
	}
	for range 9 {
		if _, err := e.Create(t.Context(), o, webhook.NewForm{Name: "x", URL: r.URL}, by); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Create(t.Context(), o, webhook.NewForm{Name: "x", URL: r.URL}, by); !errors.Is(err, webhook.ErrTooManyEndpoints) {
		t.Errorf("one too many: %v", err)
	}
	if err := e.Delete(t.Context(), o, c.ID, by); err != nil {
		t.Error(err)
	}
	_, err := e.Create(t.Context(), feed.Owner{Entity: o.Entity, Mode: "live"}, webhook.NewForm{URL: r.URL, Form: "csv", Algorithm: "rsa"}, by)
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || len(f.Violations) != 4 { // name, url (this machine, in live mode), form, algorithm
		t.Errorf("violations: %+v", f)
	}
}

// While a key is rolled both sign, afterwards only the new one; a row in which the
// address was changed behind the service's back sends nothing.
func TestKeysAreRolledAndBoundToTheAddress(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	other, honest := e.bank(), newReceiver(t)
	e.endpoint(other, honest)
	o, r := e.bank(), newReceiver(t)
	var signatures []string
	r.on(func(_ http.ResponseWriter, req *http.Request, _ []byte) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		signatures = append(signatures, req.Header.Get(webhook.HeaderSignature))
		return true
	})
	c := e.endpoint(o, r)
	rolled, err := e.Roll(t.Context(), o, c.ID, by)
	if err != nil || rolled.Key == c.Key || !strings.HasPrefix(rolled.Key.Reveal(), "whpk_") {
		t.Fatalf("roll: %v", err)
	}
	if _, err := e.Roll(t.Context(), o, c.ID, by); fault.CodeOf(err) != fault.IncompatibleState {
		t.Errorf("roll again at once: %v", err)
	}
	test := func() {
		t.Helper()
		e.hurry(c.ID)
		if a, err := e.SendTest(t.Context(), o, c.ID); err != nil || !a.Succeeded() {
			t.Fatalf("send: %+v, %v", a, err)
		}
	}
	test()
	e.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	test()
	if len(signatures) != 2 || len(strings.Fields(signatures[0])) != 2 || len(strings.Fields(signatures[1])) != 1 {
		t.Errorf("signatures: %q", signatures)
	}
	thief := newReceiver(t)
	if _, err := e.pool.Exec(t.Context(), `UPDATE hook_endpoint SET url = $2 WHERE id = $1`, c.ID, thief.URL); err != nil {
		t.Fatal(err)
	}
	e.hurry(c.ID)
	if _, err := e.SendTest(t.Context(), o, c.ID); err == nil {
		t.Error("a changed address is sent to")
	}
	e.tell(o, 1, 1)
	e.tell(other, 1, 1)
	e.sender(0)
	eventually(t, "the sender to take the endpoint", func() bool {
		var node string
		err := e.pool.QueryRow(t.Context(), `SELECT node FROM hook_cursor WHERE endpoint_id = $1`, c.ID).Scan(&node)
		return err == nil && node == "one"
	})
	eventually(t, "the event of another endpoint", func() bool { return len(honest.got()) == 1 })
	if thief.count() != 0 {
		t.Error("the thief got a request")
	}
	if got := e.now(o, c.ID); got.ID == uuid.Nil || got.Seq != 0 {
		t.Errorf("the endpoint: %+v", got)
	}
}
