package portal

import (
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/portal/view"
)

// flashMessages are the messages that a page can show about what was just done.
// The cookie holds only the key, so a forged cookie cannot show any other text.
var flashMessages = map[string]view.Flash{
	"signed.out":       {Tone: view.Good, Text: "You are signed out."},
	"signed.out.all":   {Tone: view.Good, Text: "You are signed out everywhere."},
	"session.ended":    {Tone: view.Good, Text: "The session has ended."},
	"password.changed": {Tone: view.Good, Text: "The password is changed, and all other sessions have ended."},
	"password.set":     {Tone: view.Good, Text: "The new password is set, and all sessions have ended. Sign in with the new password."},
	"account.ready":    {Tone: view.Good, Text: "Your account is ready."},
	"email.confirmed":  {Tone: view.Good, Text: "The e-mail address is confirmed."},
	"factor.removed":   {Tone: view.Warn, Text: "Two-factor authentication is removed. Your password alone opens your account now."},
	"messages.read":    {Tone: view.Good, Text: "All messages are marked as read."},
	"messages.set":     {Tone: view.Good, Text: "Your choice of e-mails is stored."},
	"factor.set":       {Tone: view.Good, Text: "Two-factor authentication is on."},

	"key.revoked":         {Tone: view.Good, Text: "The key is revoked. Every node refuses it within five seconds."},
	"webhook.confirmed":   {Tone: view.Good, Text: "The endpoint answered the challenge. It gets events from now on."},
	"webhook.paused":      {Tone: view.Good, Text: "The endpoint is paused. Events wait until you resume it."},
	"webhook.resumed":     {Tone: view.Good, Text: "The endpoint is active again, and gets the events that waited."},
	"webhook.sent":        {Tone: view.Good, Text: "The endpoint accepted it."},
	"webhook.not.sent":    {Tone: view.Warn, Text: "The endpoint did not accept it. The newest attempt below says why."},
	"webhook.replayed":    {Tone: view.Good, Text: "The events are being sent again."},
	"webhook.deleted":     {Tone: view.Good, Text: "The endpoint is deleted."},
	"file.sent":           {Tone: view.Good, Text: "The file is received. This page shows how far it has come."},
	"file.cancelled":      {Tone: view.Good, Text: "The job is cancelled."},
	"team.invited":        {Tone: view.Good, Text: "Invitation e-mail queued."},
	"team.removed":        {Tone: view.Good, Text: "The account is removed, and its sessions have ended."},
	"team.keys":           {Tone: view.Good, Text: "The right to create live keys is changed."},
	"team.role":           {Tone: view.Good, Text: "The role is changed."},
	"limits.set":          {Tone: view.Good, Text: "The limits are set. Every node applies them within five seconds."},
	"guard.released":      {Tone: view.Good, Text: "The organisation is released. Every node applies it within five seconds."},
	"list.released":       {Tone: view.Good, Text: "The list takes effect: its organisation is told from now on what happens to its numbers."},
	"list.rejected":       {Tone: view.Good, Text: "The list is deleted, and its organisation is told so in its feed."},
	"plan.set":            {Tone: view.Good, Text: "The new version of the numbering plan is created."},
	"policy.set":          {Tone: view.Good, Text: "The new version of the policy is created."},
	"staff.invited":       {Tone: view.Good, Text: "Invitation e-mail queued."},
	"staff.invited.waits": {Tone: view.Info, Text: "Invitation e-mail queued. The person starts as an auditor until another administrator confirms the role under Approvals."},
	"staff.waits":         {Tone: view.Info, Text: "Waiting for approval: another administrator has to confirm it under Approvals."},
	"staff.removed":       {Tone: view.Good, Text: "The account is removed, and its sessions have ended."},
	"factor.unlocked":     {Tone: view.Good, Text: "Two-factor authentication is unlocked. The person can sign in with a code again."},
	"staff.factor":        {Tone: view.Good, Text: "Two-factor authentication is reset, and the sessions of the account have ended."},

	"entity.created":   {Tone: view.Good, Text: "The organisation is added. The invitation e-mail to its admin is queued."},
	"entity.suspended": {Tone: view.Good, Text: "The organisation is suspended. Every node refuses its keys and sessions within five seconds."},
	"entity.restored":  {Tone: view.Good, Text: "The organisation is restored, with the keys that it had."},
	"entity.revoked":   {Tone: view.Good, Text: "The organisation is revoked. Every node refuses its keys and sessions within five seconds."},
	"entity.waits":     {Tone: view.Warn, Text: "Nothing has changed yet: another administrator has to confirm it, under Approvals, within a week."},
	"entity.documents": {Tone: view.Good, Text: "What is required of the organisation is changed."},
	"mandate.added":    {Tone: view.Good, Text: "The mandate is recorded. Every node accepts it within five seconds."},
	"mandate.ended":    {Tone: view.Good, Text: "The mandate has ended. Every node refuses it within five seconds."},
	"client.suspended": {Tone: view.Good, Text: "The client is suspended. Every node refuses its tokens within five seconds."},
	"client.resumed":   {Tone: view.Good, Text: "The client is resumed, with the secrets that it had."},
	"client.revoked":   {Tone: view.Good, Text: "The client and all its tokens are revoked."},
	"secret.revoked":   {Tone: view.Good, Text: "The secret is revoked. Tokens that were issued for it stay valid until they expire."},

	"corrections.done": {Tone: view.Good, Text: "Acknowledged. The regulator's staff see that you have dealt with it."},
	"corrections.none": {Tone: view.Warn, Text: "Nothing was selected, so nothing is acknowledged."},

	"document.sent": {Tone: view.Good, Text: "The document is uploaded. It is scanned for viruses first, then the regulator reviews it."},

	"import.sent":       {Tone: view.Good, Text: "The file is uploaded and is being checked."},
	"import.meant":      {Tone: view.Good, Text: "The regulator's staff see your confirmation. The file waits for their decision."},
	"import.withdrawn":  {Tone: view.Good, Text: "The file is withdrawn. Nothing of it was applied."},
	"import.requested":  {Tone: view.Warn, Text: "Nothing has changed yet: another administrator or reviewer has to confirm it, under Approvals, within a week."},
	"import.cancelled":  {Tone: view.Good, Text: "The import is cancelled."},
	"document.accepted": {Tone: view.Good, Text: "The document is accepted."},
	"document.rejected": {Tone: view.Good, Text: "The document is rejected, and the organisation can read why."},
	"order.acts":        {Tone: view.Good, Text: "The number is barred. The bar ends after 72 hours unless another administrator or reviewer confirms it here."},
	"order.waits":       {Tone: view.Warn, Text: "Nothing has changed yet: another administrator or reviewer has to confirm it here."},
	"order.done":        {Tone: view.Good, Text: "The event counts from now on."},
	"approval.given":    {Tone: view.Good, Text: "Confirmed. It has taken effect."},
	"approval.broken":   {Tone: view.Warn, Text: "All staff are notified. If nobody rejects it, you can confirm it yourself after 24 hours."},
	"approval.refused":  {Tone: view.Good, Text: "Rejected. It does not take effect."},
	"approval.bar.acts": {Tone: view.Warn, Text: "Rejected. The bar stays in effect until it ends by itself, at the time in the list below. To end it sooner, order UNBAR: \"Lift bars\" on the number's page."},
}

// flashLifetime is how long a message waits to be shown.
const flashLifetime = time.Minute

func setFlash(w http.ResponseWriter, message string) {
	if message == "" {
		return
	}
	if _, ok := flashMessages[message]; !ok {
		panic("portal: unknown flash message " + message)
	}
	setCookie(w, flashCookie, message, flashLifetime)
}

// takeFlash returns the waiting message, if there is one, and deletes its cookie.
func takeFlash(w http.ResponseWriter, r *http.Request) *view.Flash {
	key := cookieOf(r, flashCookie)
	if key == "" {
		return nil
	}
	dropCookie(w, flashCookie)
	if f, ok := flashMessages[key]; ok {
		return &f
	}
	return nil
}
