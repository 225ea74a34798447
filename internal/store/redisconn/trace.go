package redisconn

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// traceRun makes a span of a finished script if its caller is traced. The span begins at began, so it covers the wait for a connection. It contains
// no keys, arguments and texts of errors, since these name guilds and users.
func traceRun(ctx context.Context, tracer trace.Tracer, script string, began time.Time, err error) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return
	}
	_, span := tracer.Start(ctx, "redis "+script, trace.WithTimestamp(began), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", "redis"), attribute.String("db.stored_procedure.name", script)))
	if word := refusalWord(err); word != "" {
		span.SetAttributes(attribute.String("levelboard.refusal", word))
	} else if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
