package client_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/notify/webhook"
)

// hook is a request as a receiver gets it.
type hook struct {
	body   []byte
	header http.Header
}

func signedHook(id string, at time.Time, body string, keys ...webhook.Key) hook {
	s := webhook.Sign(id, at, []byte(body), keys...)
	return hook{[]byte(body), http.Header{"Webhook-Id": {s.ID}, "Webhook-Timestamp": {s.Timestamp}, "Webhook-Signature": {s.Signature}}}
}

// A request of the service is accepted with each algorithm, and while a key is rolled
// with either key; another receiver's key and text that is no key are refused.
func TestGenuineWebhookIsAccepted(t *testing.T) {
	t.Parallel()
	old, current, other := webhook.NewKey(webhook.HMAC), webhook.NewKey(webhook.Ed25519), webhook.NewKey(webhook.Ed25519)
	h := signedHook("3-17", time.Now(), `{"id":"3-17"}`, old, current)
	for _, keys := range [][]client.Secret{
		{client.Secret(old.Receiver().Reveal())},
		{client.Secret(current.Receiver().Reveal())},
		{client.Secret(other.Receiver().Reveal()), client.Secret(current.Receiver().Reveal())},
	} {
		w, err := client.VerifyWebhook(h.body, h.header, keys...)
		if err != nil || w.ID != "3-17" || time.Since(w.SentAt) > time.Minute {
			t.Errorf("a genuine request: %+v, %v", w, err)
		}
	}
	if _, err := client.VerifyWebhook(h.body, h.header, client.Secret(other.Receiver().Reveal())); !errors.Is(err, client.ErrWebhook) {
		t.Errorf("with the key of another receiver: %v", err)
	}
	for _, keys := range [][]client.Secret{nil, {"whpk_"}, {"whsec_AAAA"}, {"secret"}, make([]client.Secret, 9)} {
		_, err := client.VerifyWebhook(h.body, h.header, keys...)
		if err == nil || errors.Is(err, client.ErrWebhook) || strings.Contains(err.Error(), "whpk_AAAA") {
			t.Errorf("with %d keys of which one is none: %v", len(keys), err)
		}
	}
}

// The example of Standard Webhooks' documentation is accepted at its time.
func TestExampleOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	v := client.WebhookVerifier{
		Keys: []client.Secret{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		Now:  func() time.Time { return time.Unix(1614265330+200, 0) },
	}
	header := http.Header{
		"Webhook-Id": {"msg_p5jXN8AQM9LWM0D4loKWxJek"}, "Webhook-Timestamp": {"1614265330"},
		"Webhook-Signature": {"v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v2,someLater"},
	}
	if _, err := v.Verify([]byte(`{"test": 2432232314}`), header); err != nil {
		t.Error(err)
	}
}

// Of 10,000 forged, altered, old and repeated requests none is accepted, while the
// genuine ones between them are.
func TestNoFalseWebhookIsAccepted(t *testing.T) {
	t.Parallel()
	const rounds = 10_000
	now := time.Now()
	for _, algorithm := range []webhook.Algorithm{webhook.Ed25519, webhook.HMAC} {
		t.Run(string(algorithm), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, uint64(len(algorithm))))
			key, thief := webhook.NewKey(algorithm), webhook.NewKey(algorithm)
			v := client.WebhookVerifier{Keys: []client.Secret{client.Secret(key.Receiver().Reveal())}, Seen: &client.WebhookMemory{}, Now: func() time.Time { return now }}
			tried := map[string]int{}
			for i := range rounds {
				id, body := "1-"+strconv.Itoa(i+1), fmt.Sprintf(`{"id":"1-%d","data":{"phoneNumber":"+234803%07d"}}`, i+1, i)
				genuine := signedHook(id, now, body, key)
				if _, err := v.Verify(genuine.body, genuine.header); err != nil {
					t.Fatalf("the genuine request %d: %v", i, err)
				}
				kind, forged := falsify(random, i, id, body, now, genuine, key, thief)
				tried[kind]++
				if _, err := v.Verify(forged.body, forged.header); !errors.Is(err, client.ErrWebhook) && !errors.Is(err, client.ErrWebhookSeen) {
					t.Fatalf("request %d, %s, is accepted: %v", i, kind, err)
				}
			}
			if len(tried) != 11 {
				t.Errorf("tried only %v", tried)
			}
		})
	}
}

// falsify returns what an attacker could send, having seen genuine: in turn each of the
// kinds.
func falsify(random *rand.Rand, i int, id, body string, now time.Time, genuine hook, key, thief webhook.Key) (kind string, h hook) {
	h = hook{append([]byte(nil), genuine.body...), genuine.header.Clone()}
	signature := h.header.Get("Webhook-Signature")
	fresh := id + "x" // an id that the memory does not have
	away := time.Duration(301+random.IntN(1_000_000)) * time.Second
	switch i % 11 {
	case 0:
		return "repeated", h
	case 1:
		return "signed with another key", signedHook(fresh, now, body, thief)
	case 2:
		return "too old", signedHook(fresh, now.Add(-away), body, key)
	case 3:
		return "from the future", signedHook(fresh, now.Add(away), body, key)
	case 4:
		h = signedHook(fresh, now, body, key)
		h.body[random.IntN(len(h.body))] ^= byte(1 << random.IntN(8))
		return "a bit of the body changed", h
	case 5:
		h = signedHook(fresh, now, body, key)
		h.body = append(h.body, ' ')
		return "body longer", h
	case 6:
		h.header.Set("Webhook-Id", fresh)
		return "another id", h
	case 7:
		h.header.Set("Webhook-Id", fresh)
		h.header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix()+int64(random.IntN(200)), 10))
		return "another id and time", h
	case 8:
		h = signedHook(fresh, now, body, key)
		b := []byte(h.header.Get("Webhook-Signature"))
		at := 5 + random.IntN(len(b)-5)
		b[at] = "ABCDEFGHIJKLMNOP="[random.IntN(17)]
		if string(b) == h.header.Get("Webhook-Signature") {
			b[at] = '-'
		}
		h.header.Set("Webhook-Signature", string(b))
		return "signature changed", h
	case 9:
		// The separators moved: the signed text is the same.
		h.header.Set("Webhook-Id", id+"."+h.header.Get("Webhook-Timestamp"))
		_, rest, _ := strings.Cut(string(h.body), ".")
		h.body = []byte(rest)
		return "parts moved", h
	default:
		missing := []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"}[random.IntN(3)]
		h = signedHook(fresh, now, body, key)
		if random.IntN(2) == 0 {
			h.header.Del(missing)
		} else {
			h.header[missing] = []string{h.header.Get(missing), signature}
		}
		return "a header missing or twice", h
	}
}

// The memory keeps an id for as long as the request could be sent again, forgets it on
// request, and does not grow for ever.
func TestMemoryOfWebhooks(t *testing.T) {
	t.Parallel()
	now := time.Now()
	key := webhook.NewKey(webhook.Ed25519)
	v := client.WebhookVerifier{Keys: []client.Secret{client.Secret(key.Receiver().Reveal())}, Seen: &client.WebhookMemory{}, Now: func() time.Time { return now }}
	h := signedHook("1-1", now.Add(4*time.Minute), "{}", key)
	w, err := v.Verify(h.body, h.header)
	if err != nil {
		t.Fatal(err)
	}
	w.Forget()
	if _, err := v.Verify(h.body, h.header); err != nil {
		t.Errorf("after Forget: %v", err)
	}
	for range 8 { // the request is valid for nine minutes
		now = now.Add(time.Minute)
		if _, err := v.Verify(h.body, h.header); !errors.Is(err, client.ErrWebhookSeen) {
			t.Fatalf("again %s later: %v", now, err)
		}
	}
}

// A hash that is too short for its place, because a decoder of Base64 ignores line
// breaks, is refused and does not end the program.
func TestChainWithLineBreaksIsRefused(t *testing.T) {
	t.Parallel()
	raw := `{"id":"1-1","lpchain":"` + strings.Repeat("A", 39) + "\n\n\n\n" + `"}`
	if _, _, err := new(client.FeedChain).Check([]byte(raw)); !errors.Is(err, client.ErrFeedTampered) {
		t.Errorf("a hash with line breaks: %v", err)
	}
}
