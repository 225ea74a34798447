package torture

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// servedBy is the header in which the balancer names the process that got a request, and its address.
const (
	servedBy     = "X-Served-By"
	servedByHost = "X-Served-By-Host"
)

// balancer sends each request to the next serving replica, without sticky sessions, and never twice. A request without an answer, because its
// replica was killed, is 502.
type balancer struct {
	replicas []*replica
	next     atomic.Uint64
	answered atomic.Int64 // requests that a replica answered with 2xx
	failed   atomic.Int64 // requests without an answer
	pool     *http.Transport
}

// balance starts a balancer in front of the replicas, and returns it with a replica that stands for it to clients.
func balance(t *testing.T, replicas []*replica) (*balancer, *replica) {
	t.Helper()
	b := &balancer{replicas: replicas, pool: &http.Transport{
		MaxIdleConnsPerHost: 2 * clients, DialContext: (&net.Dialer{Timeout: time.Second}).DialContext,
	}}
	proxy := &httputil.ReverseProxy{
		Transport: b.pool, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // errors of killed replicas are expected
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Context().Value(target{}).(route).at.Host
			// The transport repeats a request whose body it can read again. It cannot read this one again.
			if r.Out.Body == nil || r.Out.Body == http.NoBody {
				r.Out.Body = struct{ io.ReadCloser }{http.NoBody}
			}
			r.Out.GetBody = nil
		},
		ModifyResponse: func(resp *http.Response) error {
			if resp.StatusCode < 300 {
				b.answered.Add(1)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			b.failed.Add(1)
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, at := b.pick()
		if to == nil {
			b.failed.Add(1)
			http.Error(w, "no replica serves", http.StatusBadGateway)
			return
		}
		w.Header().Set(servedBy, to.name)
		w.Header().Set(servedByHost, at.Host)
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), target{}, route{to, at})))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(func() {
		server.Close()
		b.pool.CloseIdleConnections()
	})
	front := &replica{name: "balancer"}
	front.url.Store(&server.URL)
	return b, front
}

// target is the context key of a request's route.
type target struct{}

// route is the destination of a request.
type route struct {
	to *replica
	at *url.URL
}

// pick returns the next serving replica, or nil.
func (b *balancer) pick() (*replica, *url.URL) {
	for range b.replicas {
		r := b.replicas[b.next.Add(1)%uint64(len(b.replicas))]
		if base := r.url.Load(); base != nil {
			if at, err := url.Parse(*base); err == nil {
				return r, at
			}
		}
	}
	return nil, nil
}
