package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/storeurl"
)

// keepAlive detects a vanished peer on a connection that only listens.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 5 * time.Second, Count: 3}

// dialer connects to servers, over TLS if the URL says so.
type dialer struct {
	net   net.Dialer
	tls   *tls.Config                 // nil without TLS
	files func() (*tls.Config, error) // ConnectOptions.TLS
	last  atomic.Pointer[tls.Config]  // the last result of files
}

// newDialer returns a dialer with the TLS settings of the URL, from the options, and those of files.
func newDialer(opts *redis.Options, files func() (*tls.Config, error)) *dialer {
	d := &dialer{net: net.Dialer{Timeout: opts.DialTimeout, KeepAliveConfig: keepAlive}, files: files}
	if opts.TLSConfig != nil {
		d.tls = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: opts.TLSConfig.InsecureSkipVerify} // #nosec G402 -- skip_verify=true in the URL
	}
	return d
}

// dial connects and makes the TLS handshake within the dial timeout: go-redis dials some connections without a deadline, under a lock.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.net.Timeout)
	defer cancel()
	plain, err := d.net.DialContext(ctx, network, address)
	if err != nil || d.tls == nil {
		return plain, err
	}
	config, unread := d.config()
	if config == nil {
		_ = plain.Close()
		return nil, fmt.Errorf("TLS: %w", unread)
	}
	if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
		_ = plain.Close()
		return nil, fmt.Errorf("the address to connect to: %w", err)
	}
	secure := tls.Client(plain, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, fmt.Errorf("TLS: %w", errors.Join(err, unread))
	}
	return alertConn{secure}, nil
}

// config returns the TLS settings of one connection. While the files cannot be read or do not match, someone may be replacing them: the last
// settings count then, and unread is the error. c is nil without earlier settings, since the system's authorities would trust other servers.
func (d *dialer) config() (c *tls.Config, unread error) {
	c = d.tls.Clone()
	if d.files == nil {
		return c, nil
	}
	said, unread := d.files()
	if unread == nil {
		d.last.Store(said)
	} else if said = d.last.Load(); said == nil {
		return nil, unread
	}
	if said != nil {
		c.RootCAs, c.Certificates = said.RootCAs, said.Certificates
	}
	return c, unread
}

// alertConn is a TLS connection whose writes fail with the server's alert. It does not implement syscall.Conn: the pool would mistake a TLS record,
// such as a session ticket, for the begin of a reply, and wait for the rest for ever.
type alertConn struct{ net.Conn }

// Write returns the alert that the server sent before it hung up, if any. With TLS 1.3 a server may reject a client's certificate only after the
// client has finished its handshake.
func (c alertConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		var alert *net.OpError
		if _, said := c.Conn.Read(make([]byte, 1)); errors.As(said, &alert) && alert.Op == "remote error" {
			err = said
		}
	}
	return n, err
}

// rotating gives new connections the user and the password of the URL that now returns. While now fails (its file may be being replaced), its last
// result counts, and before the first one opts.
func rotating(opts *redis.Options, now func() (string, error)) {
	var last atomic.Pointer[redis.Options]
	last.Store(&redis.Options{Username: opts.Username, Password: opts.Password})
	opts.CredentialsProviderContext = func(context.Context) (user, password string, err error) {
		if rawURL, err := now(); err == nil {
			u, _ := storeurl.Split(rawURL)
			if read, err := redis.ParseURL(u.First()); err == nil {
				last.Store(read)
			}
		}
		return last.Load().Username, last.Load().Password, nil
	}
}
