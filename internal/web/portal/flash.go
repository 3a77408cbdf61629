package portal

import (
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// flashMessages are the messages that a page can show about what was just done.
// The cookie holds only the key, so a forged cookie cannot show any other text.
var flashMessages = map[string]kit.Flash{
	"signed.out":       {Tone: kit.Good, Text: "You are signed out."},
	"signed.out.all":   {Tone: kit.Good, Text: "You are signed out everywhere."},
	"session.ended":    {Tone: kit.Good, Text: "The session has ended."},
	"password.changed": {Tone: kit.Good, Text: "The password is changed, and all other sessions have ended."},
	"password.entered": {Tone: kit.Info, Text: "Thank you. Choose the file again."},
	"password.set":     {Tone: kit.Good, Text: "The new password is set, and all sessions have ended. Sign in with the new password."},
	"account.ready":    {Tone: kit.Good, Text: "Your account is ready."},
	"email.confirmed":  {Tone: kit.Good, Text: "The e-mail address is confirmed."},
	"factor.removed":   {Tone: kit.Warn, Text: "Two-factor authentication is removed. Your password alone opens your account now."},
	"messages.read":    {Tone: kit.Good, Text: "All messages are marked as read."},
	"messages.set":     {Tone: kit.Good, Text: "Your choice of e-mails is stored."},
	"factor.set":       {Tone: kit.Good, Text: "Two-factor authentication is on."},

	"key.reported":        {Tone: kit.Good, Text: "All admins of your organisation know that the key was reported as leaked. It works until it is revoked."},
	"key.revoked":         {Tone: kit.Good, Text: "The key is revoked. Every node refuses it within five seconds."},
	"webhook.confirmed":   {Tone: kit.Good, Text: "The endpoint answered the challenge. It gets events from now on."},
	"webhook.paused":      {Tone: kit.Good, Text: "The endpoint is paused. Events wait until you resume it."},
	"webhook.resumed":     {Tone: kit.Good, Text: "The endpoint is active again, and gets the events that waited."},
	"webhook.sent":        {Tone: kit.Good, Text: "The endpoint accepted it."},
	"webhook.not.sent":    {Tone: kit.Warn, Text: "The endpoint did not accept it. The newest attempt below says why."},
	"webhook.replayed":    {Tone: kit.Good, Text: "The events are being sent again."},
	"webhook.deleted":     {Tone: kit.Good, Text: "The endpoint is deleted."},
	"file.sent":           {Tone: kit.Good, Text: "The file is received. This page shows how far it has come."},
	"file.cancelled":      {Tone: kit.Good, Text: "The job is cancelled."},
	"team.invited":        {Tone: kit.Good, Text: "Invitation e-mail queued."},
	"team.removed":        {Tone: kit.Good, Text: "The account is removed, and its sessions have ended."},
	"team.keys":           {Tone: kit.Good, Text: "The right to create live keys is changed."},
	"team.supply":         {Tone: kit.Good, Text: "The right to supply lines is changed."},
	"team.role":           {Tone: kit.Good, Text: "The role is changed."},
	"limits.set":          {Tone: kit.Good, Text: "The limits are set. Every node applies them within five seconds."},
	"guard.released":      {Tone: kit.Good, Text: "The organisation is released. Every node applies it within five seconds."},
	"heldfile.released":   {Tone: kit.Good, Text: "The file is answered now."},
	"heldfile.rejected":   {Tone: kit.Good, Text: "The file is rejected: its organisation gets no answer to it."},
	"list.released":       {Tone: kit.Good, Text: "The list takes effect: its organisation is told from now on what happens to its numbers."},
	"list.rejected":       {Tone: kit.Good, Text: "The list is deleted, and its organisation is told so in its feed."},
	"plan.set":            {Tone: kit.Good, Text: "The new version of the numbering plan is created."},
	"policy.set":          {Tone: kit.Good, Text: "The new version of the policy is created."},
	"staff.invited":       {Tone: kit.Good, Text: "Invitation e-mail queued."},
	"staff.invited.waits": {Tone: kit.Info, Text: "Invitation e-mail queued. The person starts as an auditor until another administrator confirms the role under Approvals."},
	"staff.waits":         {Tone: kit.Info, Text: "Waiting for approval: another administrator has to confirm it under Approvals."},
	"staff.removed":       {Tone: kit.Good, Text: "The account is removed, and its sessions have ended."},
	"factor.unlocked":     {Tone: kit.Good, Text: "Two-factor authentication is unlocked. The person can sign in with a code again."},
	"staff.factor":        {Tone: kit.Good, Text: "Two-factor authentication is reset, and the sessions of the account have ended."},

	"entity.created":   {Tone: kit.Good, Text: "The organisation is added. The invitation e-mail to its admin is queued."},
	"entity.suspended": {Tone: kit.Good, Text: "The organisation is suspended. Every node refuses its keys and sessions within five seconds."},
	"entity.restored":  {Tone: kit.Good, Text: "The organisation is restored, with the keys that it had."},
	"entity.revoked":   {Tone: kit.Good, Text: "The organisation is revoked. Every node refuses its keys and sessions within five seconds."},
	"entity.waits":     {Tone: kit.Warn, Text: "Nothing has changed yet: another administrator has to confirm it, under Approvals, within a week."},
	"entity.documents": {Tone: kit.Good, Text: "What is required of the organisation is changed."},
	"mandate.added":    {Tone: kit.Good, Text: "The mandate is recorded. Every node accepts it within five seconds."},
	"mandate.ended":    {Tone: kit.Good, Text: "The mandate has ended. Every node refuses it within five seconds."},
	"client.suspended": {Tone: kit.Good, Text: "The client is suspended. Every node refuses its tokens within five seconds."},
	"client.resumed":   {Tone: kit.Good, Text: "The client is resumed, with the secrets that it had."},
	"client.revoked":   {Tone: kit.Good, Text: "The client and all its tokens are revoked."},
	"secret.revoked":   {Tone: kit.Good, Text: "The secret is revoked. Every node refuses the tokens that were issued for it within five seconds."},

	"corrections.done": {Tone: kit.Good, Text: "Acknowledged. The regulator's staff see that you have dealt with it."},
	"corrections.none": {Tone: kit.Warn, Text: "Nothing was selected, so nothing is acknowledged."},

	"lookups.waits": {Tone: kit.Warn, Text: "Another administrator or reviewer has to confirm it, under Approvals. Then you can go on until midnight UTC of that day."},

	"document.original.waits": {Tone: kit.Warn, Text: "Another administrator has to confirm it, under Approvals, within a week. Then you can download the sealed archive from this page, for 24 hours."},
	"document.sent":           {Tone: kit.Good, Text: "The document is uploaded. It is scanned for viruses first, then the regulator reviews it."},

	"import.sent":       {Tone: kit.Good, Text: "The file is uploaded and is being checked."},
	"import.meant":      {Tone: kit.Good, Text: "The regulator's staff see your confirmation. The file waits for their decision."},
	"import.withdrawn":  {Tone: kit.Good, Text: "The file is withdrawn. Nothing of it was applied."},
	"import.requested":  {Tone: kit.Warn, Text: "Nothing has changed yet: another administrator or reviewer has to confirm it, under Approvals, within a week."},
	"import.cancelled":  {Tone: kit.Good, Text: "The import is cancelled."},
	"document.accepted": {Tone: kit.Good, Text: "The document is accepted."},
	"document.rejected": {Tone: kit.Good, Text: "The document is rejected, and the organisation can read why."},
	"order.acts":        {Tone: kit.Good, Text: "The number is barred. The bar ends after 72 hours unless another administrator or reviewer confirms it here."},
	"order.waits":       {Tone: kit.Warn, Text: "Nothing has changed yet: another administrator or reviewer has to confirm it here."},
	"order.bar.waits":   {Tone: kit.Warn, Text: "Nothing has changed yet: a bar of this number ended within 30 days that nobody confirmed, so another administrator or reviewer has to confirm it here."},
	"order.done":        {Tone: kit.Good, Text: "The event counts from now on."},
	"approval.given":    {Tone: kit.Good, Text: "Confirmed. It has taken effect."},
	"approval.broken":   {Tone: kit.Warn, Text: "All staff are notified. If nobody rejects it, you can confirm it yourself after 24 hours."},
	"approval.refused":  {Tone: kit.Good, Text: "Rejected. It does not take effect."},
	"approval.bar.acts": {Tone: kit.Warn, Text: "Rejected. The bar stays in effect until it ends by itself, at the time in the list below. To end it sooner, order UNBAR: \"Lift bars\" on the number's page."},
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
func takeFlash(w http.ResponseWriter, r *http.Request) *kit.Flash {
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
