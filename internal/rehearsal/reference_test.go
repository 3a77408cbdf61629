package rehearsal_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/rehearsal"
)

var update = flag.Bool("update", false, "rewrite docs/reference/test-numbers.md, and add regions to ranges.txt")

// The committed page says what the numbers answer.
func TestReferenceOfNumbersIsFresh(t *testing.T) {
	t.Parallel()

	path := filepath.Join("..", "..", "docs", "reference", "test-numbers.md")
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
		t.Errorf("run go test ./internal/rehearsal -run Reference -update (-code +committed):\n%s", diff)
	}
}

// ticks puts the backquotes in, which a raw string of Go cannot hold.
func ticks(text string) string { return strings.ReplaceAll(text, "^", "`") }

const preamble = `# Test numbers

Generated from ^internal/rehearsal^ by ^go test ./internal/rehearsal -run Reference -update^; do not edit.

A key for tests (^lp_test_…^) is answered for the numbers on this page, and **never sees a line**. Every other number is 422
^SERVICE_NOT_APPLICABLE^ for it. [How to rehearse with them](../how-to/rehearse-with-test-numbers.md) goes through a year in a minute.

- **The range is ^+2347290000000^ to ^+2347290000099^**; the last two digits decide. Numbers of the range that are not listed are not played.
- **Nobody has these numbers.** 0729 is a mobile range of Nigeria, so that your own checks of the form let them pass, and
  [the plan that ships](../how-to/change-the-numbering-plan.md) gives it to no network. A live key gets the ordinary answer about them,
  ^UNALLOCATED^ while the regulator's plan says the same. Should the range be allocated one day, nothing changes for keys for tests, nor for live ones.
- **In another country** (^LINEPROOF_REGION^) the range is another one, with the same last two digits. It is made from the example of a mobile number that
  the library of phone numbers has of that country, so somebody may have these numbers there; that changes no answer. The 422 names the range.
- **The answer is a real one**: the facts below go through the same rule as those of every other line, so that ^signals^, ^coverage^ and ^since^ agree with
  the status. The [policy](policy.md) in force decides how long things count; the tables show what comes by its defaults.
- **It is recorded** in the journal like every other, with the mode ^test^, and with 0 as the versions of line and plan. Only answers are: the errors below are not.
- The networks are made up: Savanna Mobile, Harmattan Mobile, Silent Mobile, Mute Mobile.

## Lines that stand still

These answer the same at every time, wherever your test clock stands.

| number | answer | network | what it is |
| --- | --- | --- | --- |
`

const errorsPart = `
## Errors

| number | answer | what it is |
| --- | --- | --- |
`

const otherErrors = `
The other errors of verify come from the request and not from the number, so that they need none:

| answer | send |
| --- | --- |
| 400 ^INVALID_ARGUMENT^ | ^{"phoneNumber":"0803"}^, or a field that the operation does not have |
| 400 ^OUT_OF_RANGE^ | a ^since^ before 1970 |
| 401 ^UNAUTHENTICATED^ | the key with one letter changed |
| 405 ^METHOD_NOT_ALLOWED^ | a GET |
| 413 ^PAYLOAD_TOO_LARGE^ | more than 16 KiB |
| 415 ^UNSUPPORTED_MEDIA_TYPE^ | ^Content-Type: text/plain^ |

500 ^INTERNAL^ is never played: it means that we made a mistake. Treat it like 503.

## Slow answers

Their status is ^NORMAL^. The numbers of a batch wait together, for the slowest of them.

| number | what it is |
| --- | --- |
`

const livesPart = `
## Lives

These change with your **test clock**, which is your key's own. It begins at day 0, goes on with the time of day, and goes ahead when you say so, up to 3,650 days:

| to | send to ^/api/v1/test/clock^ |
| --- | --- |
| see it, and what comes next for each of these numbers | ^GET^ |
| go 30 days ahead | ^POST {"advance":"P30D"}^: a duration of ISO 8601 in weeks, days, hours, minutes and seconds |
| begin anew | ^POST {"reset":true}^ |
| go to day 200, wherever the clock stands | ^POST {"reset":true,"advance":"P200D"}^ |

A test that begins with a reset gives the same answers each time. A clock that was never set is always at day 0. ^verificationTimestamp^ is the time of day; the
times in ^signals^ and ^coverage^ are those of the test clock, and so is ^since^: of a moment that the test clock has not reached, ^changedSince^ is ^unknown^.
`

func reference() string {
	var b, failing, slow, living strings.Builder
	for _, r := range stage.Roles() {
		part, _ := stage.Play(r.Number, rehearsal.Clock{}, now, defaults())
		answer, network := inWords(part)
		switch {
		case r.Life:
			living.WriteString(lifeTable(r))
		case part.Fault != nil:
			fmt.Fprintf(&failing, "| `%s` | %s | %s |\n", r.Number.E164(), answer, r.Title)
		case part.Delay > 0:
			fmt.Fprintf(&slow, "| `%s` | %s |\n", r.Number.E164(), strings.ReplaceAll(r.Title, "LINEPROOF_VERIFY_TIMEOUT", "`LINEPROOF_VERIFY_TIMEOUT`"))
		default:
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Number.E164(), answer, network, r.Title)
		}
	}
	return ticks(preamble) + b.String() + ticks(errorsPart) + failing.String() + ticks(otherErrors) + slow.String() + ticks(livesPart) + living.String()
}

// inWords returns an answer as the page shows it.
func inWords(p rehearsal.Part) (answer, network string) {
	if p.Fault != nil {
		return "`" + said(p) + "`", ""
	}
	v := p.Look.View(p.At)
	answer = "`" + string(v.Status) + "`"
	if v.Reason != "" {
		answer += ", `" + string(v.Reason) + "`"
	}
	return answer, p.Look.NetworkName(v.Network)
}

// lifeTable shows a life turn by turn.
func lifeTable(r rehearsal.Role) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| day | what happens | answer from then on | network |\n| --- | --- | --- | --- |\n", r.Number.E164(), r.Title)
	start := now.Truncate(time.Second)
	row := func(on int, text string) {
		part, _ := stage.Play(r.Number, rehearsal.Clock{Begun: start, Ahead: time.Duration(on) * day}, now, defaults())
		answer, network := inWords(part)
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", on, text, answer, network)
	}
	row(0, r.Opening())
	for ahead := time.Duration(0); ; {
		for _, l := range stage.Lives(rehearsal.Clock{Begun: start, Ahead: ahead}, now, defaults()) {
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
