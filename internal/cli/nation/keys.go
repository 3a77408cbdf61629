package nation

import (
	"context"

	"github.com/lineproof/lineproof/client"
)

// The names of API keys, which are those of the applications that use them.
const (
	keyPayments  = "payments"
	keyOpening   = "account opening"
	keyWatch     = "fraud desk"
	keyFiles     = "customer files"
	keyTest      = "development"
	keySavanna   = "mobile app"
	keyPaylane   = "payouts"
	keyQuickloan = "credit scoring"
)

// createKeys creates the keys: those that are used, and some that expire, have expired or
// were revoked.
func (n *nation) createKeys(ctx context.Context) error {
	for _, k := range []struct {
		entity, name, purpose string
		more                  []string
	}{
		{harbour, keyPayments, "payment", nil},
		{harbour, keyOpening, "account-opening", []string{"--expires", "120h"}},
		{harbour, keyWatch, "payment", []string{"--right", "watch", "--right", "feed"}},
		{harbour, keyFiles, "credit", []string{"--right", "jobs"}},
		{harbour, keyTest, "other", []string{"--test", "--right", "watch", "--right", "feed"}},
		{harbour, "branch pilot", "other", []string{"--expires", "1s"}},
		{harbour, "old core banking", "payment", nil},
		{savanna, keySavanna, "credential-reset", nil},
		{paylane, keyPaylane, "payment", nil},
		{quickloan, keyQuickloan, "credit", []string{"--rate", "1000", "--burst", "2000", "--right", "watch", "--right", "jobs"}},
		{dormant, "collections", "collection", nil},
	} {
		err := n.once("key "+k.name, func() error {
			args := []string{"key", "create", "--json", "--entity", n.st.Entities[k.entity], "--name", k.name, "--purpose", k.purpose}
			text, err := n.run(ctx, "", append(args, k.more...)...)
			if err != nil {
				return err
			}
			var created struct {
				ID  string `json:"keyId"`
				Key string `json:"apiKey"`
			}
			err = decode(text, &created)
			n.st.setKey(k.name, secret{created.ID, created.Key})
			return err
		})
		if err != nil {
			return err
		}
	}
	return n.once("revoked key", func() error {
		_, err := n.run(ctx, "", "key", "revoke", n.st.key("old core banking").ID)
		return err
	})
}

// key returns the key with the name.
func (n *nation) key(name string) client.Secret { return client.Secret(n.st.key(name).Secret) }
