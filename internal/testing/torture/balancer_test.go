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

// servedBy is the header in which the balancer says which process a request went to: its name, and where it listens.
const (
	servedBy     = "X-Served-By"
	servedByHost = "X-Served-By-Host"
)

// balancer sends each request to the next replica that serves, whoever asks: no session sticks to one. It never sends a
// request again. A request that a replica did not answer, because it was killed meanwhile or is gone already, is 502.
type balancer struct {
	replicas []*replica
	next     atomic.Uint64
	answered atomic.Int64 // requests that a replica answered with 2xx
	failed   atomic.Int64 // requests that nobody answered
	pool     *http.Transport
}

// balance starts a balancer in front of the replicas, and returns it with what clients take for the one replica that there is.
func balance(t *testing.T, replicas []*replica) (*balancer, *replica) {
	t.Helper()
	b := &balancer{replicas: replicas, pool: &http.Transport{
		MaxIdleConnsPerHost: 2 * clients, DialContext: (&net.Dialer{Timeout: time.Second}).DialContext,
	}}
	proxy := &httputil.ReverseProxy{
		Transport: b.pool, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // a killed replica's errors are expected
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Context().Value(target{}).(route).at.Host
			// The transport repeats a request whose body it can read again. It cannot read this body again.
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

// target is the key of a request's route.
type target struct{}

// route is where a request goes.
type route struct {
	to *replica
	at *url.URL
}

// pick returns the next replica that serves; nil when none does.
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
