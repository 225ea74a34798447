package redisstore

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Traced makes a span of each script that runs for something traced; it fits Options.Trace. Nothing of the keys, the
// arguments or the text of an error gets into it: they name guilds and users. The span is made when the script has ended, so
// that it covers the wait for a connection and whatever was sent together with it.
func Traced(tracer trace.Tracer) func(ctx context.Context, script string, began time.Time, err error) {
	return func(ctx context.Context, script string, began time.Time, err error) {
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
}

// call is calls.do with a span. Calls that are sent together each have one, in the trace of their own request.
func (s *Store) call(ctx context.Context, l *call) error {
	if s.trace == nil {
		return s.calls.do(ctx, l)
	}
	began := time.Now()
	err := s.calls.do(ctx, l)
	s.trace(ctx, l.kind.script.name, began, err)
	return err
}
