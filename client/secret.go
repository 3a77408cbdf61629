package client

import (
	"fmt"
	"io"
	"log/slog"
)

const hidden = "[secret]"

// Secret is a credential or a password. Package fmt, loggers and encoders show
// [secret] in its place; string(s) returns the characters.
type Secret string

// String implements [fmt.Stringer] without the secret.
func (Secret) String() string { return hidden }

// Format implements [fmt.Formatter], so that no verb reaches the characters.
func (Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, hidden) // a Formatter has nowhere to report an error
}

// LogValue implements [slog.LogValuer] without the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText implements [encoding.TextMarshaler] without the secret, so that a
// struct with a Secret can be encoded for a log. Use string(s) to store it.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
