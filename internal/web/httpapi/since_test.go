package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
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
