package snapshot

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// traced is h's own context in the trace of the request that began a load, with a span for the load. When that request is
// not traced, neither is the load.
func (h *Hydrator) traced(request context.Context) (context.Context, trace.Span) {
	caller := trace.SpanFromContext(request)
	if !caller.IsRecording() {
		return h.ctx, trace.SpanFromContext(h.ctx)
	}
	return caller.TracerProvider().Tracer("levelboard").Start(trace.ContextWithSpan(h.ctx, caller), "load the guild")
}
