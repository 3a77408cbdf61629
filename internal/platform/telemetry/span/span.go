// Package span adds the parts of an operation to its trace. Without traces it costs nothing: no
// span is made below one that is not recorded.
package span

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const tracer = "lineproof"

// Start begins a part of the operation whose span ctx has. The function that it returns ends the
// part; its error, if any, is why it failed.
func Start(ctx context.Context, name string) (context.Context, func(error)) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func(error) {}
	}
	ctx, s := otel.Tracer(tracer).Start(ctx, name) //nolint:spancheck // the caller ends it
	return ctx, func(err error) {                  //nolint:spancheck // the caller ends it
		if err != nil {
			s.SetStatus(codes.Error, "")
		}
		s.End()
	}
}

// Record records work in the background that has ended and that no request waits for, with how
// many items it was about. The status has no text: an error may hold what must not leave.
func Record(ctx context.Context, name string, begin time.Time, items int, failed bool) {
	_, s := otel.Tracer(tracer).Start(ctx, name, trace.WithNewRoot(), trace.WithTimestamp(begin), trace.WithAttributes(attribute.Int("lineproof.items", items)))
	if failed {
		s.SetStatus(codes.Error, "")
	}
	s.End()
}
