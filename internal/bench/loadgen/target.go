package loadgen

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"time"
)

const (
	// answerTime bounds one exchange; the service gives up on a request after ten seconds.
	answerTime = 15 * time.Second
	// dialTime bounds the making of a connection.
	dialTime = 5 * time.Second
)

// target is where the load goes.
type target struct {
	secure  bool
	address string // host:port
	name    string // host, for TLS
	host    string // the header
	prefix  string // path before /v2
}

func newTarget(base string) (*target, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the service's address must be an http:// or https:// address")
	}
	t := &target{secure: u.Scheme == "https", name: u.Hostname(), host: u.Host, prefix: u.EscapedPath()}
	port := u.Port()
	if port == "" {
		port = map[bool]string{false: "80", true: "443"}[t.secure]
	}
	t.address = net.JoinHostPort(t.name, port)
	return t, nil
}

func (t *target) dial(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if !t.secure {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.address)
		if err != nil {
			return nil, err
		}
		return newConn(c), nil
	}
	dialer := tls.Dialer{Config: &tls.Config{ServerName: t.name, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}}
	c, err := dialer.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return nil, err
	}
	return newConn(c), nil
}

// headers are a request's first line after its path, and the headers that every request has.
func (t *target) headers(key string) string {
	return " HTTP/1.1\r\nHost: " + t.host + "\r\nUser-Agent: levelboard-bench\r\nX-Api-Key: " + key + "\r\n"
}
