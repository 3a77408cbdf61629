// Package secret makes and checks the things that must not leak: credentials,
// the keyed hashes that stand for them at rest, and passwords.
//
// What it promises:
//
//   - A [Text] does not print. Whoever needs the characters says so with
//     [Text.Reveal], and a reader can search for that word.
//   - A credential made by [New] can be told from a mistyped one by [Parse]
//     without a look-up, and can be found in a leak by its prefix.
//   - [Peppers] turn a credential into the only form that is stored.
//   - [Passwords] never hash more at once than the machine was promised to bear,
//     and an account that does not exist costs as much as one that does.
//   - [Judge] says everything that is wrong with a new password, at once.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is what stands in the place of every secret that is printed.
const hidden = "[secret]"

// Text is text that does not print. It gives way to no verb of package fmt, no
// encoder and no logger.
//
// One road stays open, because package fmt calls no methods on what it cannot
// export: a struct that is printed whole shows a Text in an unexported field. Keep
// a Text in exported fields, or do not keep it.
type Text string

// Reveal returns the characters. Every call is a place where a secret leaves its
// type, so it belongs where the secret is used and nowhere else.
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
