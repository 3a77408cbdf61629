package telemetry_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

// A span reaches the endpoint over HTTP, at the usual path, with the service's
// name and version, at the latest on shutdown; and its context is propagated in
// W3C's format, without baggage.
func TestTracesAreExported(t *testing.T) {
	t.Parallel()
	type export struct {
		path, kind string
		body       []byte
	}
	exports := make(chan export, 8)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		exports <- export{r.URL.Path, r.Header.Get("Content-Type"), body}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer collector.Close()

	shutdown, err := telemetry.Traces(t.Context(), collector.URL, "v9.8.7", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := otel.Tracer("test").Start(t.Context(), "probe-span")
	header := http.Header{}
	otel.GetTextMapPropagator().Inject(ctx, propagation.HeaderCarrier(header))
	span.End()
	if err := shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}

	var got export
	select {
	case got = <-exports:
	default:
		t.Fatal("shutdown returned and nothing was exported")
	}
	if got.path != "/v1/traces" || got.kind != "application/x-protobuf" {
		t.Errorf("exported to %s as %s", got.path, got.kind)
	}
	for _, text := range []string{"probe-span", "lineproof", "v9.8.7"} {
		if !bytes.Contains(got.body, []byte(text)) {
			t.Errorf("the export does not mention %q", text)
		}
	}
	if id := span.SpanContext().TraceID().String(); !strings.Contains(header.Get("Traceparent"), id) {
		t.Errorf("traceparent = %q, want trace %s", header.Get("Traceparent"), id)
	}
	if len(header) != 1 {
		t.Errorf("headers = %v, want traceparent alone", header)
	}
}

// Without an endpoint nothing is set up and nothing is left to shut down; the error
// for an invalid one does not contain it.
func TestTracesWithoutEndpointDoNothing(t *testing.T) {
	t.Parallel()
	shutdown, err := telemetry.Traces(t.Context(), "", "v1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := telemetry.Traces(t.Context(), "http://canary\x7f", "v1", slog.New(slog.DiscardHandler)); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("error = %v, want one that does not repeat the endpoint", err)
	}
}
