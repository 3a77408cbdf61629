package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

// Traces makes OpenTelemetry's global tracer send spans to endpoint (OTLP over
// HTTP) and carry W3C trace contexts, until shutdown, which sends what is left.
// With an empty endpoint it does nothing, and spans cost nothing.
//
// OpenTelemetry's own variables are honoured: headers, the sampler, attributes
// of the resource. An endpoint that does not answer never holds a request up.
func Traces(ctx context.Context, endpoint, version string, log *slog.Logger) (shutdown func(context.Context) error, err error) {
	if endpoint == "" {
		return func(context.Context) error { return nil }, nil
	}
	target, err := url.Parse(endpoint)
	if err != nil {
		return nil, errors.New("telemetry: the endpoint of traces is not a URL")
	}
	// As OpenTelemetry has it: an address alone means the usual path below it.
	if strings.Trim(target.Path, "/") == "" {
		target.Path = "/v1/traces"
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(target.String()))
	if err != nil {
		return nil, fmt.Errorf("telemetry: make the exporter of traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "lineproof"), attribute.String("service.version", version)),
		resource.WithFromEnv(), // last, so that the operator has the last word
	)
	if err != nil {
		return nil, fmt.Errorf("telemetry: describe this service for traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.LogAttrs(context.WithoutCancel(ctx), slog.LevelWarn, "traces were not sent", slog.String("error", err.Error()))
	}))
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
	otel.SetTracerProvider(provider)
	// No baggage: what a stranger sends along must not travel further.
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider.Shutdown, nil
}
