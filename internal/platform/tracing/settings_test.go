package tracing_test

import (
	"strings"
	"testing"

	"levelboard/internal/platform/tracing"
)

func TestWhatTurnsTracingOn(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318"
	for _, c := range []struct {
		environ string // with spaces between
		on      bool
		warned  string // the variables that warnings name
	}{
		{"", false, ""},
		{"LEVELBOARD_LISTEN=:1 OTEL_SERVICE_NAME=x OTEL_TRACES_SAMPLER=always_on", false, ""},
		{"OTEL_TRACES_EXPORTER=otlp", true, ""},
		{endpoint, true, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://collector/in", true, ""},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://collector:4318", false, ""},
		{endpoint + " OTEL_TRACES_EXPORTER=none", false, ""},
		{endpoint + " OTEL_SDK_DISABLED=TRUE", false, ""},
		{endpoint + " OTEL_SDK_DISABLED=false", true, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=", false, ""},
		{endpoint + " OTEL_TRACES_EXPORTER=zipkin", false, "OTEL_TRACES_EXPORTER"},
		{endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", true, ""},
		{endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc", false, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf", true, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318", false, "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://s3cret@%zz", false, "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{endpoint + " OTEL_EXPORTER_OTLP_HEADERS=api-key", true, "OTEL_EXPORTER_OTLP_HEADERS"},
		{endpoint + " OTEL_EXPORTER_OTLP_HEADERS=a=s3cret%0d%0ab", true, "OTEL_EXPORTER_OTLP_HEADERS"},
		{endpoint + " OTEL_EXPORTER_OTLP_TIMEOUT=10s", true, "OTEL_EXPORTER_OTLP_TIMEOUT"},
		{endpoint + " OTEL_EXPORTER_OTLP_COMPRESSION=zstd", true, "OTEL_EXPORTER_OTLP_COMPRESSION"},
		{endpoint + " OTEL_EXPORTER_OTLP_CERTIFICATE=/ca.pem", true, "OTEL_EXPORTER_OTLP_CERTIFICATE"},
		{endpoint + " OTEL_TRACES_SAMPLER=sometimes", true, "OTEL_TRACES_SAMPLER"},
		{endpoint + " OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=NaN", true, "OTEL_TRACES_SAMPLER_ARG"},
		{endpoint + " OTEL_TRACES_SAMPLER=parentbased_always_off", true, ""},
	} {
		settings, warnings := tracing.FromEnviron(strings.Fields(c.environ))
		if settings.On() != c.on {
			t.Errorf("%q: on is %v, want %v", c.environ, settings.On(), c.on)
		}
		said := strings.Join(warnings, "\n")
		if (c.warned == "") != (said == "") || !strings.HasPrefix(said, c.warned) || strings.Contains(said, "\n") {
			t.Errorf("%q: the warnings are %q, want one of %q", c.environ, said, c.warned)
		}
		if strings.Contains(said, "s3cret") {
			t.Errorf("a secret is in %q", said)
		}
	}
}
