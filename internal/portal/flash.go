package portal

import (
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/portal/view"
)

// messages are what a page can be told to say of what was just done. The cookie
// holds only the key, so whoever forges one can make us say nothing else.
var messages = map[string]view.Flash{
	"signed.out":       {Tone: view.Good, Text: "You are signed out."},
	"signed.out.all":   {Tone: view.Good, Text: "You are signed out everywhere."},
	"session.ended":    {Tone: view.Good, Text: "That session has ended."},
	"password.changed": {Tone: view.Good, Text: "The password is changed, and every other session has ended."},
	"password.set":     {Tone: view.Good, Text: "The new password is set, and every session has ended. Sign in with it."},
	"account.ready":    {Tone: view.Good, Text: "Your account is ready."},
	"email.confirmed":  {Tone: view.Good, Text: "The e-mail address is confirmed."},
	"factor.removed":   {Tone: view.Warn, Text: "The second factor is removed. Your password alone opens your account now."},
	"factor.set":       {Tone: view.Good, Text: "The second factor is in force."},

	"key.revoked":         {Tone: view.Good, Text: "The key is revoked. Every node refuses it within five seconds."},
	"team.invited":        {Tone: view.Good, Text: "The invitation is on its way."},
	"team.removed":        {Tone: view.Good, Text: "The account is removed, and its sessions have ended."},
	"team.role":           {Tone: view.Good, Text: "The role is changed."},
	"limits.set":          {Tone: view.Good, Text: "The limits are set. Every node holds them within five seconds."},
	"guard.released":      {Tone: view.Good, Text: "The organisation may go on. Every node knows it within five seconds."},
	"plan.set":            {Tone: view.Good, Text: "The new version of the numbering plan is made."},
	"staff.invited":       {Tone: view.Good, Text: "The invitation is on its way."},
	"staff.invited.waits": {Tone: view.Info, Text: "The invitation is on its way. They begin as an auditor until another administrator has confirmed the role under Approvals."},
	"staff.waits":         {Tone: view.Info, Text: "It waits for a second person: another administrator has to confirm it under Approvals."},
	"staff.removed":       {Tone: view.Good, Text: "The account is removed, and its sessions have ended."},
	"staff.factor":        {Tone: view.Good, Text: "The second factor is reset, and the sessions of the account have ended."},

	"entity.created":   {Tone: view.Good, Text: "The organisation is let in, and the invitation of its admin is on its way."},
	"entity.suspended": {Tone: view.Good, Text: "The organisation is suspended. Every node refuses its keys and sessions within five seconds."},
	"entity.restored":  {Tone: view.Good, Text: "The organisation is back, with the keys that it had."},
	"entity.revoked":   {Tone: view.Good, Text: "The organisation is revoked. Every node refuses its keys and sessions within five seconds."},
	"entity.waits":     {Tone: view.Warn, Text: "Nothing has changed yet: another administrator has to confirm it, under Approvals, within a week."},
	"client.suspended": {Tone: view.Good, Text: "The client is suspended. Every node refuses its tokens within five seconds."},
	"client.resumed":   {Tone: view.Good, Text: "The client goes on, with the secrets that it had."},
	"client.revoked":   {Tone: view.Good, Text: "The client and every token of it are revoked."},
	"secret.revoked":   {Tone: view.Good, Text: "The secret is revoked. Tokens that it got stand until they expire."},

	"document.sent": {Tone: view.Good, Text: "The document has arrived whole. It is scanned first, then the regulator looks at it."},

	"import.sent":       {Tone: view.Good, Text: "The file has arrived whole. It is checked now."},
	"import.meant":      {Tone: view.Good, Text: "The regulator's staff see that you mean it. The file waits for them."},
	"import.withdrawn":  {Tone: view.Good, Text: "The file is withdrawn. Nothing of it was applied."},
	"import.confirmed":  {Tone: view.Good, Text: "The file is confirmed and will be applied."},
	"import.cancelled":  {Tone: view.Good, Text: "The import is ended."},
	"document.accepted": {Tone: view.Good, Text: "The document is accepted."},
	"document.rejected": {Tone: view.Good, Text: "The document is rejected, and the organisation reads why."},
	"approval.given":    {Tone: view.Good, Text: "Confirmed. It has taken effect."},
	"approval.refused":  {Tone: view.Good, Text: "Refused. It does not take effect."},
}

// flashTime is how long a message waits for its page.
const flashTime = time.Minute

func setFlash(w http.ResponseWriter, message string) {
	if message == "" {
		return
	}
	if _, ok := messages[message]; !ok {
		panic("portal: there is no message " + message)
	}
	setCookie(w, flashCookie, message, flashTime)
}

// takeFlash returns the message that waits, and takes it away.
func takeFlash(w http.ResponseWriter, r *http.Request) *view.Flash {
	key := cookieOf(r, flashCookie)
	if key == "" {
		return nil
	}
	dropCookie(w, flashCookie)
	if f, ok := messages[key]; ok {
		return &f
	}
	return nil
}
