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
// OpenTelemetry's own environment variables apply: headers, the sampler,
// attributes of the resource. An endpoint that does not answer never delays a
// request.
func Traces(ctx context.Context, endpoint, version string, log *slog.Logger) (shutdown func(context.Context) error, err error) {
	if endpoint == "" {
		return func(context.Context) error { return nil }, nil
	}
	target, err := url.Parse(endpoint)
	if err != nil {
		return nil, errors.New("telemetry: the endpoint for traces is not a URL")
	}
	// As in OpenTelemetry's specification, an address without a path gets the usual path.
	if strings.Trim(target.Path, "/") == "" {
		target.Path = "/v1/traces"
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(target.String()))
	if err != nil {
		return nil, fmt.Errorf("telemetry: create the exporter for traces: %w", err)
	}
	description, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "lineproof"), attribute.String("service.version", version)),
		resource.WithFromEnv(), // last, so that the environment overrides the rest
	)
	if err != nil {
		return nil, fmt.Errorf("telemetry: describe this service for traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.LogAttrs(context.WithoutCancel(ctx), slog.LevelWarn, "traces were not sent", slog.String("error", err.Error()))
	}))
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(description))
	otel.SetTracerProvider(provider)
	// No baggage: data that a client sends must not be passed on.
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider.Shutdown, nil
}
