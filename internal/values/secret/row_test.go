package secret_test

import (
	"bytes"
	"testing"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// A row verifies only with its own sum, in its own table, under a pepper of the list. After
// a rotation it is outdated, and broken when its pepper is retired.
func TestRowVerifiesOnlyAsItWasSigned(t *testing.T) {
	t.Parallel()
	const older, newer secret.Text = "the older pepper, which is long enough", "the newer pepper, which is long enough"
	one, both, other := peppers(t, older), peppers(t, newer, older), peppers(t, newer)
	sum := bytes.Repeat([]byte{7}, 32)
	mac := one.SignRow("account", sum)
	flipped := bytes.Clone(mac)
	flipped[len(flipped)-1] ^= 1
	for name, c := range map[string]struct {
		keys     *secret.Peppers
		table    string
		sum, mac []byte
		want     secret.RowMAC
	}{
		"as signed":           {one, "account", sum, mac, secret.RowSigned},
		"after a rotation":    {both, "account", sum, mac, secret.RowOutdated},
		"signed anew":         {both, "account", sum, both.SignRow("account", sum), secret.RowSigned},
		"a retired pepper":    {other, "account", sum, mac, secret.RowBroken},
		"of another table":    {one, "session", sum, mac, secret.RowBroken},
		"another sum":         {one, "account", bytes.Repeat([]byte{8}, 32), mac, secret.RowBroken},
		"no sum":              {one, "account", nil, mac, secret.RowBroken},
		"no HMAC":             {one, "account", sum, nil, secret.RowBroken},
		"only a version":      {one, "account", sum, mac[:6], secret.RowBroken},
		"a bit that differs":  {one, "account", sum, flipped, secret.RowBroken},
		"an HMAC of a secret": {one, "account", sum, append(bytes.Clone(mac[:6]), one.Sign(secret.ForCredentials, "account", string(sum))...), secret.RowBroken},
	} {
		if got := c.keys.CheckRow(c.table, c.sum, c.mac); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
