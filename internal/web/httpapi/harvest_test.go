package httpapi_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// harvester is an organisation that reads the nation's numbers out, by one route. It has
// everything that an organisation can have: a live key with every right.
type harvester struct {
	*stack

	t   *testing.T
	key string
	at  time.Time // of the service's clock
}

// lines is how many lines the nation of a harvester has: two of three consecutive numbers.
const harvestLines = 40_000

func newHarvester(t *testing.T) *harvester {
	t.Helper()
	h := &harvester{stack: newStack(t), t: t, at: time.Now()}
	var name string
	if err := h.pool.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	pgtest.AnyTime(t, pgtest.Server(t).URL(name))
	super(t, h.stack, `INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start)
		SELECT 2348032000000 + i, 1, 1, network, state, bits, state_since, tenure_start FROM line_now, generate_series(0, 59999) i WHERE number = 2348031234567 AND i % 3 < 2`)
	super(t, h.stack, `UPDATE supply_coverage SET complete_since = known_since`)
	now := func() time.Time { return h.at }
	g := guard.New(&guard.Guard{Pool: h.pool, Node: "test", Mode: guard.Stop, Now: now, Log: slog.New(slog.DiscardHandler)})
	if err := g.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.Guard, h.Bank.Lists.Guard, h.Bank.Jobs.Guard = g, g, g
	h.Bank.Lists.Now, h.Bank.Jobs.MaxRows = now, 5_000_000
	h.Access.Limits = access.Limits{DayNumbers: 100_000, YearNumbers: 5_000_000}
	h.key = h.bankKey(t, access.Live)
	return h
}

// send sends a request, and fails if the service does.
func (h *harvester) send(r *http.Request) (code int, body []byte) {
	h.t.Helper()
	res := h.do(h.t, r)
	if res.Code >= 500 {
		h.t.Fatalf("%s answered %d: %s", r.URL, res.Code, res.Body)
	}
	return res.Code, res.Body.Bytes()
}

// flagged reports whether staff have an alert about the organisation.
func (h *harvester) flagged() (found bool) {
	h.t.Helper()
	if err := h.Guard.Sync(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	if err := h.pool.QueryRow(h.t.Context(), `SELECT EXISTS (SELECT FROM guard_alert WHERE entity_id = $1)`, h.bank.ID).Scan(&found); err != nil {
		h.t.Fatal(err)
	}
	return found
}

func spelled(i int) string { return fmt.Sprintf("+234803%07d", 2_000_000+i) }

// byBatch verifies consecutive numbers, and returns how many were answered.
func (h *harvester) byBatch() (learned int) {
	return h.batches(harvestLines)
}

func (h *harvester) batches(most int) (learned int) {
	for i := 0; i < most; i += 100 {
		numbers := make([]string, 100)
		for j := range numbers {
			numbers[j] = `"` + spelled(i+j) + `"`
		}
		_, body := h.send(post(batchPath, h.key, `{"phoneNumbers":[`+strings.Join(numbers, ",")+`]}`))
		n := strings.Count(string(body), `"mobileNetwork"`)
		if learned += n; n == 0 {
			break
		}
	}
	return learned
}

// bySingle verifies consecutive numbers one by one, after most of its budget went in batches,
// which are faster.
func (h *harvester) bySingle() (learned int) {
	for learned = h.batches(9_500); learned < harvestLines; learned++ {
		if code, _ := h.send(asking(h.key, spelled(learned))); code != http.StatusOK {
			break
		}
	}
	return learned
}

// file sends a file of numbers, and returns how many of its rows were answered.
func (h *harvester) file(from, to, step int) (answered int) {
	h.t.Helper()
	var b strings.Builder
	b.WriteString("number\n")
	for i := from; i < to; i += step {
		b.WriteString(spelled(i) + "\n")
	}
	_, body := h.send(post(jobsPath, h.key, `{"name":"customers"}`))
	path := jobsPath + "/" + field(h.t, body, "data", "jobId")
	if code, body := h.send(put(path+"/file", h.key, "text/csv", []byte(b.String()))); code != http.StatusOK {
		h.t.Fatalf("the file is refused: %s", body)
	}
	state := h.runJobs(path)
	if state != "done" {
		return 0
	}
	res := h.do(h.t, get(path+"/result", h.key))
	rows := must(csv.NewReader(res.Body).ReadAll())(h.t)
	for _, row := range rows[1:] {
		if row[2] != "" {
			answered++
		}
	}
	return answered
}

// runJobs runs file jobs until one needs no machine any more, and returns its state.
func (h *harvester) runJobs(path string) string {
	h.t.Helper()
	ctx, stop := context.WithCancel(h.t.Context())
	running := make(chan struct{})
	go func() {
		defer close(running)
		h.Bank.Jobs.Run(ctx, slog.New(slog.DiscardHandler))
	}()
	defer func() { stop(); <-running }()
	for start := time.Now(); time.Since(start) < time.Minute; <-time.After(20 * time.Millisecond) {
		_, body := h.send(get(path, h.key))
		switch state := field(h.t, body, "data", "state"); state {
		case "done", "failed", "held":
			return state
		}
	}
	h.t.Fatal("the job does not end")
	return ""
}

// byFile sends one file of consecutive numbers.
func (h *harvester) byFile() int { return h.file(0, harvestLines, 1) }

// bySteps sends a file of every 25th number, which lie in no dense block.
func (h *harvester) bySteps() int { return h.file(0, 60_000, 25) }

// byPieces sends files that are each too small to be flagged.
func (h *harvester) byPieces() (learned int) {
	for i := range 8 {
		learned += h.file(i*1_900, (i+1)*1_900, 1)
	}
	return learned
}

// bySince finds when the SIM of a line was changed, by bisection over a year, and returns how
// many days are known of it, in one: 1 if the day is known.
func (h *harvester) bySince() (days int) {
	const number = swappedNumber
	low, high := h.at.AddDate(-1, 0, 0), h.at.Add(-time.Minute)
	for range 31 {
		middle := low.Add(high.Sub(low) / 2)
		_, body := h.send(post(verifyPath, h.key, `{"phoneNumber":"`+number+`","since":"`+middle.UTC().Format(time.RFC3339)+`"}`))
		if field(h.t, body, "data", "changedSince") == "yes" {
			low = middle
		} else {
			high = middle
		}
	}
	swapped := h.at.AddDate(0, 0, -3)
	if off := swapped.Sub(low).Abs(); off < 24*time.Hour {
		return 1
	}
	return 0
}

// byVerdict pads a watch-list with numbers whose state is known until one more decides whether
// the list is held, and returns about how many of 24 numbers that said the truth.
func (h *harvester) byVerdict() (right int) {
	numbers := func(from, n, rest int) (list []string) {
		for i := from; len(list) < n; i++ {
			if i%3 < 2 == (rest == 0) {
				list = append(list, `"`+spelled(i)+`"`)
			}
		}
		return list
	}
	good, bad := numbers(0, 450, 0), numbers(0, 50, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 24 {
		x := 30_000 + rng.IntN(20_000)
		_, body := h.send(post(listsPath, h.key, `{"name":"customers"}`))
		path := listsPath + "/" + field(h.t, body, "data", "listId")
		add := func(list ...string) {
			if code, body := h.send(post(path+"/members", h.key, `{"add":[`+strings.Join(list, ",")+`]}`)); code != http.StatusOK {
				h.t.Fatalf("the list is refused: %s", body)
			}
		}
		add(slices.Concat(good, bad)...)
		add(`"` + spelled(x) + `"`)
		h.at = h.at.Add(25 * time.Hour)
		if err := h.Bank.Lists.JudgeDue(h.t.Context(), h.at); err != nil {
			h.t.Fatal(err)
		}
		_, body = h.send(get(path, h.key))
		held := field(h.t, body, "data", "state") == "held"
		if held == (x%3 == 2) {
			right++
		}
		h.send(without(http.MethodDelete, path, h.key))
	}
	return right
}

// door is what a harvester gains by one way through the routes.
type door struct {
	routes []string
	// most is the documented budget of what is learned without a release: numbers, or what
	// the programme counts.
	most int
	// silent is true where what is learned is not worth an alert.
	silent  bool
	harvest func(h *harvester) int
}

// doors are the ways by which a harvester can learn something about numbers.
var doors = map[string]door{
	"single":                {[]string{"POST " + verifyPath}, 12_000, false, (*harvester).bySingle},
	"batch":                 {[]string{"POST " + batchPath}, 12_000, false, (*harvester).byBatch},
	"file":                  {[]string{"POST " + jobsPath, "PUT " + jobsPath + "/{jobId}/file", "GET " + jobsPath + "/{jobId}/result", "GET " + jobsPath + "/{jobId}", "GET " + jobsPath, "POST " + jobsPath + "/{jobId}/cancel"}, 0, false, (*harvester).byFile},
	"file in equal steps":   {nil, 0, false, (*harvester).bySteps},
	"files in small pieces": {nil, 2_000, false, (*harvester).byPieces},
	"since":                 {nil, 0, true, (*harvester).bySince},
	// Of 24 verdicts that say nothing, 18 or more are right once in a hundred times; they
	// would all be right.
	"verdict of a list": {[]string{
		"POST " + listsPath, "GET " + listsPath, "GET " + listsPath + "/{listId}", "DELETE " + listsPath + "/{listId}",
		"PUT " + listsPath + "/{listId}/members", "POST " + listsPath + "/{listId}/members", "GET " + listsPath + "/{listId}/members",
	}, 18, false, (*harvester).byVerdict},
}

// By every way through the routes, a harvester learns at most the documented budget, and staff
// have an alert about it.
func TestEveryDoorKeepsToTheBudget(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(doors)) {
		d := doors[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarvester(t)
			if learned := d.harvest(h); learned > d.most {
				t.Errorf("learned %d, at most %d are documented", learned, d.most)
			} else {
				t.Logf("learned %d of at most %d", learned, d.most)
			}
			if !d.silent && !h.flagged() {
				t.Error("staff have no alert")
			}
		})
	}
}

// quiet are the other routes, by the reason why they say nothing about a number that the
// caller has not paid for.
var quiet = map[string][]string{
	"tells only about members of watch-lists, which spend the budget, and of answers; nothing while the guard has stopped the organisation": {
		"GET " + feedPath, "GET " + streamPath, "POST " + hooksPath, "GET " + hooksPath, "GET " + hooksPath + "/{webhookId}", "DELETE " + hooksPath + "/{webhookId}",
		"GET " + hooksPath + "/{webhookId}/attempts", "GET " + hooksPath + "/{webhookId}/refused", "POST " + hooksPath + "/{webhookId}/resend", "POST " + hooksPath + "/{webhookId}/confirm",
		"POST " + hooksPath + "/{webhookId}/test", "POST " + hooksPath + "/{webhookId}/pause", "POST " + hooksPath + "/{webhookId}/resume", "POST " + hooksPath + "/{webhookId}/roll",
		"POST " + hooksPath + "/{webhookId}/replay", "POST " + acksPath,
	},
	"shows what was answered before": {
		"GET /api/v1/phone/api/phone-numbers/verifications/{requestId}", "GET /api/v1/phone/api/phone-numbers/verifications/{requestId}/receipt",
	},
	"is for networks, about what they reported themselves, and for the regulator's staff, whose look-ups are in the audit trail": {
		"POST /api/v1/lines/events", "POST /api/v1/lines/orders", "POST /api/v1/lines/imports", "GET /api/v1/lines/imports", "GET /api/v1/lines/imports/{importId}",
		"GET /api/v1/lines/imports/{importId}/refused", "POST /api/v1/lines/imports/{importId}/cancel", "GET /api/v1/lines/imports/{importId}/receipt", "GET /api/v1/lines/supply", "GET /api/v1/lines/conflicts", "POST /api/v1/lines/history",
	},
	"counts what was requested, and says nothing of any number": {"GET " + budgetsPath},
	"is about test numbers, which are no lines":                 {"GET /api/v1/test/clock", "POST /api/v1/test/clock"},
	"is about accounts, organisations, keys and documents": {
		"POST /api/auth/token", "POST /api/auth/revoke", "GET /.well-known/oauth-authorization-server", "POST " + onboardPath, "POST " + uploadPath,
		"GET /api/regulator/v1/documents", "GET /api/regulator/v1/documents/{documentId}", "GET /api/regulator/v1/documents/{documentId}/content",
		"POST /api/regulator/v1/documents/{documentId}/review", "POST " + loginPath, "POST /api/regulator/v1/logout", "POST /api/regulator/v1/session/prove", "GET /api/regulator/v1/sessions", "DELETE /api/regulator/v1/sessions",
		"DELETE /api/regulator/v1/sessions/{sessionId}", "POST /api/regulator/v1/password", "POST /api/regulator/v1/password-reset", "POST /api/regulator/v1/password-reset/complete",
		"POST /api/regulator/v1/email/confirm", "POST /api/regulator/v1/second-factor", "DELETE /api/regulator/v1/second-factor", "POST /api/regulator/v1/second-factor/confirm",
		"POST /api/regulator/v1/invitations", "POST /api/regulator/v1/invitations/accept", "GET /api/regulator/v1/team", "DELETE /api/regulator/v1/team/{accountId}",
		"GET /api/regulator/v1/keys", "POST /api/regulator/v1/keys", "POST /api/regulator/v1/keys/{keyId}/roll", "DELETE /api/regulator/v1/keys/{keyId}", "POST /api/regulator/v1/keys/{keyId}/report-leaked",
	},
}

// Every route of the contract is a door of the programme above, or is listed with the reason
// why it says nothing about numbers. A new one fails until somebody has decided that.
func TestEveryRouteIsADoorOrQuiet(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	var listed []string
	for _, d := range doors {
		listed = append(listed, d.routes...)
	}
	for _, routes := range quiet {
		listed = append(listed, routes...)
	}
	all := s.Operations()
	for _, route := range all {
		if !slices.Contains(listed, route) {
			t.Errorf("%s must be a door of the red-team programme, or in the list of quiet routes", route)
		}
	}
	for i, route := range listed {
		if !slices.Contains(all, route) || slices.Contains(listed[:i], route) {
			t.Errorf("%s is no route, or listed twice", route)
		}
	}
}
