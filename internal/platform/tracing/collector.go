package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const (
	// warnEvery is how often a collector that cannot be reached is worth a line in the log.
	warnEvery = time.Minute
	// answerRead is how much of a collector's answer is read, in bytes, so that its connection can be used again.
	answerRead = 64 << 10
)

// collector sends batches over OTLP/HTTP; it is an otlptrace.Client. otlptracehttp does the same, and links all of gRPC into the
// binary. A batch that cannot be sent is dropped and never repeated: traces are samples, and a queue of old ones would only delay
// the new ones.
type collector struct {
	settings Settings
	client   *http.Client
	log      *slog.Logger
	now      func() time.Time

	ctx    context.Context // ends what is being sent
	giveUp context.CancelFunc

	mu      sync.Mutex
	warned  time.Time
	dropped int // spans since then
}

func newCollector(s Settings, log *slog.Logger) *collector {
	ctx, cancel := context.WithCancel(context.Background())
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 1
	return &collector{
		settings: s, log: log, now: time.Now, ctx: ctx, giveUp: cancel,
		client: &http.Client{
			Transport: transport,
			// The headers may be secrets, which are for the address in the settings only.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Start is that of otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop is that of otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces is that of otlptrace.Client. It never fails: what the SDK would do with an error is write to standard error.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()
	unhook := context.AfterFunc(c.ctx, cancel)
	defer unhook()
	if err := c.send(ctx, spans); err != nil {
		c.drop(spans, err)
	}
	return nil
}

func (c *collector) send(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// On the wire this is the ExportTraceServiceRequest of OTLP, whose Go package links gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode the spans: %w", err)
	}
	if c.settings.gzip {
		body = compress(body)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.settings.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = c.settings.headers.Clone()
	request.Header.Set("Content-Type", "application/x-protobuf")
	if c.settings.gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, answerRead)
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answered %d", answer.StatusCode)
	}
	return nil
}

func compress(body []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(body) // into memory: cannot fail
	_ = w.Close()
	return packed.Bytes()
}

// drop counts the spans, and logs once in warnEvery how many there were and why.
func (c *collector) drop(spans []*tracepb.ResourceSpans, err error) {
	var atURL *url.Error
	if errors.As(err, &atURL) {
		err = atURL.Err // without the address, which may hold a token
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range spans {
		for _, in := range of.GetScopeSpans() {
			c.dropped += len(in.GetSpans())
		}
	}
	if now := c.now(); c.warned.IsZero() || now.Sub(c.warned) >= warnEvery {
		c.log.Warn("traces cannot be sent and are dropped: see that the collector of OTEL_EXPORTER_OTLP_ENDPOINT is up and takes http/protobuf",
			"spans", c.dropped, "error", err)
		c.warned, c.dropped = now, 0
	}
}
