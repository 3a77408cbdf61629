package telemetry

import (
	"context"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// timeFormat is the time format of the API, so that log lines and responses can
// be compared.
const timeFormat = "2006-01-02T15:04:05.000Z"

// NewLogger returns the logger of the process. Every line carries the node, the
// version and, within a trace, the trace's id. Level is debug, info, warn or
// error; format is json or text. Other values mean info and json: package config
// has already rejected them.
func NewLogger(w io.Writer, level, format, node string) *slog.Logger {
	var minLevel slog.Level
	if minLevel.UnmarshalText([]byte(level)) != nil {
		minLevel = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: minLevel, ReplaceAttr: utcMilliseconds}
	var handler slog.Handler = slog.NewJSONHandler(w, options)
	if format == "text" {
		handler = slog.NewTextHandler(w, options)
	}
	return slog.New(traced{handler}).With(slog.String("node", node), slog.String("version", Version()))
}

func utcMilliseconds(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime {
		a.Value = slog.StringValue(a.Value.Time().UTC().Format(timeFormat))
	}
	return a
}

// traced adds the id of the current trace to each line.
type traced struct{ slog.Handler }

// Handle implements [slog.Handler].
func (t traced) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()))
	}
	return t.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }
