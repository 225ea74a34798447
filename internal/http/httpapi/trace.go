package httpapi

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"levelboard/internal/http/edge"
	"levelboard/internal/store/ratelimit"
)

// traced returns the first handler of every route, which makes the request's span, or none when tracing is off.
func (a *api) traced() []gin.HandlerFunc {
	if a.deps.Tracer == nil {
		return nil
	}
	return []gin.HandlerFunc{a.trace}
}

// trace makes the request's span. It has the route's pattern, the method and the status,
// but nothing that a client wrote: a path contains ids, and a header may contain a key.
func (a *api) trace(c *gin.Context) {
	method, name := edge.Method(c), ""
	if method == "other" {
		method, name = "_OTHER", "HTTP"
	} else {
		name = method
	}
	attributes := []attribute.KeyValue{attribute.String("http.request.method", method)}
	if route := c.FullPath(); route != "" {
		name += " " + route
		attributes = append(attributes, attribute.String("http.route", route))
	}
	ctx, span := a.deps.Tracer.Start(c.Request.Context(), name,
		trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...), trace.WithLinks(clientTrace(c.Request)...))
	c.Request = c.Request.WithContext(ctx)
	defer func() { endSpan(c, span) }()
	c.Next()
}

// clientTrace returns the trace that the client says it is in, as a link. It is never the parent: anybody can call, and
// a parent decides about sampling and gets spans written into its trace. Its tracestate is free text, so it is dropped.
func clientTrace(r *http.Request) []trace.Link {
	said := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header)))
	if !said.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: said.WithTraceState(trace.TraceState{})}}
}

// endSpan ends the request's span; a second call does nothing. A stream's span ends where the
// answer begins: a span of hours, with a child for each read of the archive, would help nobody.
func endSpan(c *gin.Context, span trace.Span) {
	if !span.IsRecording() {
		return
	}
	status := c.Writer.Status()
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if s := stateOf(c); s != nil {
		span.SetAttributes(attribute.String("levelboard.request_id", s.ID))
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// measured records a request's duration, with its trace as the exemplar if it has one.
func (a *api) measured(ctx context.Context, to prometheus.Observer, seconds float64) {
	if a.deps.Tracer != nil {
		span := trace.SpanContextFromContext(ctx)
		if with, ok := to.(prometheus.ExemplarObserver); ok && span.IsSampled() {
			with.ObserveWithExemplar(seconds, prometheus.Labels{"trace_id": span.TraceID().String()})
			return
		}
	}
	to.Observe(seconds)
}

// tracedLimiter makes a span of each charge. The span has the scope of a budget, but not its owner.
type tracedLimiter struct {
	Limiter
	tracer trace.Tracer
}

// Charge implements Limiter.
func (l tracedLimiter) Charge(ctx context.Context, budgets ...ratelimit.Budget) (ratelimit.Decision, error) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return l.Limiter.Charge(ctx, budgets...)
	}
	ctx, span := l.tracer.Start(ctx, "charge the limits")
	defer span.End()
	decision, err := l.Limiter.Charge(ctx, budgets...)
	if err != nil {
		span.SetStatus(codes.Error, "")
		return decision, err
	}
	outcome := "allowed"
	if !decision.Allowed {
		outcome = "limited"
	}
	span.SetAttributes(attribute.String("levelboard.limit.outcome", outcome), attribute.String("levelboard.limit.scope", decision.Scope))
	return decision, nil
}
