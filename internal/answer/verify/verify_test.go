package verify_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// The numbers of the tests. All but the last are in a range of MTN.
const (
	normal   = 2348031234567
	swapped  = 2348031234568
	flagged  = 2348031234569 // barred for fraud, and flagged
	unlisted = 2348039999999
	gloLine  = 2348051234567 // of Glo, which has never supplied
)

// now is today: the journal has a partition for it.
var now = time.Now().UTC().Truncate(time.Second)

func daysAgo(n int) time.Time { return now.AddDate(0, 0, -n) }

// verifier is a Verifier with its own database.
type verifier struct {
	*verify.Verifier

	pool       *pgxpool.Pool
	super      *pgxpool.Pool // as superuser
	clockReads int           // calls of Now
}

// newVerifier returns a verifier that knows three lines of MTN, whose supply
// covers the time from thirty days ago to through.
func newVerifier(t *testing.T, through time.Time) *verifier {
	t.Helper()
	url := pgtest.AnyTime(t, pgtest.URL(t))
	pool := pgtest.Open(t, url, pg.Serve)
	rows, source, _ := numbering.Shipped("NG")
	plan, err := (&numbering.Service{Pool: pool, Now: func() time.Time { return daysAgo(60) }}).Set(t.Context(), rows, source, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	mtn, _ := plan.Network("MTN")
	exec := func(sql string, args ...any) {
		if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO supply_coverage (network, topic, known_since, supplied_through, updated_at) VALUES ($1, 1, $2, $3, $3), ($1, 2, $2, $3, $3)`,
		mtn, daysAgo(30), through)
	const put = `INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start, sim_at, bar_at, bar_reason, flag_high_at)
		VALUES ($1, $2, 1, $3, 1, 0, $4, $4, $5, $6, $7, $8)`
	old, at := line.InstantOf(daysAgo(2000)), func(days int) line.Instant { return line.InstantOf(daysAgo(days)) }
	exec(put, int64(normal), 1, mtn, old, nil, nil, nil, nil)
	exec(put, int64(swapped), 7, mtn, old, at(3), nil, nil, nil)
	exec(put, int64(flagged), 3, mtn, old, nil, at(2), line.ReasonFraud, at(1))
	records, err := journal.Open(t.Context(), pool, "test", 2)
	if err != nil {
		t.Fatal(err)
	}
	a := &verifier{pool: pool, super: pgtest.Open(t, url, "")}
	a.Verifier = &verify.Verifier{
		Journal: records, Lines: &linestore.Resolver{}, Now: func() time.Time { a.clockReads++; return now.Add(123456 * time.Microsecond) },
		MaxBatch: 100, MaxInFlight: 1, MaxQueue: 1000, Timeout: time.Minute,
	}
	return a
}

// verifyLive sends a request with a live key and returns the answer and its record.
func (a *verifier) verifyLive(t *testing.T, number int64, q verify.Request) (verify.Answer, record.Entry) {
	t.Helper()
	q.Entity, q.Key, q.Mode, q.RawNumber = uuid.New(), uuid.New(), "live", "as sent"
	q.Number, _ = phone.FromInt(number)
	answer, err := a.Verify(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.Get(t.Context(), a.pool, answer.RequestID)
	if err != nil {
		t.Fatal(err)
	}
	return answer, record
}

// The record names the versions of the line, the policy and the plan that the
// answer was computed from, so that it can be derived again. The clock is read
// once: answer, id and record have the same time.
func TestRecordNamesTheVersionsBehindTheAnswer(t *testing.T) {
	t.Parallel()
	a := newVerifier(t, now)
	versions := func(number int64) []int64 {
		answer, recorded := a.verifyLive(t, number, verify.Request{})
		inID, ok := record.TimeOf(answer.RequestID)
		if want := now.Add(123 * time.Millisecond); !ok || !answer.At.Equal(want) || !inID.Equal(want) || !recorded.At.Equal(want) {
			t.Errorf("answered at %s, with an id of %s and a record of %s; want %s", answer.At, inID, recorded.At, want)
		}
		return []int64{recorded.LineVersion, int64(recorded.PolicyVersion), int64(recorded.PlanVersion)}
	}
	if got := versions(swapped); !cmp.Equal(got, []int64{7, 1, 1}) {
		t.Errorf("versions of line, policy and plan are %v", got)
	}
	if a.clockReads != 1 {
		t.Errorf("the clock was read %d times for one answer", a.clockReads)
	}
	next := policy.Defaults()
	next.Note = "a longer window"
	if _, err := (&policy.Service{Pool: a.pool, Now: func() time.Time { return daysAgo(1) }}).Set(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if got := versions(unlisted); !cmp.Equal(got, []int64{0, 2, 1}) {
		t.Errorf("versions of no line, the second policy and the plan are %v", got)
	}
}

// The record has the options of the request and the extra fields of the answer,
// byte for byte as the caller got them. Without options there are no extra
// fields.
func TestRecordHoldsOptionsAndExtraFields(t *testing.T) {
	t.Parallel()
	a := newVerifier(t, now)
	exactDates(t, a.pool, func() time.Time { return daysAgo(60) })
	stamp := func(t time.Time) string { return t.Format(`"2006-01-02T15:04:05.000Z"`) }
	topics := func(times, fresh string) string {
		return `,"topics":[{"topic":"LIFECYCLE",` + times + `,"required":true,"fresh":` + fresh + `},{"topic":"SIM",` + times + `,"required":true,"fresh":` + fresh +
			`},{"topic":"PORT","knownSince":null,"suppliedThrough":null,"required":false,"fresh":false}]}`
	}
	times := `"knownSince":` + stamp(daysAgo(30)) + `,"suppliedThrough":` + stamp(now)
	covered := `"coverage":{` + times + topics(times, "true")
	never := `"knownSince":null,"suppliedThrough":null`
	both := verify.Include{Signals: true, Coverage: true}
	since := daysAgo(10)
	for name, tc := range map[string]struct {
		number         int64
		request        verify.Request
		answer         string
		options, extra string
	}{
		"nothing": {normal, verify.Request{}, "NORMAL MTN", "", ""},
		"signals of a normal line": {
			normal, verify.Request{Include: verify.Include{Signals: true}}, "NORMAL MTN", "include=signals", `{"signals":[]}`,
		},
		"signals of a barred line": {
			flagged,
			verify.Request{Include: verify.Include{Signals: true}},
			"BARRED MTN", "include=signals",
			`{"signals":[{"status":"BARRED","since":` + stamp(daysAgo(2)) + `,"until":null,"source":"OPERATOR"},` +
				`{"status":"FLAGGED","since":` + stamp(daysAgo(1)) + `,"until":` + stamp(daysAgo(1).Add(90*24*time.Hour)) + `,"source":"SECTOR_REGULATOR","level":"HIGH"}]}`,
		},
		"coverage":    {normal, verify.Request{Include: verify.Include{Coverage: true}}, "NORMAL MTN", "include=coverage", `{` + covered + `}`},
		"no coverage": {gloLine, verify.Request{Include: verify.Include{Coverage: true}}, "UNKNOWN Glo", "include=coverage", `{"coverage":{` + never + topics(never, "false") + `}`},
		"changed":     {swapped, verify.Request{Since: since, Purpose: "payment"}, "SWAPPED MTN", "since=" + since.Format(time.RFC3339), `{"changedSince":"yes","sinceUsed":` + stamp(since) + `,"changes":["SIM"],"knownThrough":` + stamp(now) + `}`},
		"not changed": {normal, verify.Request{Since: since, Purpose: "payment"}, "NORMAL MTN", "since=" + since.Format(time.RFC3339), `{"changedSince":"no","sinceUsed":` + stamp(since) + `,"changes":[],"knownThrough":` + stamp(now) + `}`},
		"everything": {
			unlisted,
			verify.Request{Since: time.Date(2026, 1, 2, 1, 0, 0, 0, time.FixedZone("WAT", 3600)), Include: both, Purpose: "credit"},
			"UNKNOWN MTN", "since=2026-01-02T00:00:00Z include=coverage,signals",
			`{"statusReason":"NO_SUPPLY","signals":[],` + covered + `,"changedSince":"unknown","sinceUsed":"2025-12-31T23:00:00.000Z","changes":[],"knownThrough":` + stamp(now) + `}`,
		},
	} {
		answer, record := a.verifyLive(t, tc.number, tc.request)
		if got := string(answer.Status) + " " + answer.Network; got != tc.answer || record.Status+" "+record.MobileNetwork != tc.answer {
			t.Errorf("%s: answered %s and recorded %s %s, want %s", name, got, record.Status, record.MobileNetwork, tc.answer)
		}
		if diff := cmp.Diff([]string{tc.options, tc.extra}, []string{record.Options, record.Extra}); diff != "" {
			t.Errorf("%s: the record's options and extra (-want +got):\n%s", name, diff)
		}
		if answer.ExtraJSON != record.Extra {
			t.Errorf("%s: answered %s and recorded %s", name, answer.ExtraJSON, record.Extra)
		}
		if strings.Contains(answer.ExtraJSON, "FRAUD") {
			t.Errorf("%s: the answer shows the reason of the bar", name)
		}
		if tc.extra != "" && !json.Valid([]byte(answer.ExtraJSON)) {
			t.Errorf("%s: %s is not JSON", name, answer.ExtraJSON)
		}
	}
}

// When an operator stops supplying, its NORMAL lines become UNKNOWN by the clock
// alone, with STALE as the reason; adverse statuses stay.
func TestLinesOfAStaleSupplyAreUnknown(t *testing.T) {
	t.Parallel()
	a := newVerifier(t, daysAgo(14))
	for number, want := range map[int64]string{normal: "UNKNOWN STALE unknown", swapped: "SWAPPED  yes"} {
		answer, _ := a.verifyLive(t, number, verify.Request{Since: daysAgo(10), Include: verify.Include{Signals: true}})
		if got := string(answer.Status) + " " + string(answer.Extra.StatusReason) + " " + answer.Extra.ChangedSince; got != want {
			t.Errorf("answered %q, want %q", got, want)
		}
	}
}
