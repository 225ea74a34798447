package testenv

import (
	"crypto/tls"
	"strconv"
)

// redisTLS is how a RedisServer speaks TLS, and nothing else.
type redisTLS struct {
	ca          *CA
	server      Pair
	wantsClient bool
}

// WithTLS makes the server speak TLS only, with this certificate, which must be
// of this authority.
func WithTLS(ca *CA, server Pair) RedisOption {
	return func(s *RedisServer) { s.tls = &redisTLS{ca: ca, server: server} }
}

// WithClientCertificates makes a server [WithTLS] turn away who has no
// certificate of its authority.
func WithClientCertificates() RedisOption {
	return func(s *RedisServer) { s.tls.wantsClient = true }
}

// lines are those of redis.conf. Replication and the talk among sentinels are on
// TLS as well.
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

// client is how testenv itself speaks to the server, whatever host its
// certificate is for.
func (t *redisTLS) client() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(t.server.CertFile, t.server.KeyFile)
	if err != nil {
		return nil, err
	}
	return &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}}, nil // #nosec G402 -- a test's own server
}
