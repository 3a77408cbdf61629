package approvals

import (
	"cmp"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/documents"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// describe fills in what an approval is about, for the kinds whose subject is a client,
// an organisation, an account, the plan or the policy. It reports whether it knows the
// kind.
func describe(a *approval.Approval, row *ApprovalRow) bool {
	switch a.Kind {
	case access.GiveScopes:
		row.What, row.About, row.AboutHref = "Let a client change lines", "Client "+row.About, portal.ClientURL(a.Subject)
		row.After = a.Details["scopes"]
		if network := a.Details["network"]; network != "" {
			row.After += " for " + network
		}
		row.Effect = "The client gets these scopes, and its programs can change what banks are told about numbers."
	case access.UseSecret:
		row.What, row.About, row.AboutHref = "Let a client use another secret", "Client "+row.About, portal.ClientURL(a.Subject)
		row.Effect = "Whoever has the secret can act as the client and change lines."
	case guard.ReleaseKind:
		row.What, row.AboutHref = "Release from the guard", portal.LimitsPath
		if a.Entity != a.Subject {
			row.About = "The organisations of client " + row.About
		}
		row.Effect = "It is no longer slowed or stopped, and the guard leaves it alone for " + a.Details["quiet"] + ". Check its requests in the journal first."
	case filejob.ReleaseKind:
		row.What, row.About = "Answer a file of numbers", "A file of "+a.Details["rows"]+" rows, job ID "+a.Subject.String()
		row.Effect = "Every row of the file is answered. Check first where the numbers come from: a file that looks like a scan reads the country's numbers out."
	case watchlist.ReleaseKind:
		row.What, row.About = "Let a watch-list take effect", "A list of "+a.Details["members"]+" numbers, list ID "+a.Subject.String()
		row.Effect = "The organisation is told from now on what happens to these numbers. Check first why so many of them are nobody's: a list at random reads the country's numbers out."
	case document.OriginalKind:
		row.What, row.About, row.AboutHref = "Download the original of a document", a.Details["type"]+", document ID "+a.Subject.String(), documents.ReviewsPath+"/"+a.Subject.String()
		row.After = "Sealed for " + a.Details["recipient"]
		row.Effect = "For 24 hours the requester alone can download the file as it was uploaded, in an archive that only the holder of this key can open. It may be hostile. Compare the key with its holder, in a way that you trust."
	case staffaccess.MoreKind:
		row.What, row.About = "Look up more numbers today", a.Details["more"]+" more different numbers and pages of records"
		row.Effect = "Until midnight UTC of the day on which you confirm it, the requester can look up so many more. Find out what they are for: whoever looks up many numbers reads the register out."
	case outbox.StartSealKind:
		row.What, row.About, row.After = "Seal a number", "Number ending in "+a.Details["lastDigits"], "Sealed until "+stampText(a.Details["until"])
		row.Effect = "Until then no organisation is told what happens to the number: not by its feed, by a webhook or by a notice about a past answer. Verifications are answered as before. Compare the order in the reason with the order of the court."
	case outbox.LiftSealKind:
		row.What, row.About, row.Before = "Lift the seal of a number", "Number ending in "+a.Details["lastDigits"], "Sealed until "+stampText(a.Details["until"])
		row.Effect = "Whoever watches the number is told at once everything that has happened to it since it was sealed. That cannot be taken back."
	case registry.RaiseLimits:
		row.What, row.AboutHref = "Raise the limits of an organisation", portal.LimitsPath+"/"+a.Subject.String()
		row.Before, row.After = a.Details["before"], registry.LimitsText(a.Details)
		row.Effect = "The organisation can ask about more numbers, or faster, on every node within seconds."
	case numbering.SetKind:
		row.What, row.About, row.AboutHref = "Set a new version of the numbering plan", "Version "+a.Details["version"], portal.DraftsPath+"/"+a.Subject.String()
		row.After = planCounts(a)
		row.Effect = "Answers follow the new plan from " + cmp.Or(a.Details["effectiveAt"], "now") + " on. Open it first: it shows every change."
	case policy.SetKind:
		row.What, row.About = "Set a new version of the policy", "The policy"
		row.After = strings.Join(policy.Changes(a), "; ")
		row.Effect = "Every answer follows the new policy from " + cmp.Or(a.Details["effectiveAt"], "now") + " on."
	case people.RemoveAdministrator:
		row.What = "Remove an administrator"
		row.Effect = row.About + " can no longer sign in, and all sessions of the account end."
	case people.ResetStaffFactor:
		row.What = "Reset two-factor authentication of a member of staff"
		row.Effect = "Afterwards the password alone is enough to set up a new second factor. Make sure, in a way that you trust, that " + row.About + " has asked for it."
	case people.ResetStaffPassword:
		row.What = "Start a new password of a member of staff"
		row.Effect = row.About + " gets an e-mail with a link to set a new password."
	case people.ChangeEntityPeople:
		row.What, row.AboutHref = "Change who has access to an organisation", portal.EntityURL(a.Entity)+"/people"
		row.Effect = people.ChangeText(a.Details) + ". The admins of the organisation have been notified: make sure that they know the person, or asked for it."
	default:
		return false
	}
	return true
}

// planCounts says how many ranges a draft changes, by kind.
func planCounts(a *approval.Approval) string {
	var list []string
	for _, kind := range numbering.ChangeKinds {
		if n := a.Details[string(kind)]; n != "" {
			list = append(list, n+" "+string(kind))
		}
	}
	return cmp.Or(strings.Join(list, ", "), "no ranges change")
}

// stampText returns the time of a detail as pages show times.
func stampText(detail string) string {
	t, err := time.Parse(time.RFC3339, detail)
	if err != nil {
		return detail
	}
	return kit.Stamp(t)
}
