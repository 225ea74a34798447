package tracing_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"levelboard/internal/platform/tracing"
	"levelboard/internal/testing/testenv"
)

// start starts tracing with these variables. The buffer has its log once tracing is stopped.
func start(t *testing.T, environ ...string) (*tracing.Tracing, *bytes.Buffer) {
	t.Helper()
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	log := &bytes.Buffer{}
	return tracing.Start(t.Context(), "9", slog.New(slog.NewTextHandler(log, nil))), log
}

func TestVariablesTurnTracingOn(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"
	for environ, want := range map[string]bool{ // variables separated by spaces
		"": false,
		"LEVELBOARD_LISTEN=:1 OTEL_SERVICE_NAME=x OTEL_TRACES_SAMPLER=always_on": false,
		"OTEL_TRACES_EXPORTER=otlp": true,
		endpoint:                    true,
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://127.0.0.1:1/in": true,
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://127.0.0.1:1":    false,
		endpoint + " OTEL_TRACES_EXPORTER=none":                     false,
		endpoint + " OTEL_SDK_DISABLED=TRUE":                        false,
		endpoint + " OTEL_SDK_DISABLED=false":                       true,
		"OTEL_EXPORTER_OTLP_ENDPOINT=":                              false,
		endpoint + " OTEL_TRACES_EXPORTER=zipkin":                   false,
		endpoint + " OTEL_TRACES_SAMPLER=parentbased_always_off":    true,
	} {
		t.Run(environ, func(t *testing.T) {
			on, log := start(t, strings.Fields(environ)...)
			on.Stop(t.Context())
			if on != nil != want || log.Len() > 0 {
				t.Errorf("tracing is on: %v, want %v; the log is %s", on != nil, want, log)
			}
		})
	}
}

// A value that the SDK does not understand makes one log line without the value, and tracing continues.
func TestAnInvalidVariableIsAWarning(t *testing.T) {
	for _, variable := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://s3cret@%zz", "OTEL_EXPORTER_OTLP_HEADERS=api-key=s3cret%zz", "OTEL_EXPORTER_OTLP_TIMEOUT=s3cret",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere/s3cret", "OTEL_TRACES_SAMPLER=sometimes",
	} {
		t.Run(variable, func(t *testing.T) {
			on, log := start(t, "OTEL_TRACES_EXPORTER=otlp", variable)
			if text := log.String(); on == nil || strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=WARN") || strings.Contains(text, "s3cret") {
				t.Errorf("tracing is on: %v, want true; the log is %q, want one warning without the value", on != nil, text)
			}
			on.Stop(t.Context())
		})
	}
}

func TestTracingThatIsOffIsNil(t *testing.T) {
	off, _ := start(t, "OTEL_SERVICE_NAME=x")
	if off != nil || off.Tracer() != nil {
		t.Errorf("tracing is %v with the tracer %v, want nil", off, off.Tracer())
	}
	off.Stop(t.Context())
}

// A collector gets spans with the service's name and version.
func TestSpansAreSentToTheCollector(t *testing.T) {
	var mu sync.Mutex
	var sent tracepb.TracesData
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		if err != nil || r.URL.Path != "/base/v1/traces" || r.Header.Get("Api-Key") != "two" {
			t.Errorf("the collector got %s with %v (%v), want /base/v1/traces with the header", r.URL.Path, r.Header, err)
		}
	}))
	defer server.Close()
	on, log := start(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL+"/base/", "OTEL_SERVICE_NAME=levels", "OTEL_EXPORTER_OTLP_HEADERS=api-key=two")
	_, span := on.Tracer().Start(t.Context(), "it")
	span.End()
	on.Stop(t.Context())
	text := prototext.Format(&sent)
	for _, want := range []string{`"it"`, `"levels"`, `"9"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the sent spans lack %s: %s", want, text)
		}
	}
	if log.Len() > 0 {
		t.Errorf("the log is %s, want nothing", log)
	}
	on.Tracer().Start(t.Context(), "after the stop")
}

// The log limits repeated lines. None contains a secret of the address.
func TestAFailingCollectorIsAWarning(t *testing.T) {
	gone := testenv.FreeAddr(t)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer refusing.Close()
	for what, address := range map[string]string{"refused": "http://user:s3cret@" + gone + "/?token=s3cret", "401": refusing.URL} {
		t.Run(what, func(t *testing.T) {
			on, log := start(t, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+address, "OTEL_EXPORTER_OTLP_HEADERS=api-key=s3cret")
			_, span := on.Tracer().Start(t.Context(), "it")
			span.End()
			on.Stop(t.Context())
			if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, what) || strings.Contains(text, "s3cret") {
				t.Errorf("the log is\n%s\nwant one line with %q and no secret", text, what)
			}
		})
	}
}

func TestLinesOfSampledTracesHaveTheTraceID(t *testing.T) {
	on, _ := start(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1")
	sampled, span := on.Tracer().Start(t.Context(), "it")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	on.Stop(ended)
	out := &bytes.Buffer{}
	log := slog.New(tracing.LogHandler(slog.NewTextHandler(out, nil))).With("a", 1)
	log.InfoContext(sampled, "sent")
	log.InfoContext(t.Context(), "of no trace")
	unsampled := span.SpanContext().WithTraceFlags(0)
	log.InfoContext(trace.ContextWithSpanContext(t.Context(), unsampled), "not sent")
	lines := strings.Split(out.String(), "\n")
	if !strings.HasSuffix(lines[0], "msg=sent a=1 traceId="+span.SpanContext().TraceID().String()) || strings.Contains(lines[1]+lines[2], "traceId") {
		t.Errorf("the log is\n%s\nwant the trace id in the first line only", out)
	}
}
