package verify_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// notice is an event about an answer, as an organisation gets it.
type notice struct {
	bank uuid.UUID
	Type string
	Data struct {
		RequestID                uuid.UUID
		AskedAt                  time.Time
		Differs                  []string
		EffectiveAt, PhoneNumber string
		ToldAt                   time.Time
		Said, WouldSay           struct{ Status, MobileNetwork string }
	}
}

// notices reads the feeds of all banks: the notices about each answer, in their order.
func (r *impactRun) notices() map[uuid.UUID][]notice {
	r.t.Helper()
	all := make(map[uuid.UUID][]notice)
	feeds := &feed.Service{Pool: r.pool, Now: time.Now}
	for _, bank := range r.banks {
		for seq := int64(0); ; {
			entries, err := feeds.After(r.t.Context(), feed.Owner{Entity: bank, Mode: "live"}, seq, 10_000)
			if err != nil {
				r.t.Fatal(err)
			}
			if len(entries) == 0 {
				break
			}
			for i := range entries {
				seq = entries[i].Seq
				n := notice{bank: bank}
				if err := json.Unmarshal(entries[i].Body, &n); err != nil {
					r.t.Fatal(err)
				}
				if n.Type == feed.TypePrefix+impact.EventType {
					all[n.Data.RequestID] = append(all[n.Data.RequestID], n)
				}
			}
		}
	}
	return all
}

func (r *impactRun) teller() *impact.Teller {
	return impact.New(&impact.Teller{Pool: r.pool, Files: r.files, Lines: &linestore.Resolver{}, Now: func() time.Time { return r.clock }})
}

func (r *impactRun) tell(teller *impact.Teller) {
	r.t.Helper()
	for {
		more, err := teller.Step(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

// digests reads what the last notice about each answer says.
func (r *impactRun) digests() map[uuid.UUID][]byte {
	r.t.Helper()
	rows, err := r.pool.Query(r.t.Context(), `SELECT DISTINCT ON (request_id) request_id, digest FROM impact_notice ORDER BY request_id, events DESC`)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	all := make(map[uuid.UUID][]byte)
	for rows.Next() {
		var id uuid.UUID
		var digest []byte
		if err := rows.Scan(&id, &digest); err != nil {
			r.t.Fatal(err)
		}
		all[id] = digest
	}
	return all
}

// Whatever is reported, restated, withdrawn and decided over days, the last notice about each
// answer says what a replay of every answer finds, in the database and in archives; there is
// none about an answer that stands; and only who asked is told. This run is small;
// LINEPROOF_E2E_IMPACT_NOTICES sets the size.
func TestNoticesAreWhatAReplayOfEveryAnswerFinds(t *testing.T) {
	t.Parallel()
	answers := fromEnv(t, "LINEPROOF_E2E_IMPACT_NOTICES", 2_400)
	r := newImpactRun(t, max(answers/12, 100))
	teller := r.teller()
	var telling time.Duration
	tell := func() {
		began := time.Now()
		r.tell(teller)
		telling += time.Since(began)
	}
	r.onStep = tell
	r.live(answers)
	archivedNow := r.notices()
	r.clock = r.clock.Add(time.Second)
	r.report(max(r.lines/10, 10)) // also about answers that are archived
	r.decide(20)
	tell()

	told, digests := r.notices(), r.digests()
	var different, standing, fromArchive, wrong int
	fail := func(a *replayed, format string, args ...any) {
		t.Helper()
		if wrong++; wrong <= 5 {
			t.Errorf("answer %s of %s: "+format, append([]any{a.RequestID, a.At}, args...)...)
		}
	}
	replay := r.replay()
	boundary := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -runDays+runDays/2)
	for i := range replay {
		a := &replay[i]
		of := told[a.RequestID]
		delete(told, a.RequestID)
		for k := range of {
			n := &of[k]
			if n.bank != a.Entity || !n.Data.AskedAt.Equal(a.At) || n.Data.Said.Status != a.said.Status || n.Data.Said.MobileNetwork != a.said.Network {
				fail(a, "notice %+v", n)
			}
		}
		if a.At.Before(boundary) && len(of) > len(archivedNow[a.RequestID]) {
			fromArchive++
		}
		if a.said == a.hindsight || len(a.later) == 0 { // a baseline alone is no report about the number
			if len(of) > 0 {
				standing++
				if last := of[len(of)-1]; len(last.Data.Differs) > 0 || last.Data.WouldSay != last.Data.Said || digests[a.RequestID] != nil {
					fail(a, "stands, but the last notice is %+v", last.Data)
				}
			}
			continue
		}
		different++
		if len(of) == 0 {
			fail(a, "would say %s, and nobody was told", a.hindsight)
			continue
		}
		last := of[len(of)-1].Data
		if last.WouldSay.Status != a.hindsight.Status || last.WouldSay.MobileNetwork != a.hindsight.Network || len(last.Differs) == 0 || !slices.Equal(digests[a.RequestID], digestOf(a.hindsight)) {
			fail(a, "would say %s, but the last notice is %+v", a.hindsight, last)
		}
	}
	if wrong > 0 || len(told) > 0 {
		t.Errorf("%d notices are wrong, missing or false; %d are about answers that nobody got", wrong, len(told))
	}
	if different == 0 || standing == 0 || fromArchive == 0 {
		t.Errorf("the run is not random enough: %d answers differ, %d stand again, %d were told from archives", different, standing, fromArchive)
	}
	t.Logf("%d answers: %d would be different, %d stand again after a notice, %d were told from archives; telling took %v", len(replay), different, standing, fromArchive, telling.Round(time.Millisecond))
}

func digestOf(s verify.Said) []byte {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.Status, s.Network, s.Extra}, "\x00")))
	return sum[:]
}

// However many nodes look for the same answers, and however often they are stopped, each
// answer is told once; and none of a quiet purpose.
func TestEachAnswerIsToldOnce(t *testing.T) {
	t.Parallel()
	r := newImpactRun(t, 100)
	if _, err := pgtest.Open(t, r.owner.Config().ConnString(), "").Exec(t.Context(), `UPDATE policy SET purposes = 'payment=month/quiet,other=absent'`); err != nil {
		t.Fatal(err)
	}
	r.live(500)
	var nodes sync.WaitGroup
	for node := range 4 {
		nodes.Go(func() {
			random := rand.New(rand.NewPCG(uint64(node), 1))
			for range 30 {
				ctx, stop := context.WithTimeout(t.Context(), time.Duration(random.IntN(60))*time.Millisecond)
				_, _ = r.teller().Step(ctx) // most are stopped
				stop()
			}
		})
	}
	nodes.Wait()
	r.tell(r.teller())
	told := r.notices()
	replay := r.replay()
	var different, quiet int
	for i := range replay {
		a := &replay[i]
		if a.said == a.hindsight || len(a.later) == 0 {
			continue
		}
		want := 1
		if different++; a.Purpose == "payment" {
			want = 0
			quiet++
		}
		if got := len(told[a.RequestID]); got != want {
			t.Errorf("answer %s with the purpose %q was told %d times", a.RequestID, a.Purpose, got)
		}
	}
	if different-quiet == 0 || quiet == 0 {
		t.Errorf("the run is not random enough: %d answers differ, %d of them are quiet", different, quiet)
	}
}

// While 1,000 answers a second are given, an answer of some seconds ago is told within 60
// seconds of the late report that changes it. LINEPROOF_E2E_IMPACT_SECONDS sets for how long
// answers are given before the report, and then everything settles for as long as in the
// service; this run settles for a second.
func TestFirstNoticeComesWithin60Seconds(t *testing.T) {
	t.Parallel()
	r := newImpactRun(t, 1000)
	r.clock = time.Now().Add(-time.Hour)
	r.snapshot(r.clock.Add(-time.Hour), 0, 1000, 0)
	seconds, settle := fromEnv(t, "LINEPROOF_E2E_IMPACT_SECONDS", 3), time.Second
	if seconds > 3 {
		settle = 15 * time.Second
	}
	r.Verifier.Now, r.Service.Now = time.Now, time.Now
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	teller := impact.New(&impact.Teller{Pool: r.pool, Files: r.files, Lines: &linestore.Resolver{}, Now: time.Now, Settle: settle})
	running.Go(func() { teller.Run(ctx, slog.New(slog.DiscardHandler)) })

	const number = firstLine + 77
	first := r.ask(t.Context(), number, 1)
	var given atomic.Int64
	running.Go(func() {
		for tick := range time.Tick(100 * time.Millisecond) {
			if ctx.Err() != nil {
				return
			}
			for given.Load() < int64(time.Since(first.At)/time.Millisecond) && time.Since(tick) < time.Second {
				r.ask(ctx, firstLine+given.Load()%900, 100)
				given.Add(100)
			}
		}
	})
	wait(t, time.Duration(seconds)*time.Second)
	swapped := supply.Item{ID: "late", PhoneNumber: "+" + strconv.FormatInt(number, 10), Type: "SIM_CHANGED", EffectiveAt: first.At.Add(-time.Minute).Format(time.RFC3339)}
	receipt, err := r.ApplyEvents(t.Context(), supplierOf(line.Operator, "MTN"), []supply.Item{swapped})
	if err != nil || receipt.Results[0].Outcome != supply.Applied {
		t.Fatalf("%+v, %v", receipt, err)
	}
	reported, before := time.Now(), given.Load()
	for len(r.notices()[first.RequestID]) == 0 {
		if time.Since(reported) > time.Minute {
			t.Fatal("no notice came within 60 seconds of the report")
		}
		wait(t, 50*time.Millisecond)
	}
	took := time.Since(reported)
	rate := float64(given.Load()) / time.Since(first.At).Seconds()
	t.Logf("the first notice came %v after the report, of which %v were to settle; %d answers before it, %.0f a second", took.Round(time.Millisecond), settle, before, rate)
}

// wait lets a time pass.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(d):
	}
}

// ask asks about a number, and the numbers that follow it, and returns the first answer.
func (r *impactRun) ask(ctx context.Context, number int64, count int) verify.Answer {
	requests := make([]verify.Request, count)
	for i := range requests {
		n, _ := phone.FromInt(number + int64(i))
		requests[i] = verify.Request{Entity: r.banks[0], Key: uuid.New(), Mode: "live", RawNumber: "as sent", Number: n}
	}
	answers, errs, err := r.VerifyAll(ctx, requests)
	if ctx.Err() == nil && (err != nil || errs[0] != nil) {
		r.t.Errorf("%v, %v", err, errs)
	}
	if len(answers) == 0 {
		return verify.Answer{}
	}
	return answers[0]
}
