package webhooks

import (
	"strings"

	"github.com/lineproof/lineproof/internal/notify/webhook"
)

// webhookNote says what to know about the state of an endpoint; "" for nothing.
func webhookNote(e *webhook.Endpoint) string {
	switch {
	case e.State == webhook.Unconfirmed:
		return "This endpoint gets no events yet. It has to answer a signed challenge first: start your receiver, then send the challenge."
	case e.State == webhook.Disabled && e.Reason == webhook.ReasonGone:
		return "This endpoint is disabled, because it answered 410 Gone. When it works again, send the challenge: it then gets the events that wait."
	case e.Reason == webhook.ReasonKeyRevoked:
		return "This endpoint gets no events, because the API key that created it was revoked. If the address is yours, an admin can resume it: it then gets the events that wait. Otherwise delete it."
	case e.State == webhook.Disabled:
		return "This endpoint is disabled, because it accepted nothing for three days. When it works again, send the challenge: it then gets the events that wait."
	case e.State == webhook.Active && e.CircuitOpen():
		return "This endpoint fails again and again, and is tried only from time to time. Nothing is lost: the events wait. After three days it is disabled."
	}
	return ""
}

// printable returns an answer as text: what is no text is replaced.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(string(b), "\r\n", "\n"), "\uFFFD"))
}
