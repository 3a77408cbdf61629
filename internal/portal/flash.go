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

	"key.revoked":   {Tone: view.Good, Text: "The key is revoked. Every node refuses it within five seconds."},
	"team.invited":  {Tone: view.Good, Text: "The invitation is on its way."},
	"team.removed":  {Tone: view.Good, Text: "The account is removed, and its sessions have ended."},
	"team.role":     {Tone: view.Good, Text: "The role is changed."},
	"document.sent": {Tone: view.Good, Text: "The document has arrived whole. It is scanned first, then the regulator looks at it."},
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
