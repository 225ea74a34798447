package tracing

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
	tracesPath      = "/v1/traces"
)

// Settings are what the OTEL_ variables say. The zero value is off. Its headers may be secrets.
type Settings struct {
	endpoint string // the whole URL; empty is off
	headers  http.Header
	timeout  time.Duration // of one batch
	gzip     bool
	sampler  sdk.Sampler
	resource map[string]string
}

// On reports whether spans are made at all.
func (s Settings) On() bool { return s.endpoint != "" }

// FromEnviron reads the OTEL_ variables out of environ (NAME=value); an empty one counts as not set. Tracing is on when
// OTEL_TRACES_EXPORTER is otlp or, without that, when an endpoint for OTLP is set, and off with OTEL_SDK_DISABLED=true. It is also off when the
// variables ask for what this service cannot do; then, and for anything else that is wrong, warnings has a sentence that
// names the variable and never its value: such variables are often set for many programs at once, so none of them keeps
// the service from starting.
func FromEnviron(environ []string) (s Settings, warnings []string) {
	r := reader{vars: map[string]string{}}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, "OTEL_") && strings.TrimSpace(value) != "" {
			r.vars[name] = strings.TrimSpace(value)
		}
	}
	if !r.wanted() {
		return Settings{}, r.warnings
	}
	s = Settings{
		endpoint: r.endpoint(), headers: r.headers(), timeout: r.timeout(), gzip: r.compressed(),
		sampler: r.sampler(), resource: r.pairs("OTEL_RESOURCE_ATTRIBUTES"),
	}
	if name := r.vars["OTEL_SERVICE_NAME"]; name != "" {
		s.resource["service.name"] = name
	}
	for _, name := range []string{"CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"} {
		if set, _ := r.otlp(name); set != "" {
			r.warn("%s is not supported; for a private authority set SSL_CERT_FILE", set)
		}
	}
	if !s.On() {
		return Settings{}, r.warnings
	}
	return s, r.warnings
}

// reader reads variables one by one and keeps what is wrong with them.
type reader struct {
	vars     map[string]string
	warnings []string
}

func (r *reader) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// otlp is the exporter's variable of that name for traces, or else for all signals.
func (r *reader) otlp(name string) (set, value string) {
	for _, set := range []string{"OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name} {
		if value := r.vars[set]; value != "" {
			return set, value
		}
	}
	return "", ""
}

func (r *reader) wanted() bool {
	if strings.EqualFold(r.vars["OTEL_SDK_DISABLED"], "true") {
		return false
	}
	switch r.vars["OTEL_TRACES_EXPORTER"] {
	case "otlp":
	case "":
		if set, _ := r.otlp("ENDPOINT"); set == "" {
			return false
		}
	case "none":
		return false
	default:
		r.warn("OTEL_TRACES_EXPORTER must be otlp or none; there are no traces")
		return false
	}
	if set, protocol := r.otlp("PROTOCOL"); set != "" && protocol != "http/protobuf" {
		r.warn("%s must be http/protobuf, which collectors take on port 4318; there are no traces", set)
		return false
	}
	return true
}

func (r *reader) endpoint() string {
	set, value := r.otlp("ENDPOINT")
	if set == "" {
		return defaultEndpoint + tracesPath
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		r.warn("%s must be an address such as http://collector:4318; there are no traces", set)
		return ""
	}
	if set == "OTEL_EXPORTER_OTLP_ENDPOINT" { // the base of all signals; the other one is used as it is
		u = u.JoinPath(tracesPath)
	}
	return u.String()
}

func (r *reader) headers() http.Header {
	headers := http.Header{}
	all := r.pairs("OTEL_EXPORTER_OTLP_HEADERS")
	maps.Copy(all, r.pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS"))
	for name, value := range all {
		headers.Set(name, value)
	}
	return headers
}

func (r *reader) timeout() time.Duration {
	set, value := r.otlp("TIMEOUT")
	if set == "" {
		return defaultTimeout
	}
	ms, err := strconv.Atoi(value)
	if err != nil || ms < 1 || ms > 60_000 {
		r.warn("%s must be a number of milliseconds from 1 to 60000; it is taken as %d", set, defaultTimeout.Milliseconds())
		return defaultTimeout
	}
	return time.Duration(ms) * time.Millisecond
}

func (r *reader) compressed() bool {
	set, value := r.otlp("COMPRESSION")
	if set != "" && value != "gzip" && value != "none" {
		r.warn("%s must be gzip or none; it is taken as none", set)
	}
	return value == "gzip"
}

// pairs reads name=value,name=value with values that are percent-encoded. One that is malformed makes all of them invalid,
// as the standard has it.
func (r *reader) pairs(variable string) map[string]string {
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(r.vars[variable], ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, encoded, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if !ok || err != nil || !isToken(name) || strings.ContainsFunc(value, isControl) {
			r.warn("%s must be pairs name=value with commas between, percent-encoded; it is left out", variable)
			return map[string]string{}
		}
		pairs[name] = value
	}
	return pairs
}

func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }
