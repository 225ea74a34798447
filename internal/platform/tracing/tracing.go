// Package tracing sends traces to an OpenTelemetry collector, when the standard OTEL_ variables ask for it. It is the only
// package that knows the SDK; those that make spans are handed a trace.Tracer. docs/tracing.md says what is traced.
package tracing

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	otelsdk "go.opentelemetry.io/otel/sdk"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// scope is the instrumentation scope of all spans.
const scope = "levelboard"

// Options are what Start is told.
type Options struct {
	Settings Settings
	Version  string       // of the service
	Log      *slog.Logger // told about a collector that cannot be reached, once a minute
}

// Tracing is a running pipeline of spans. The nil *Tracing is one that is off, with all its methods.
type Tracing struct {
	provider  *sdk.TracerProvider
	collector *collector
}

// Start starts sending, with one goroutine that Stop ends; it does not connect, and a collector that is away is no error.
// It returns nil, and starts nothing, when the settings do not turn tracing on.
func Start(o Options) *Tracing {
	if !o.Settings.On() {
		return nil
	}
	c := newCollector(o.Settings, o.Log)
	exporter := otlptrace.NewUnstarted(c)
	_ = exporter.Start(context.Background()) // it is the collector's, which does nothing
	provider := sdk.NewTracerProvider(
		sdk.WithSampler(o.Settings.sampler),
		sdk.WithResource(describe(o.Settings, o.Version)),
		// A full queue drops spans: no request waits for its trace.
		sdk.WithBatcher(exporter),
	)
	return &Tracing{provider: provider, collector: c}
}

// describe says whose spans they are. Nothing of the host or the process is looked up.
func describe(s Settings, version string) *resource.Resource {
	attributes := []attribute.KeyValue{
		attribute.String("service.name", "levelboard"), attribute.String("service.version", version),
		attribute.String("telemetry.sdk.language", "go"), attribute.String("telemetry.sdk.name", "opentelemetry"),
		attribute.String("telemetry.sdk.version", otelsdk.Version()),
	}
	for name, value := range s.resource {
		attributes = append(attributes, attribute.String(name, value))
	}
	return resource.NewSchemaless(attributes...)
}

// Tracer makes the spans; nil when tracing is off, so that whoever makes spans can leave all of it out.
func (t *Tracing) Tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(scope)
}

// Stop sends what is queued until ctx ends, and drops the rest. It returns when nothing of tracing runs any more, which is
// right after ctx ended at the latest. Spans that end later are dropped.
func (t *Tracing) Stop(ctx context.Context) {
	if t == nil {
		return
	}
	unhook := context.AfterFunc(ctx, t.collector.giveUp)
	defer unhook()
	// Not with ctx: the SDK does nothing at all when that has ended already, and leaves its goroutine behind when it ends
	// meanwhile. Once the collector has given up, nothing there waits. There is no error, since a collector returns none.
	_ = t.provider.Shutdown(context.WithoutCancel(ctx))
	t.collector.giveUp()
}
