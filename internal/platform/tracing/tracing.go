// Package tracing sends traces to an OpenTelemetry collector when the standard OTEL_ variables ask for it. Only this
// package uses the SDK. It makes no spans: packages that do get a trace.Tracer. docs/tracing.md says what is traced.
package tracing

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// scope is the instrumentation scope of all spans.
const scope = "levelboard"

// Tracing sends spans. All methods of a nil *Tracing do nothing.
type Tracing struct {
	provider *sdk.TracerProvider
	exporter *otlptrace.Exporter
}

// wanted reports whether the environment turns traces on: by OTEL_TRACES_EXPORTER or, if that is not set, by an endpoint.
func wanted() bool {
	endpoint := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
	exporter := os.Getenv("OTEL_TRACES_EXPORTER")
	return (exporter == "otlp" || exporter == "" && endpoint) && !strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true")
}

// Start starts sending as the OTEL_ variables say, or returns nil when they do not ask for it. It does not connect.
// A variable that the SDK does not understand, and later a collector that does not answer, is a warning in the log.
func Start(ctx context.Context, version string, log *slog.Logger) *Tracing {
	if !wanted() {
		return nil
	}
	otel.SetLogger(logr.FromSlogHandler(withoutValues{log.Handler()}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("OpenTelemetry: traces are dropped, or a variable is not understood", "error", err)
	}))
	// A batch that cannot be sent is dropped: traces are samples, and old ones would only delay the new ones.
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		otel.Handle(err)
		return nil
	}
	// The provider reads the variables again and reports mistakes in them.
	whose, _ := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "levelboard"), attribute.String("service.version", version)), resource.WithFromEnv())
	return &Tracing{sdk.NewTracerProvider(sdk.WithResource(whose), sdk.WithBatcher(exporter)), exporter}
}

// Tracer makes the spans. It is nil when tracing is off, so that callers can skip all work for spans.
func (t *Tracing) Tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(scope)
}

// Stop sends the queued spans until ctx ends, and drops the rest and all later ones. When it returns, nothing of tracing runs.
func (t *Tracing) Stop(ctx context.Context) {
	if t == nil {
		return
	}
	whole := context.WithoutCancel(ctx) // if ctx ended during Shutdown, the SDK would leave its goroutine running
	unhook := context.AfterFunc(ctx, func() { _ = t.exporter.Shutdown(whole) })
	defer unhook()
	_ = t.provider.Shutdown(whole) // errors went to the error handler
}

// withoutValues logs only the message: the SDK adds the value of a variable that it does not understand, which may be a secret.
type withoutValues struct{ slog.Handler }

// Handle implements slog.Handler.
func (h withoutValues) Handle(ctx context.Context, r slog.Record) error {
	return h.Handler.Handle(ctx, slog.NewRecord(r.Time, slog.LevelWarn, "OpenTelemetry: "+r.Message, r.PC))
}

// LogHandler adds the trace's id (traceId) to each line whose context has a
// sampled span. The other traces are not sent, so their ids would lead nowhere.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, line slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		line = line.Clone()
		line.AddAttrs(slog.String("traceId", span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
