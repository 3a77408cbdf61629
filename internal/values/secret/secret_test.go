package secret_test

import (
	"bytes"
	"encoding/json"
	jsonv2 "encoding/json/v2"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/values/secret"
)

const canary = "canary-6f1d"

// No verb of package fmt reaches the characters of a Text, alone, behind a pointer
// or inside a struct, slice or map.
func TestTextPrintsThroughNoVerb(t *testing.T) {
	t.Parallel()

	type holder struct{ Password secret.Text }
	text := secret.Text(canary)
	for _, value := range []any{
		text, &text,
		holder{text},
		&holder{text},
		[]secret.Text{text},
		map[string]secret.Text{"k": text},
		map[secret.Text]int{text: 1},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%10s", "%T %v"} {
			args := []any{value}
			if strings.Count(verb, "%") == 2 {
				args = []any{value, value}
			}
			got := fmt.Sprintf(verb, args...)
			if strings.Contains(got, canary) || strings.Contains(strings.ToLower(strings.ReplaceAll(got, " ", "")), fmt.Sprintf("%x", canary)) {
				t.Errorf("%s of %T shows the secret: %s", verb, value, got)
			}
		}
	}
	if got := fmt.Sprint(text, text.String(), text.GoString()); got != "[secret][secret][secret]" {
		t.Errorf("printed as %q", got)
	}
	if got := fmt.Errorf("wrapped: %v", text).Error(); got != "wrapped: [secret]" {
		t.Errorf("an error says %q", got)
	}
}

// Encoders and loggers write [secret]; decoders still fill a Text.
func TestTextIsReadButNotWritten(t *testing.T) {
	t.Parallel()

	type holder struct{ Password secret.Text }
	in := []byte(`{"Password":"` + canary + `"}`)
	for name, codec := range map[string]struct {
		decode func([]byte, any) error
		encode func(any) ([]byte, error)
	}{
		"encoding/json": {json.Unmarshal, json.Marshal},
		"json v2": {
			func(b []byte, v any) error { return jsonv2.Unmarshal(b, v) },
			func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var h holder
			if err := codec.decode(in, &h); err != nil {
				t.Fatal(err)
			}
			if h.Password.Reveal() != canary {
				t.Errorf("decoded %q", h.Password.Reveal())
			}
			out, err := codec.encode(h)
			if err != nil || string(out) != `{"Password":"[secret]"}` {
				t.Errorf("encoded %s, %v", out, err)
			}
		})
	}

	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).LogAttrs(t.Context(), slog.LevelInfo, "login",
			slog.Any("password", secret.Text(canary)), slog.Any("form", holder{canary}))
	}
	if strings.Contains(log.String(), canary) || strings.Count(log.String(), "[secret]") != 4 {
		t.Errorf("the log shows the secret, or nothing: %s", log.String())
	}
	// A handler of another kind gets the stand-in too, never the Text itself.
	if v := slog.AnyValue(secret.Text(canary)).Resolve(); v.Kind() != slog.KindString || v.String() != "[secret]" {
		t.Errorf("a handler is given %v", v)
	}
}
