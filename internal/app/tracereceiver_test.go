package app_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"levelboard/internal/testing/apitest"
)

// receiver takes traces over OTLP/HTTP, as a collector does.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
	whose string // the spans' resources as text
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var sent tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		if err != nil || request.Method != http.MethodPost || request.URL.Path != "/v1/traces" || request.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("the collector got %s %s (%s, %v), want an OTLP request", request.Method, request.URL, request.Header.Get("Content-Type"), err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, of := range sent.GetResourceSpans() {
			r.whose += prototext.Format(of.GetResource())
			for _, in := range of.GetScopeSpans() {
				r.spans = append(r.spans, in.GetSpans()...)
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// named returns the only span of this name in a trace.
func (r *receiver) named(t *testing.T, traceID []byte, name string) *tracepb.Span {
	t.Helper()
	var found []*tracepb.Span
	var others []string
	for _, span := range r.spans {
		if bytes.Equal(span.GetTraceId(), traceID) {
			others = append(others, span.GetName())
			if span.GetName() == name {
				found = append(found, span)
			}
		}
	}
	if len(found) != 1 {
		t.Fatalf("the trace has %d spans %q, want one; its spans are %q", len(found), name, others)
	}
	return found[0]
}

// attributeOf returns an attribute as text, or "" without it.
func attributeOf(span *tracepb.Span, name string) string {
	for _, a := range span.GetAttributes() {
		if a.GetKey() == name {
			return regexp.MustCompile(`^\w+:\s*`).ReplaceAllString(prototext.MarshalOptions{}.Format(a.GetValue()), "")
		}
	}
	return ""
}

// traceOf returns the root span of the request with this answer.
func (r *receiver) traceOf(t *testing.T, got apitest.Response) *tracepb.Span {
	t.Helper()
	for _, span := range r.spans {
		if strings.Contains(attributeOf(span, "levelboard.request_id"), got.Header.Get("X-Request-Id")) {
			return span
		}
	}
	t.Fatalf("none of %d spans is of the request %s", len(r.spans), got.Header.Get("X-Request-Id"))
	return nil
}
