package client

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The headers of a webhook, as Standard Webhooks names them.
const (
	HeaderWebhookID        = "webhook-id"
	HeaderWebhookTimestamp = "webhook-timestamp"
	HeaderWebhookSignature = "webhook-signature"
)

var (
	// ErrWebhook reports a request that the service did not send to you, or not now. Answer
	// it with 401 and do nothing else: after 400 the service would give the events up, and if
	// your key is the wrong one they are genuine. The error says what is wrong with it.
	ErrWebhook = errors.New("client: the webhook is not genuine")

	// ErrWebhookSeen reports a genuine request that was accepted before. Answer it with 200
	// and do nothing else.
	ErrWebhookSeen = errors.New("client: the webhook was accepted before")
)

// maxWebhookKeys bounds the work that one request can cause.
const maxWebhookKeys = 8

// WebhookVerifier tells webhooks of the service from forged, altered and old ones. Use
// one for each endpoint; it is safe for concurrent use.
type WebhookVerifier struct {
	// Keys are the endpoint's keys: whpk_ for Ed25519, whsec_ for HMAC. A request is genuine
	// if one of them signed it. While a key is rolled there are two. Required.
	Keys []Secret

	// Tolerance is how far the time of a request may be from ours; five minutes if zero.
	Tolerance time.Duration

	// Seen remembers requests, so that one that somebody recorded and sent again is refused.
	// Without it such a request is accepted within the tolerance; that does no harm if you
	// drop events by their id.
	Seen *WebhookMemory

	// Now returns the time; nil is the system's clock.
	Now func() time.Time
}

// Webhook is a genuine request.
type Webhook struct {
	// ID names the request. Attempts to deliver the same events have the same.
	ID string

	// SentAt is when the service sent it.
	SentAt time.Time

	forget func()
}

// Forget lets the same request be accepted again. Call it if you could not process the
// events and answer with an error, so that the service's next attempt is not taken for a
// copy.
func (w *Webhook) Forget() {
	if w.forget != nil {
		w.forget()
	}
}

// VerifyWebhook verifies a request without a memory of earlier ones. The body is what was
// received, byte for byte: not what a JSON decoder made of it.
func VerifyWebhook(body []byte, header http.Header, keys ...Secret) (*Webhook, error) {
	return (&WebhookVerifier{Keys: keys}).Verify(body, header)
}

// Verify returns the request if it is genuine, and else an error that is [ErrWebhook] or
// [ErrWebhookSeen], or that says which of the keys is none. The time that it takes does
// not tell how much of a signature is right.
func (v *WebhookVerifier) Verify(body []byte, header http.Header) (*Webhook, error) {
	keys, err := parseWebhookKeys(v.Keys)
	if err != nil {
		return nil, err
	}
	id, stamp, signatures := header.Values(HeaderWebhookID), header.Values(HeaderWebhookTimestamp), header.Values(HeaderWebhookSignature)
	// Of two headers of one name it would be unclear which was verified.
	if len(id) != 1 || len(stamp) != 1 || len(signatures) != 1 || id[0] == "" || strings.Contains(id[0], ".") {
		return nil, fmt.Errorf("%w: it must have each of the headers %s, %s and %s once", ErrWebhook, HeaderWebhookID, HeaderWebhookTimestamp, HeaderWebhookSignature)
	}
	seconds, err := strconv.ParseInt(stamp[0], 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != stamp[0] {
		return nil, fmt.Errorf("%w: %s is no number of seconds", ErrWebhook, HeaderWebhookTimestamp)
	}
	now, tolerance, sentAt := v.now(), v.tolerance(), time.Unix(seconds, 0).UTC()
	if sentAt.Before(now.Add(-tolerance)) || sentAt.After(now.Add(tolerance)) {
		return nil, fmt.Errorf("%w: it was sent at another time than now", ErrWebhook)
	}
	content := make([]byte, 0, len(id[0])+len(stamp[0])+len(body)+2)
	content = append(content, id[0]+"."+stamp[0]+"."...)
	content = append(content, body...)
	if !signedByOne(keys, content, signatures[0]) {
		return nil, fmt.Errorf("%w: no signature is by one of the keys", ErrWebhook)
	}
	w := &Webhook{ID: id[0], SentAt: sentAt}
	if v.Seen != nil {
		if !v.Seen.add(w.ID, now, tolerance) {
			return nil, ErrWebhookSeen
		}
		w.forget = func() { v.Seen.remove(w.ID) }
	}
	return w, nil
}

func (v *WebhookVerifier) now() time.Time {
	if v.Now != nil {
		return v.Now()
	}
	return time.Now()
}

func (v *WebhookVerifier) tolerance() time.Duration {
	if v.Tolerance > 0 {
		return v.Tolerance
	}
	return 5 * time.Minute
}

// webhookKey has one of the two.
type webhookKey struct {
	public ed25519.PublicKey
	shared []byte
}

func parseWebhookKeys(texts []Secret) ([]webhookKey, error) {
	if len(texts) == 0 || len(texts) > maxWebhookKeys {
		return nil, fmt.Errorf("client: verify a webhook: give it between 1 and %d keys", maxWebhookKeys)
	}
	keys := make([]webhookKey, len(texts))
	for i, text := range texts {
		kind, encoded, _ := strings.Cut(string(text), "_")
		b, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case err == nil && kind == "whpk" && len(b) == ed25519.PublicKeySize:
			keys[i].public = b
		case err == nil && kind == "whsec" && len(b) >= 24 && len(b) <= 64: // as Standard Webhooks bounds it
			keys[i].shared = b
		default:
			return nil, fmt.Errorf("client: verify a webhook: key %d has neither the form whpk_… nor whsec_…", i+1)
		}
	}
	return keys, nil
}

// signedByOne reports whether one of the signatures is by one of the keys. Signatures of
// versions that it does not know are skipped.
func signedByOne(keys []webhookKey, content []byte, signatures string) bool {
	list := strings.Split(signatures, " ")
	if len(list) > 2*maxWebhookKeys {
		return false
	}
	found := false
	for _, s := range list {
		version, encoded, _ := strings.Cut(s, ",")
		// Strict: one signature has one spelling.
		b, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil {
			continue
		}
		for _, k := range keys {
			switch {
			case version == "v1a" && k.public != nil && len(b) == ed25519.SignatureSize:
				found = ed25519.Verify(k.public, content, b) || found
			case version == "v1" && k.shared != nil:
				mac := hmac.New(sha256.New, k.shared)
				mac.Write(content) // a hash never returns an error
				found = hmac.Equal(b, mac.Sum(nil)) || found
			}
		}
	}
	return found
}

// WebhookMemory remembers the ids of accepted requests for as long as one could be sent
// again. The zero value is ready, and may be shared between verifiers. It is in memory:
// where several processes receive, store the ids of events instead.
type WebhookMemory struct {
	mu       sync.Mutex
	ids      map[string]time.Time // until when to remember
	tidiedAt time.Time
}

// add reports whether the id is new.
func (m *WebhookMemory) add(id string, now time.Time, tolerance time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ids == nil {
		m.ids = map[string]time.Time{}
	}
	if now.Sub(m.tidiedAt) > tolerance {
		for id, until := range m.ids {
			if now.After(until) {
				delete(m.ids, id)
			}
		}
		m.tidiedAt = now
	}
	if until, seen := m.ids[id]; seen && !now.After(until) {
		return false
	}
	// A request may be stamped tolerance ahead of now, and is accepted until tolerance after that.
	m.ids[id] = now.Add(2*tolerance + time.Second)
	return true
}

func (m *WebhookMemory) remove(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.ids, id)
}
