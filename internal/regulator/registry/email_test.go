package registry_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// One mailbox has one key, whatever its case; what may be another mailbox has
// another key.
func TestEmailKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ada@harmattan.example": "ada@harmattan.example", "ADA@Harmattan.Example": "ada@harmattan.example", "a.b+tag@x.example": "a.b+tag@x.example",
		"ab@x.example": "ab@x.example", "o'neil@x.example": "o'neil@x.example", "ada@münchen.example": "ada@xn--mnchen-3ya.example", "ADA@MÜNCHEN.example": "ada@xn--mnchen-3ya.example",
	} {
		if got, ok := registry.EmailKey(in); !ok || got != want {
			t.Errorf("EmailKey(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", "ada", "@x.example", "ada@", "ada@x", "a@b@c.example", ".a@x.example", "a.@x.example", "a..b@x.example", "a b@x.example", "\"a\"@x.example",
		"ada@x.example.", "ada@.example", "ada@x..example", "аda@x.example", "a\x00@x.example", "ada@x.example\n", "Ada <ada@x.example>", "ada@-x.example",
		strings.Repeat("a", 65) + "@x.example", "a@" + strings.Repeat("x.", 130) + "example", "ada@[127.0.0.1]", "ada@x_y.example",
	} {
		if key, ok := registry.EmailKey(in); ok {
			t.Errorf("EmailKey(%q) = %q, want it refused", in, key)
		}
	}
}

// The key of a key is the key itself.
func FuzzEmailKey(f *testing.F) {
	f.Add("Ada.Obi+x@Harmattan.Example")
	f.Add("a@ß.example")
	f.Fuzz(func(t *testing.T, s string) {
		key, ok := registry.EmailKey(s)
		if !ok {
			return
		}
		if again, ok := registry.EmailKey(key); !ok || again != key {
			t.Errorf("%q has the key %q, whose key is %q, %v", s, key, again, ok)
		}
		if strings.ToLower(key) != key || strings.ContainsAny(key, " \x00\n") {
			t.Errorf("key %q", key)
		}
	})
}
