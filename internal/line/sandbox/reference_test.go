package sandbox_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line/sandbox"
)

var update = flag.Bool("update", false, "rewrite docs/reference/test-numbers.md, and add regions to ranges.txt")

// The committed page has the answers of the test numbers.
func TestReferenceOfNumbersIsFresh(t *testing.T) {
	t.Parallel()

	path := "../../../docs/reference/test-numbers.md"
	if *update {
		if err := os.WriteFile(path, []byte(reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reference(), string(committed)); diff != "" {
		t.Errorf("run go test ./internal/line/sandbox -run Reference -update (-code +committed):\n%s", diff)
	}
}

// ticks puts in the backquotes, which a raw string of Go cannot contain.
func ticks(text string) string { return strings.ReplaceAll(text, "^", "`") }

const preamble = `# Test numbers

Generated from ^internal/line/sandbox^ by ^go test ./internal/line/sandbox -run Reference -update^; do not edit.

A test key (^lp_test_…^) works with the numbers on this page and **never sees a real line**. For every other number it gets 422
^SERVICE_NOT_APPLICABLE^. [How to test with them](../how-to/test-with-test-numbers.md) goes through a year in a minute.

- **The range is ^+2347290000000^ to ^+2347290000099^**; the last two digits select what is simulated. Numbers of the range that are not listed are not test numbers.
- **Nobody has these numbers.** 0729 is a mobile range of Nigeria, so the numbers pass your own format checks, but
  [the plan that ships](../how-to/change-the-numbering-plan.md) allocates it to no network. A live key gets the ordinary answer for them, which is
  ^UNALLOCATED^ as long as the regulator's plan does not allocate the range. If it is allocated one day, test keys are not affected, and live keys get the ordinary answer as before. The header ^Lineproof-Hint^ of the response and the
  page of the record say so.
- **In another country** (^LINEPROOF_REGION^) the range is a different one, with the same last two digits. It is made from the example of a mobile number that
  the phone number library has for that country, so somebody may have these numbers there; that changes no answer. The 422 error names the range.
- **The answer is computed like a real one**: the facts below go through the same rule as those of every other line, so ^signals^, ^coverage^ and ^since^ agree with
  the status. The current [policy](policy.md) decides how long things count; the tables show the answers by its defaults.
- **It is recorded** in the journal like every other answer, with the mode ^test^ and with 0 as the versions of line and plan. The errors below are not recorded.
- The networks are fictitious: Savanna Mobile, Harmattan Mobile, Silent Mobile, Mute Mobile.

## Lines that never change

These give the same answer at every time, whatever your test clock shows.

| number | answer | network | description |
| --- | --- | --- | --- |
`

const errorsPart = `
## Errors

| number | answer | description |
| --- | --- | --- |
`

const otherErrors = `
The other errors of verify depend on the request and not on the number, so there are no test numbers for them:

| answer | send |
| --- | --- |
| 400 ^INVALID_ARGUMENT^ | ^{"phoneNumber":"0803"}^, or a field that the operation does not have |
| 400 ^OUT_OF_RANGE^ | a ^since^ before 1970 |
| 401 ^UNAUTHENTICATED^ | the key with one letter changed |
| 405 ^METHOD_NOT_ALLOWED^ | a GET |
| 413 ^PAYLOAD_TOO_LARGE^ | more than 16 KiB |
| 415 ^UNSUPPORTED_MEDIA_TYPE^ | ^Content-Type: text/plain^ |

500 ^INTERNAL^ is never simulated: it means a bug in the service. Treat it like 503.

## Slow answers

Their status is ^NORMAL^. A batch waits once, for its slowest number.

| number | description |
| --- | --- |
`

const scenariosPart = `
## Scenarios

These lines change with the **test clock** of your key. Each test key has its own clock. It starts at day 0, runs with real time, and can be advanced by up to 3,650 days:

| to | send to ^/api/v1/test/clock^ |
| --- | --- |
| see the clock, and the next step of each scenario | ^GET^ |
| advance it by 30 days | ^POST {"advance":"P30D"}^: an ISO 8601 duration in weeks, days, hours, minutes and seconds |
| start over at day 0 | ^POST {"reset":true}^ |
| go to day 200, whatever the clock shows | ^POST {"reset":true,"advance":"P200D"}^ |

A test that starts with a reset gets the same answers every time. A clock that was never set is always at day 0. ^verificationTimestamp^ is real time; the
times in ^signals^ and ^coverage^, and ^since^ in the request (with a test key it is never rounded), are times of the test clock. For a ^since^ that the test clock has not reached, ^changedSince^ is ^unknown^.

When the clock is moved over a change of a number that is in a [watch-list](feed.md#watch-lists) of a test key of the organisation, the feed and the webhook endpoints of its test keys get the events of that change: so a receiver can be tested.
`

func reference() string {
	var fixed, failing, slow, scenarios strings.Builder
	for _, r := range simulator.TestNumbers() {
		result, _ := simulator.Simulate(r.Number, sandbox.Clock{}, now, defaults())
		answer, network := formatAnswer(result)
		switch {
		case r.IsScenario:
			scenarios.WriteString(scenarioTable(r))
		case result.Fault != nil:
			fmt.Fprintf(&failing, "| `%s` | %s | %s |\n", r.Number.E164(), answer, r.Title)
		case result.Delay > 0:
			fmt.Fprintf(&slow, "| `%s` | %s |\n", r.Number.E164(), strings.ReplaceAll(r.Title, "LINEPROOF_VERIFY_TIMEOUT", "`LINEPROOF_VERIFY_TIMEOUT`"))
		default:
			fmt.Fprintf(&fixed, "| `%s` | %s | %s | %s |\n", r.Number.E164(), answer, network, r.Title)
		}
	}
	return ticks(preamble) + fixed.String() + ticks(errorsPart) + failing.String() + ticks(otherErrors) + slow.String() + ticks(scenariosPart) + scenarios.String()
}

// formatAnswer returns an answer as the page shows it.
func formatAnswer(p sandbox.Result) (answer, network string) {
	if p.Fault != nil {
		return "`" + answerOf(p) + "`", ""
	}
	v := p.Lookup.View(p.At)
	answer = "`" + string(v.Status) + "`"
	if v.Reason != "" {
		answer += ", `" + string(v.Reason) + "`"
	}
	return answer, p.Lookup.NetworkName(v.Network)
}

// scenarioTable returns the table of a scenario, one row per step.
func scenarioTable(r sandbox.TestNumber) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| day | what happens | answer from then on | network |\n| --- | --- | --- | --- |\n", r.Number.E164(), r.Title)
	start := now.Truncate(time.Second)
	row := func(on int, text string) {
		result, _ := simulator.Simulate(r.Number, sandbox.Clock{Start: start, Ahead: time.Duration(on) * day}, now, defaults())
		answer, network := formatAnswer(result)
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", on, text, answer, network)
	}
	row(0, r.StartText())
	for ahead := time.Duration(0); ; {
		for _, l := range simulator.Scenarios(sandbox.Clock{Start: start, Ahead: ahead}, now, defaults()) {
			if l.Number != r.Number {
				continue
			}
			if l.Next == nil {
				return b.String()
			}
			ahead = l.Next.At.Sub(start)
			row(l.Next.Day, l.Next.Text)
		}
	}
}
