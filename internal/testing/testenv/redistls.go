package testenv

import (
	"crypto/tls"
	"strconv"
)

// redisTLS has the settings of a RedisServer that speaks only TLS.
type redisTLS struct {
	ca          *CA
	server      Pair
	wantsClient bool
}

// WithTLS makes the server speak only TLS with this certificate, which must be
// from this authority.
func WithTLS(ca *CA, server Pair) RedisOption {
	return func(s *RedisServer) { s.tls = &redisTLS{ca: ca, server: server} }
}

// WithClientCertificates makes a server [WithTLS] refuse clients without a
// certificate from its authority.
func WithClientCertificates() RedisOption {
	return func(s *RedisServer) { s.tls.wantsClient = true }
}

// lines returns the lines of redis.conf. Replication and sentinels use TLS too.
func (t *redisTLS) lines(port int) []string {
	clients := "no"
	if t.wantsClient {
		clients = "yes"
	}
	return []string{
		"port 0", "tls-port " + strconv.Itoa(port), "tls-replication yes", "tls-auth-clients " + clients,
		"tls-cert-file " + strconv.Quote(t.server.CertFile), "tls-key-file " + strconv.Quote(t.server.KeyFile),
		"tls-ca-cert-file " + strconv.Quote(t.ca.File()),
	}
}

// client returns testenv's own TLS configuration for the server, whatever host its
// certificate is for.
func (t *redisTLS) client() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(t.server.CertFile, t.server.KeyFile)
	if err != nil {
		return nil, err
	}
	return &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}}, nil // #nosec G402 -- a test's own server
}
