package access_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/secret"
)

// A key says its mode twice: to people by its prefix, and to the service by what
// is stored. Neither can be taken for the other.
func TestKeysOfEitherModeAreToldApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, _ := w.key(t)
	for mode, prefix := range map[string]secret.Prefix{access.Live: secret.LiveKey, access.Test: secret.TestKey} {
		key, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: mode, Purpose: "trial"})
		if err != nil {
			t.Fatal(err)
		}
		who, err := w.Admit(t.Context(), key.Text.Reveal())
		if err != nil || who.Mode != mode || who.Purpose != "trial" || who.Entity != bank.ID || !strings.HasPrefix(key.Text.Reveal(), string(prefix)) {
			t.Errorf("a %s key begins with %.8s and is admitted with the mode %q, %v", mode, key.Text.Reveal(), who.Mode, err)
		}
	}
}
