package server_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

var (
	// increases finds the counters whose increase rules compute, with the labels they select.
	increases = regexp.MustCompile(`\b(?:rate|increase)\((lineproof_\w+)(?:\{([^}]*)\})?\[`)
	selector  = regexp.MustCompile(`(\w+)(=~?)"([^"]*)"`)
)

// Every counter whose increase alerts compute is in the metrics of a fresh node with 0, for the
// labels that they select: the increase of a series that appears with its first failure does not
// count that one.
func TestCountersOfAlertsAreThereFromTheStart(t *testing.T) {
	t.Parallel()
	r := start(t, pgtest.URL(t))
	_, metrics := get(t, "http://"+r.private+"/metrics")
	checked := 0
	for _, file := range []string{"alerts.rules.yml", "recording.rules.yml"} {
		rules, err := os.ReadFile("../../deploy/prometheus/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range increases.FindAllStringSubmatch(string(rules), -1) {
			checked++
			value := "0"
			if m[1] == "lineproof_database_wait_seconds_total" {
				value = `\S+` // it has waited while it started
			}
			if !has(metrics, m[1], m[2], value) {
				t.Errorf("%s: a fresh node has no %s{%s} with %s", file, m[1], m[2], value)
			}
		}
	}
	if checked < 25 {
		t.Errorf("only %d increases were found in the rules", checked)
	}
	for _, route := range []string{"POST /api/v1/phone/api/phone-numbers/verify", "POST /api/v1/phone/api/phone-numbers/verify-batch", "GET /api/v1/feed", "GET /portal/sign-in", "none"} {
		for _, status := range []int{500, 503} {
			if !has(metrics, "lineproof_http_requests_total", fmt.Sprintf(`route="%s",status="%d"`, route, status), "0") {
				t.Errorf("a fresh node has not counted 0 requests of %s with %d", route, status)
			}
		}
	}
}

// has reports whether there is a series with a value that a rule selects.
func has(metrics, name, selectors, value string) bool {
	for _, series := range regexp.MustCompile(`(?m)^`+name+`(?:\{(.*)\})? `+value+`$`).FindAllStringSubmatch(metrics, -1) {
		if selects(selectors, series[1]) {
			return true
		}
	}
	return false
}

// selects reports whether labels have the values that a rule selects.
func selects(selectors, labels string) bool {
	values := map[string]string{}
	for _, l := range selector.FindAllStringSubmatch(labels, -1) {
		values[l[1]] = l[3]
	}
	for _, s := range selector.FindAllStringSubmatch(selectors, -1) {
		want := s[3]
		if s[2] == "=" {
			want = regexp.QuoteMeta(want)
		}
		if !regexp.MustCompile(`^(?:` + want + `)$`).MatchString(values[s[1]]) {
			return false
		}
	}
	return true
}
