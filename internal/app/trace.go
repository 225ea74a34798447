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

// traceTime is how long the traces of the last requests may take to get away at a stop.
const traceTime = 2 * time.Second

// startTracing comes before everything that may be traced.
func (a *App) startTracing(ctx context.Context) {
	if a.opts.Untraced {
		return
	}
	a.tracing = tracing.Start(ctx, a.opts.Version, a.log)
	if a.tracing != nil {
		a.log = slog.New(tracing.LogHandler(a.log.Handler()))
	}
}

// stopTracing sends what is queued while the last snapshot is written, which so loses no time to a collector that does not
// answer. The returned function waits for it.
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

// observeQueries counts the queries of Postgres, and makes a span of each that a request waits for, or the loading of a guild for
// one. Nothing of a query or of an error's text gets into it.
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
