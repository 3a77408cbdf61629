// Package secret creates and checks what must not leak: credentials, the keyed
// hashes that are stored of them, and passwords.
//
// What it guarantees:
//
//   - A [Text] does not print. Code that needs the characters calls [Text.Reveal],
//     and a reader can search for that call.
//   - [Parse] tells a credential created by [New] from a mistyped one without a
//     query, and secret scanners find it in a leak by its prefix.
//   - [Peppers] turn a credential into the only form that is stored.
//   - [Passwords] never hash more at once than configured, and an account that does
//     not exist takes as long as one that does.
//   - [CheckPassword] returns everything that is wrong with a new password at once.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is printed instead of every secret.
const hidden = "[secret]"

// Text is text that does not print: not with any verb of package fmt, not in an
// encoder and not in a logger.
//
// There is one exception, because package fmt calls no methods on unexported
// fields: a struct that is printed whole shows a Text in an unexported field. Keep a
// Text in exported fields only.
type Text string

// Reveal returns the characters. Every call is a place where a secret can leak, so
// call it only where the secret is used.
func (t Text) Reveal() string { return string(t) }

// String implements [fmt.Stringer] without the secret.
func (Text) String() string { return hidden }

// GoString implements [fmt.GoStringer] without the secret.
func (Text) GoString() string { return hidden }

// Format implements [fmt.Formatter], so that no verb reaches the characters.
func (Text) Format(s fmt.State, _ rune) {
	// A Formatter has nowhere to report an error; package fmt ignores its own too.
	_, _ = io.WriteString(s, hidden)
}

// LogValue implements [slog.LogValuer] without the secret.
func (Text) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText implements [encoding.TextMarshaler] without the secret, for JSON and
// everything else that encodes. There is no UnmarshalText: decoders fill a Text as
// they fill any string.
func (Text) MarshalText() ([]byte, error) { return []byte(hidden), nil }
