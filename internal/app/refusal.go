package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/config"
	"levelboard/internal/redisstore"
)

// tryRedis says whether Redis refuses this service for a reason that does not pass by itself: then the start fails, with what
// to do about it. A Redis that is not there yet is waited for.
func (a *App) tryRedis(ctx context.Context) error {
	err := a.stores.live.Ping(ctx)
	if err == nil {
		return nil
	}
	advice := redisAdvice(ctx, a.cfg, err)
	if advice == "" {
		return nil
	}
	return fmt.Errorf("redis refuses this service: %s (%w)", advice, err)
}

// redisAdvice is what to do about a Redis that will not have this service, or "".
func redisAdvice(ctx context.Context, cfg config.Config, err error) string {
	url := "LEVELBOARD_REDIS_URL"
	if errors.Is(err, redisstore.ErrUnknownMaster) {
		return "set LEVELBOARD_REDIS_MASTER to the name that the sentinels know the master by"
	}
	if errors.Is(err, redisstore.ErrSentinel) && (redis.HasErrorPrefix(err, "NOAUTH") || redis.HasErrorPrefix(err, "WRONGPASS")) {
		return "the sentinels want a password that is theirs: set LEVELBOARD_REDIS_SENTINEL_PASSWORD"
	}
	switch said := refusalOf(err); {
	case strings.HasPrefix(said, "NOAUTH"):
		return "it wants a password: put it into " + url + ", as redis://user:password@host"
	case strings.HasPrefix(said, "WRONGPASS"):
		return "it does not accept the user or the password of " + url
	case strings.HasPrefix(said, "ERR AUTH"), strings.HasPrefix(said, "ERR Client sent AUTH"):
		return "it has no password, and " + url + " holds one"
	case strings.HasPrefix(said, "NOPERM"):
		return "its user may not do what is needed: docs/security.md has the rights that it needs"
	}
	if advice := tlsAdvice(err, url, "set LEVELBOARD_REDIS_CA_FILE to the PEM file of that authority's certificate"); advice != "" {
		return advice
	}
	if alert := tls.AlertError(0); errors.As(err, &alert) {
		return "it does not accept this service's certificate, or wants one: set LEVELBOARD_REDIS_CERT_FILE and LEVELBOARD_REDIS_KEY_FILE"
	}
	if hungUp(err) && speaksTLS(ctx, cfg.RedisURL) {
		return "it speaks TLS: begin " + url + " with rediss://"
	}
	return ""
}

// refusalOf is what a server answered, or "".
func refusalOf(err error) string {
	var said redis.Error
	if !errors.As(err, &said) {
		return ""
	}
	return said.Error()
}

// tlsAdvice is what to do about a certificate that cannot be verified, or about a server without TLS, or "".
func tlsAdvice(err error, url, trust string) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var noTLS tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return "its TLS certificate is of an authority that is not trusted here: " + trust
	case errors.As(err, &host):
		return "its TLS certificate is for another host: use a name in " + url + " that the certificate has"
	case errors.As(err, &invalid):
		return "its TLS certificate is not valid: renew it, and look at this machine's clock"
	case errors.As(err, &noTLS):
		return "it does not speak TLS at that port: use its TLS port, or begin " + url + " with redis:// if the network is private"
	}
	return ""
}

// hungUp reports whether a server closed the connection instead of answering.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// speaksTLS reports whether the first server of a redis:// URL would talk over TLS. Nothing is told to it.
func speaksTLS(ctx context.Context, rawURL string) bool {
	if !strings.HasPrefix(rawURL, "redis://") {
		return false
	}
	opts, err := redis.ParseURL(rawURL)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	d := tls.Dialer{NetDialer: &net.Dialer{}, Config: &tls.Config{InsecureSkipVerify: true}} // #nosec G402 -- only asks whether there is TLS
	conn, err := d.DialContext(ctx, "tcp", opts.Addr)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
