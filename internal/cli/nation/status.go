package nation

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// counts has the figures of this run.
type counts struct {
	answers, refused atomic.Int64
	events           atomic.Int64 // reported by operators, the clearing house and the central bank, and applied
	feed, webhooks   atomic.Int64
	forged           atomic.Int64 // webhooks with a wrong signature
	checkpoints      atomic.Int64 // that both witnesses have signed
	entries          atomic.Int64 // of the log in the last one
	checks, checked  atomic.Int64 // of the monitor, and the size of the log in the last one
	violations       atomic.Int64
	receipts         atomic.Int64
	troubles         atomic.Int64 // calls that failed and are made again
}

// status is how the nation goes, since this run began.
type status struct {
	Answers     int64 `json:"answers"`
	Refused     int64 `json:"refused"`
	Events      int64 `json:"events"`
	Feed        int64 `json:"feed"`
	Webhooks    int64 `json:"webhooks"`
	Forged      int64 `json:"forged"`
	Checkpoints int64 `json:"checkpoints"`
	Entries     int64 `json:"entries"`
	Checks      int64 `json:"checks"`
	Checked     int64 `json:"checked"`
	Violations  int64 `json:"violations"`
	Troubles    int64 `json:"troubles"`
}

func (n *nation) status() status {
	c := &n.counts
	return status{
		Answers: c.answers.Load(), Refused: c.refused.Load(), Events: c.events.Load(), Feed: c.feed.Load(), Webhooks: c.webhooks.Load(), Forged: c.forged.Load(),
		Checkpoints: c.checkpoints.Load(), Entries: c.entries.Load(), Checks: c.checks.Load(), Checked: c.checked.Load(),
		Violations: c.violations.Load(), Troubles: c.troubles.Load(),
	}
}

// String writes the status as one line.
func (s status) String() string {
	text := fmt.Sprintf("%s answers · %s events · %s webhooks · %s from the feed · %s checkpoints witnessed by 2 · monitor: %s checks, ",
		group(s.Answers), group(s.Events), group(s.Webhooks), group(s.Feed), group(s.Checkpoints), group(s.Checks))
	if s.Violations == 0 {
		text += "nothing found"
	} else {
		text += group(s.Violations) + " FOUND SOMETHING"
	}
	if s.Troubles > 0 { // first, where it is not cut
		text = group(s.Troubles) + " calls failed · " + text
	}
	return text
}

// group writes a number with commas.
func group(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// summary is where to look and who can log in.
type summary struct {
	About     string     `json:"about"`
	Base      string     `json:"base"`
	Pages     [][]string `json:"pages"`
	Accounts  []account  `json:"accounts"`
	First     [][]string `json:"first"`
	Secrets   [][]string `json:"secrets"`
	Curl      string     `json:"curl"`
	Directory string     `json:"directory"`
}

func (n *nation) newSummary() summary {
	base := n.base()
	s := summary{
		About: fmt.Sprintf("%s lines of %d operators, %d verifications per second.", group(n.st.Lines), len(n.lines), n.o.Rate),
		Base:  base, Directory: n.path(), Accounts: n.st.Accounts,
		Pages: [][]string{
			{"Portal", base + "/portal/"},
			{"API reference", base + "/docs"},
			{"Public log", base + logPath + "/checkpoint"},
			{"Metrics", "http://" + n.st.Addresses[atPrivate] + "/metrics"},
		},
		First: [][]string{
			{"as an administrator", base + "/portal/desk/approvals", "what waits for a second person: the other administrator confirms it"},
			{"", base + "/portal/desk/conflicts", "reports that contradict each other"},
			{"", base + "/portal/desk/limits", "an organisation whose requests look like number scanning"},
			{"", base + "/portal/desk/supply", "what the operators supply, and a file that is held"},
			{"as the reviewer", base + "/portal/desk/documents", "documents that wait for a decision"},
			{"as the bank's admin", base + "/portal/overview", "answers, as they are given"},
			{"", base + "/portal/webhooks", "webhooks, as they are sent"},
			{"", base + "/portal/corrections", "answers that have turned out wrong"},
			{"as an operator's admin", base + "/portal/supply", "its files, events and rejected rows"},
		},
		Secrets: [][]string{{"API key of " + harbour, n.st.key(keyPayments).Secret}, {"test key", n.st.key(keyTest).Secret}},
	}
	for _, name := range []string{n.lines[0].name, clearingHouse} {
		c := n.st.Clients[name]
		s.Secrets = append(s.Secrets, []string{"client of " + name, c.ID + " " + c.Secret})
	}
	s.Secrets = append(s.Secrets, []string{"policy of the log", n.path(policyFile)})
	for _, what := range []string{caseEndedBefore, caseFlagged, caseBlacklisted, caseCorrected} {
		s.First = append(s.First, []string{"number " + strings.TrimSpace(n.st.Numbers[what]), base + "/portal/desk/numbers", what})
	}
	s.Curl = fmt.Sprintf(`curl -sS -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d '{"phoneNumber":"%s"}' %s/api/v1/phone/api/phone-numbers/verify`,
		n.st.key(keyPayments).Secret, n.customer(0), base)
	return s
}
