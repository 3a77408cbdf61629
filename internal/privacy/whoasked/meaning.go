package whoasked

import "strings"

// statusMeanings say what each status told about the number, for somebody who does not
// know the service. docs/reference/line-status.md has the exact rules.
var statusMeanings = map[string]string{
	"NORMAL":        "The number is in use, and nothing unusual is known about it.",
	"SWAPPED":       "The SIM card of the number had changed a short time before.",
	"PORTED":        "The number had moved to another network a short time before.",
	"RECYCLED":      "The number may have a new holder since a short time before.",
	"QUARANTINED":   "The number was given up and had not been given to anybody else yet.",
	"PENDING_CHURN": "The network had notified the holder that the number would be taken back because it was not used.",
	"PARKED":        "The holder had asked to keep the number without using it.",
	"INACTIVE":      "The number had not been used for a long time.",
	"FLAGGED":       "A regulator suspected fraud with the number.",
	"BARRED":        "Service of the number was stopped. The answer did not say why.",
	"BLACKLISTED":   "The regulator had confirmed that the number was misused.",
	"UNALLOCATED":   "The number was not given to anybody.",
	"UNKNOWN":       "The service did not know the state of the number.",
}

// reasonMeanings say what the reasons of UNALLOCATED and UNKNOWN told, by status and
// reason.
var reasonMeanings = map[string]string{
	"UNALLOCATED RANGE":  "Its range of numbers belongs to no network.",
	"UNALLOCATED NUMBER": "Its network has never reported it.",
	"UNKNOWN RANGE":      "The number is in use, but its range of numbers belongs to no network.",
	"UNKNOWN NO_SUPPLY":  "Its network had not reported enough yet.",
	"UNKNOWN STALE":      "What its network had reported was too old.",
	"UNKNOWN DISPUTED":   "The reports about it contradicted each other.",
}

// meaning is a word of the report, explained.
type meaning struct{ Word, Text string }

// meanings explains the statuses and reasons of the report, in the order in which they
// first appear.
func (r *Report) meanings() (list []meaning) {
	seen := make(map[string]bool)
	for i := range r.Rows {
		row := &r.Rows[i]
		word := strings.TrimSpace(row.Status + " " + row.Reason)
		if seen[word] {
			continue
		}
		seen[word] = true
		text, ok := statusMeanings[row.Status]
		if !ok {
			text = "The documentation of the service explains this word."
		}
		if reason, ok := reasonMeanings[word]; ok {
			text += " " + reason
		}
		if row.Reason != "" {
			word = row.Status + " (" + row.Reason + ")"
		}
		list = append(list, meaning{word, text})
	}
	return list
}
