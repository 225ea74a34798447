package tracing_test

import (
	"bytes"
	"compress/gzip"
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

// start starts with these variables; the lines of its log are in the buffer once it is stopped.
func start(t *testing.T, environ ...string) (*tracing.Tracing, *bytes.Buffer) {
	t.Helper()
	settings, warnings := tracing.FromEnviron(environ)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	log := &bytes.Buffer{}
	return tracing.Start(tracing.Options{Settings: settings, Version: "9", Log: slog.New(slog.NewTextHandler(log, nil))}), log
}

func TestOffIsNothing(t *testing.T) {
	off, _ := start(t, "OTEL_SERVICE_NAME=x")
	if off != nil || off.Tracer() != nil {
		t.Errorf("it is %v with the tracer %v", off, off.Tracer())
	}
	off.Stop(t.Context())
}

// What a collector is sent, with everything that can be set.
func TestWhatIsSent(t *testing.T) {
	var mu sync.Mutex
	var got []byte
	var header http.Header
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got, _ = io.ReadAll(r.Body)
		header, path = r.Header, r.URL.Path
	}))
	defer server.Close()
	on, log := start(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL+"/base/", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_SERVICE_NAME=levels",
		"OTEL_RESOURCE_ATTRIBUTES=service.name=other,deployment.environment.name=test%20one",
		"OTEL_EXPORTER_OTLP_HEADERS=api-key=one,x-more=a%20b", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=api-key=two")
	_, span := on.Tracer().Start(t.Context(), "it")
	span.End()
	on.Stop(t.Context())
	if path != "/base/v1/traces" || header.Get("Api-Key") != "two" || header.Get("X-More") != "a b" || log.Len() > 0 {
		t.Errorf("path %s, headers %v, log %s", path, header, log)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	var sent tracepb.TracesData
	if err := proto.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	text := prototext.Format(&sent)
	for _, want := range []string{`"it"`, `"levels"`, `"test one"`, `"9"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if strings.Contains(text, `"other"`) {
		t.Errorf("the service has another name too: %s", text)
	}
	on.Tracer().Start(t.Context(), "after the stop")
}

// Each stop sends one batch; more than one batch fails, and there is one line about it, without the address.
func TestACollectorThatIsAwayIsOneWarning(t *testing.T) {
	gone := testenv.FreeAddr(t)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Redirect(w, &http.Request{}, "http://"+gone, http.StatusTemporaryRedirect)
	}))
	defer refusing.Close()
	for what, address := range map[string]string{"refused": "http://user:s3cret@" + gone + "/?token=s3cret", "answered 307": refusing.URL} {
		on, log := start(t, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+address, "OTEL_EXPORTER_OTLP_HEADERS=api-key=s3cret")
		for range 1500 { // three batches
			_, span := on.Tracer().Start(t.Context(), "it")
			span.End()
		}
		on.Stop(t.Context())
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, what) || strings.Contains(text, "s3cret") {
			t.Errorf("%s: the log is\n%s", what, text)
		}
	}
}

func TestTheTraceIsInTheLogOfWhatIsSent(t *testing.T) {
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
		t.Errorf("the log is\n%s", out)
	}
}
