package app_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"

	"levelboard/internal/app"
	"levelboard/internal/domain/apikey"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// startTraced runs a service that sends its traces to a receiver.
func startTraced(t *testing.T, log slog.Handler, environ []string, otel ...string) *service {
	t.Helper()
	for _, variable := range otel {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	return run(t, newWith(t, app.Options{Logger: slog.New(log), Version: "1.2.3"}, environ...))
}

const (
	clientTrace       = "0af7651916cd43dd8448eb211c80319c"
	clientTraceParent = "00-" + clientTrace + "-b7ad6b7169203331-01"
)

func TestARequestIsTracedThroughRedisAndTheArchive(t *testing.T) {
	collector, log := newReceiver(t), &testenv.Log{}
	// With a limit of its own the key's limit is charged.
	s := startTraced(t, slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}), append(onServers(t), "LEVELBOARD_RATE_LIMIT_KEY=1000"),
		"OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	g, u := s.guild(nil), newID()
	key := s.key(g)
	// The first request for the guild loads the guild's members.
	withTrace := func(r *http.Request) {
		r.Header.Set("Traceparent", clientTraceParent)
		r.Header.Set("Tracestate", "vendor=free-text-of-a-client")
	}
	created := s.Do("POST", memberPath(g, u), key, object{"xp": 7, "user": gopher}, withTrace).Want(t, 200)
	changed := s.patch(key, g, u, object{"increment": 1})
	again := s.Do("POST", memberPath(g, u), key, object{"xp": 7, "user": gopher}).Want(t, 409)
	madeUp, _ := apikey.Mint(apikey.NewID())
	unknownKey := s.Do("GET", memberPath(g, u), madeUp, nil).Want(t, 401)
	unknownGuild := s.Do("GET", memberPath(newID(), u), key, nil).Want(t, 404)
	metrics := openMetrics(t, s)
	s.stop(t)

	root := collector.traceOf(t, created)
	if root.GetName() != "POST /v2/levels/:entry/users/:userId" || len(root.GetParentSpanId()) > 0 || root.GetKind() != tracepb.Span_SPAN_KIND_SERVER {
		t.Errorf("the request's span is %v, want a server's root span named by its route", root)
	}
	if route, status := attributeOf(root, "http.route"), attributeOf(root, "http.response.status_code"); route != `"/v2/levels/:entry/users/:userId"` || status != "200" {
		t.Errorf("the span has the route %s and the status %s, want the template and 200", route, status)
	}
	// The span links to the client's trace and is not a part of it.
	if hex.EncodeToString(root.GetTraceId()) == clientTrace || len(root.GetLinks()) != 1 || hex.EncodeToString(root.GetLinks()[0].GetTraceId()) != clientTrace {
		t.Errorf("the trace is %x with the links %v, want a new trace with a link to %s", root.GetTraceId(), root.GetLinks(), clientTrace)
	}
	trace := root.GetTraceId()
	under := func(parent *tracepb.Span, names ...string) {
		t.Helper()
		for _, name := range names {
			child := collector.named(t, parent.GetTraceId(), name)
			if !bytes.Equal(child.GetParentSpanId(), parent.GetSpanId()) {
				t.Errorf("the span %q is not a child of %q", name, parent.GetName())
			}
			if child.GetStartTimeUnixNano() < root.GetStartTimeUnixNano() || child.GetEndTimeUnixNano() < child.GetStartTimeUnixNano() {
				t.Errorf("the span %q lasts from %d to %d, want it within its request", name, child.GetStartTimeUnixNano(), child.GetEndTimeUnixNano())
			}
		}
	}
	under(root, "charge the limits", "load the guild")
	loading := collector.named(t, trace, "load the guild")
	under(loading, "redis begin_hydration", "redis commit_hydration")
	under(collector.traceOf(t, unknownKey), "archive read_key")
	under(collector.traceOf(t, unknownGuild), "archive read_guild")
	under(loading, "archive read_last_day", "archive read_members")
	if got := attributeOf(collector.named(t, trace, "charge the limits"), "levelboard.limit.scope"); got != `"key"` {
		t.Errorf("the scope of the limit is %s, want key", got)
	}

	// The script ran twice: it refused before the guild was loaded. A refusal is no error.
	var refusals []string
	for _, span := range collector.spans {
		if span.GetName() == "redis create" && bytes.Equal(span.GetParentSpanId(), root.GetSpanId()) {
			refusals = append(refusals, attributeOf(span, "levelboard.refusal"))
		}
		if span.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			t.Errorf("the script's span has an error: %v", span)
		}
	}
	if len(refusals) != 2 || refusals[0] != `"NOTLOADED"` || refusals[1] != "" {
		t.Errorf("the script's refusals are %q, want NOTLOADED and none", refusals)
	}
	refused := collector.named(t, collector.traceOf(t, again).GetTraceId(), "redis create")
	if got := attributeOf(refused, "levelboard.refusal"); got != `"EXISTS"` {
		t.Errorf("creating an existing member has the refusal %s, want EXISTS", got)
	}
	// This change shares a batch with other requests.
	change := collector.traceOf(t, changed)
	if script := collector.named(t, change.GetTraceId(), "redis change"); !bytes.Equal(script.GetParentSpanId(), change.GetSpanId()) {
		t.Error("the change's script span is not a child of its request")
	}

	// The log and the exemplar name the trace.
	id := hex.EncodeToString(trace)
	line := regexp.MustCompile(`msg=request .*traceId=` + id + ` requestId=` + created.Header.Get("X-Request-Id"))
	if !line.MatchString(log.String()) {
		t.Errorf("the log has no line of the request with its trace %s:\n%s", id, log)
	}
	exemplar := `levelboard_http_request_duration_seconds_bucket\{method="\w+",route="/v2/levels/:entry/users/:userId",status="200",le="[^"]+"\} \d+ # \{trace_id="[0-9a-f]{32}"\}`
	if !regexp.MustCompile(exemplar).MatchString(metrics) {
		t.Errorf("/metrics has no exemplar with the trace:\n%s", metrics)
	}

	if !strings.Contains(collector.whose, `"service.name"`) || !strings.Contains(collector.whose, `"levelboard"`) || !strings.Contains(collector.whose, `"1.2.3"`) {
		t.Errorf("the spans' resource is %s, want service.name levelboard and version 1.2.3", collector.whose)
	}
	// No span contains a secret, an id or a client's text, nor do those of /admin, which created the guild and the key.
	for _, span := range collector.spans {
		text := prototext.Format(span)
		for _, secret := range []string{key, strings.Split(key, "_")[1], adminToken, g, u, owner, "gopher", "Gophers", "free-text", "127.0.0.1"} {
			if strings.Contains(text, secret) {
				t.Errorf("a span contains %q: %s", secret, text)
			}
		}
	}
}

// openMetrics reads /metrics in the format with exemplars.
func openMetrics(t *testing.T, s *service) string {
	t.Helper()
	got := s.ops("/metrics", apitest.Header("Accept", "application/openmetrics-text;version=1.0.0"))
	if !strings.HasPrefix(got.Header.Get("Content-Type"), "application/openmetrics-text") {
		t.Fatalf("/metrics has the Content-Type %s, want OpenMetrics", got.Header.Get("Content-Type"))
	}
	return string(got.Body)
}

// The span of a stream ends when the stream has begun.
func TestAStreamsSpanEndsWhenItHasBegun(t *testing.T) {
	collector := newReceiver(t)
	s := startTraced(t, slog.DiscardHandler, onDataDir(t), "OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+collector.URL+"/v1/traces")
	g := s.guild(nil)
	key := s.key(g)
	r, err := http.NewRequest("GET", "http://"+s.app.Addr()+"/v2/guilds/"+g+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	resp, err := s.plain.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	open := uint64(time.Now().UnixNano())
	s.stop(t)
	span := collector.traceOf(t, apitest.Response{Header: resp.Header})
	if status := attributeOf(span, "http.response.status_code"); span.GetName() != "GET /v2/guilds/:guildId/events" || status != "200" || span.GetEndTimeUnixNano() > open {
		t.Errorf("the stream's span is %v, want status 200 and an end before %d", span, open)
	}
}

// A collector that never answers slows down neither requests nor the stop.
func TestAHangingCollectorDelaysNothing(t *testing.T) {
	arrived, release := make(chan struct{}, 100), make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer hanging.Close()
	defer close(release)
	log := &testenv.Log{}
	s := startTraced(t, slog.NewTextHandler(log, nil), onDataDir(t), "OTEL_EXPORTER_OTLP_ENDPOINT="+hanging.URL, "OTEL_EXPORTER_OTLP_TIMEOUT=60000")
	s.guild(nil)
	s.stop(t) // fails after 20 seconds
	<-arrived
	if got := strings.Count(log.String(), "traces are dropped"); got != 1 {
		t.Errorf("the log has %d warnings of dropped traces, want 1:\n%s", got, log)
	}
}
