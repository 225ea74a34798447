package app

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"levelboard/internal/platform/tracing"
	"levelboard/internal/store/postgres"
)

// traceTime bounds how long a stop waits for the last traces to be sent.
const traceTime = 2 * time.Second

// startTracing starts tracing. Call it before all that may be traced.
func (a *App) startTracing(ctx context.Context) {
	if a.opts.Untraced {
		return
	}
	a.tracing = tracing.Start(ctx, a.opts.Version, a.log)
	if a.tracing != nil {
		a.log = slog.New(tracing.LogHandler(a.log.Handler()))
	}
}

// stopTracing sends the queued spans in the background, so that a silent collector
// does not delay the last snapshot. The returned function waits until they are sent.
func (a *App) stopTracing(ctx context.Context) (wait func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ctx, cancel := context.WithTimeout(ctx, traceTime)
		defer cancel()
		a.tracing.Stop(ctx)
	}()
	return func() { <-ended }
}

// observeQueries counts the queries of Postgres. It makes a span of each query that a request
// waits for, also while the request's guild is loaded. Spans contain no text of queries or errors.
func (a *App) observeQueries(queries queryMetrics) postgres.Observer {
	tracer := a.tracing.Tracer()
	return func(ctx context.Context, operation string, began time.Time, err error) {
		queries.record(operation, began, err)
		if tracer == nil || !trace.SpanFromContext(ctx).IsRecording() {
			return
		}
		_, span := tracer.Start(ctx, "archive "+operation, trace.WithTimestamp(began), trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(attribute.String("db.system.name", "postgresql"), attribute.String("db.operation.name", operation)))
		if err != nil {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
