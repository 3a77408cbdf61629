package phone_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/values/phone"
)

// A number is printed masked by every verb and logger, alone or inside other values.
func TestNumberPrintsMasked(t *testing.T) {
	t.Parallel()

	n, ok := phone.FromInt(2348031234567)
	if !ok {
		t.Fatal("FromInt refused a number")
	}
	type holder struct{ Phone phone.Number }
	for _, value := range []any{n, &n, holder{n}, &holder{n}, []phone.Number{n}, map[phone.Number]int{n: 1}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%20s"} {
			got := fmt.Sprintf(verb, value)
			if strings.Contains(got, "31234") || strings.Contains(got, fmt.Sprintf("%x", n.Int())) || !strings.Contains(got, "+234********67") {
				t.Errorf("%s of %T prints %s", verb, value, got)
			}
		}
	}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).LogAttrs(t.Context(), slog.LevelInfo, "verify", slog.Any("phone", n), slog.Any("request", holder{n}))
	}
	if strings.Contains(log.String(), "31234") || strings.Count(log.String(), "+234********67") < 3 {
		t.Errorf("logged: %s", log.String())
	}
}

// The masked form hides at least three digits of every number.
func TestMasked(t *testing.T) {
	t.Parallel()

	for digits, want := range map[int64]string{
		0:               "+*",
		491234:          "+491***",
		68341234:        "+683*****",
		290212345:       "+290****45",
		2348031234567:   "+234********67",
		999999999999999: "+999**********99",
	} {
		n, _ := phone.FromInt(digits)
		if got := n.Masked(); got != want || n.String() != want {
			t.Errorf("Masked of %d = %q, want %q", digits, got, want)
		}
	}
}

// FromInt is the reverse of Int, and refuses integers that are not E.164 numbers.
func TestFromInt(t *testing.T) {
	t.Parallel()

	for digits, want := range map[int64]bool{
		-2348031234567: false, 0: false, 99_999: false, 100_000: true,
		2348031234567: true, 999_999_999_999_999: true, 1_000_000_000_000_000: false,
	} {
		n, ok := phone.FromInt(digits)
		if ok != want || ok == n.IsZero() {
			t.Errorf("FromInt(%d) = %v, zero %v", digits, ok, n.IsZero())
		}
		if ok && (n.Int() != digits || n.E164() != fmt.Sprintf("+%d", digits)) {
			t.Errorf("FromInt(%d) is %d, %q", digits, n.Int(), n.E164())
		}
		if !ok && n.E164() != "" {
			t.Errorf("the zero Number is %q", n.E164())
		}
	}
}
