package webhook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// A signature is the one that every library of Standard Webhooks computes: the example
// of its documentation.
func TestSignatureIsThatOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	// The example's secret has 24 bytes. Ours have 32, so that its text is not read by Parse
	// and the same key with eight zero bytes, which HMAC cannot tell apart, takes its place.
	key, err := webhook.ParseKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAAAAAAAAAA=")
	if err != nil {
		t.Fatal(err)
	}
	signed := webhook.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), key)
	if signed.Signature != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" || signed.Timestamp != "1614265330" {
		t.Errorf("the example is signed %+v", signed)
	}
}

// A key survives being stored, what the receiver gets of an Ed25519 key cannot sign, and
// of two keys both sign.
func TestKeysAreStoredAndSplit(t *testing.T) {
	t.Parallel()
	var keys []webhook.Key
	for _, a := range []webhook.Algorithm{webhook.Ed25519, webhook.HMAC} {
		key := webhook.NewKey(a)
		again, err := webhook.ParseKey(key.Text())
		if err != nil || again.Algorithm() != a || again.Receiver() != key.Receiver() || webhook.NewKey(a).Receiver() == key.Receiver() {
			t.Errorf("%s: the stored key is another one, %v", a, err)
		}
		_, err = webhook.ParseKey(key.Receiver())
		if (err == nil) != (a == webhook.HMAC) {
			t.Errorf("%s: what the receiver has, read as a key that signs: %v", a, err)
		}
		keys = append(keys, key)
	}
	s := webhook.Sign("1-1", time.Unix(1, 0), []byte("x"), keys...)
	if f := strings.Fields(s.Signature); len(f) != 2 || !strings.HasPrefix(f[0], "v1a,") || !strings.HasPrefix(f[1], "v1,") {
		t.Errorf("two keys sign %q", s.Signature)
	}
}

// Text that is no key is refused, and the refusal does not repeat it.
func TestParseRefusesWhatIsNoKey(t *testing.T) {
	t.Parallel()
	for _, s := range []secret.Text{"", "whsec_", "whsec_AAAA", "whpk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "whsk_secret"} {
		if _, err := webhook.ParseKey(s); err == nil || (s != "" && strings.Contains(err.Error(), s.Reveal())) {
			t.Errorf("Parse of %q: %v", s.Reveal(), err)
		}
	}
}
