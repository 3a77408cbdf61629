package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// A since outside the range has one code wherever it is sent, unless something else is wrong,
// too. A date is a day in the zone of the policy, also the first one that is allowed.
func TestSinceOutOfRangeHasOneCodeEverywhere(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, body := range []string{`"since":"1969-12-31"`, `"since":"2999-01-01"`, `"since":"1970-01-01"`, `"since":"2999-01-01","include":["x"]`} {
		want := `"code":"OUT_OF_RANGE"`
		switch {
		case strings.Contains(body, "1970"):
			want = `"status":"Success"`
		case strings.Contains(body, "include"):
			want = `"code":"INVALID_ARGUMENT"`
		}
		for path, sent := range map[string]string{
			verifyPath: `{"phoneNumber":"` + knownNumber + `",` + body + `}`,
			batchPath:  `{"phoneNumbers":["` + knownNumber + `"],` + body + `}`,
		} {
			if res := s.do(t, post(path, s.key, sent)); !strings.Contains(res.Body.String(), want) {
				t.Errorf("%s %s: %d %s", path, sent, res.Code, res.Body)
			}
		}
	}
	both := `{"phoneNumbers":[{"phoneNumber":"` + knownNumber + `","since":"1960-01-01"},{"phoneNumber":"` + knownNumber + `","since":"2999-01-01"}]}`
	if res := s.do(t, post(batchPath, s.key, both)); res.Code != http.StatusBadRequest || strings.Count(res.Body.String(), "phoneNumbers[") != 2 || !strings.Contains(res.Body.String(), "OUT_OF_RANGE") {
		t.Errorf("of two numbers of a batch: %d %s", res.Code, res.Body)
	}
}

// Changes are known to the second. Whoever asks with a fraction of the second of a change is not
// told "no", whichever came first within it; whoever asks with the second itself means after it.
func TestSinceWithinTheSecondOfAChange(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	exact := policy.Defaults()
	exact.Version, exact.Note, exact.Purposes = 0, "exact dates", "payment=exact,other=absent"
	must((&policy.Service{Pool: s.pool, Now: time.Now}).Set(t.Context(), exact))(t)
	form := access.KeyForm{Entity: s.bank.ID, Name: "k", Mode: access.Live, Purpose: "payment"}
	key := must(s.Access.CreateKey(t.Context(), form, access.Operator, uuid.Nil))(t).Text.Reveal()
	var at int64
	if err := s.pool.QueryRow(t.Context(), `SELECT sim_at FROM line_now WHERE number = 2348031234568`).Scan(&at); err != nil {
		t.Fatal(err)
	}
	swapped := line.Instant(at).Time()
	stamp := func(d time.Duration) string { return swapped.Add(d).UTC().Format("2006-01-02T15:04:05.000Z") }
	const ms = time.Millisecond
	for _, want := range []struct {
		since   time.Duration
		changed string
		used    time.Duration
	}{
		{-1000 * ms, "yes", -1000 * ms},
		{-500 * ms, "yes", -2000 * ms},
		{0, "no", 0},
		{1 * ms, "yes", -1000 * ms},
		{999 * ms, "yes", -1000 * ms},
		{1000 * ms, "no", 1000 * ms},
		{1001 * ms, "no", 0},
	} {
		since := want.since
		for path, body := range map[string]string{
			verifyPath: `{"phoneNumber":"` + swappedNumber + `","since":"` + stamp(since) + `"}`, batchPath: `{"phoneNumbers":["` + swappedNumber + `"],"since":"` + stamp(since) + `"}`,
		} {
			res := s.do(t, post(path, key, body))
			if told := `"changedSince":"` + want.changed + `","sinceUsed":"` + stamp(want.used) + `"`; !strings.Contains(res.Body.String(), told) {
				t.Errorf("%s since %v: %s; want %s", path, since, res.Body, told)
			}
		}
	}
}
