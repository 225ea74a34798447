package app

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"levelboard/internal/config"
	"levelboard/internal/platform/storeurl"
)

// schemeTime is how long a server may take to show what it speaks.
const schemeTime = time.Second

// wrongScheme is what to do when a server was spoken to over TLS that has none, or the other way round, or "". The server's
// own reaction to either is no more than silence, so it is asked again in the other way; no password is told to it.
func wrongScheme(ctx context.Context, rawURL string, err error) string {
	const url = "LEVELBOARD_REDIS_URL"
	scheme, _, _ := strings.Cut(rawURL, "://")
	ctx, cancel := context.WithTimeout(ctx, schemeTime)
	defer cancel()
	switch {
	case scheme == "redis" && hungUp(err) && speaksTLS(ctx, firstAddress(rawURL)):
		return "it speaks TLS: begin " + url + " with rediss://"
	case scheme == "rediss" && errors.Is(err, context.DeadlineExceeded) && speaksPlainly(ctx, firstAddress(rawURL)):
		return noTLSAdvice(url)
	}
	return ""
}

// firstAddress is the first host:port of a Redis URL.
func firstAddress(rawURL string) string {
	u, _ := storeurl.Split(rawURL)
	return u.Addresses("6379")[0]
}

// hungUp reports whether a server closed the connection instead of answering.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// refusesCertificate reports whether a server that hung up on TLS objects to the certificate that it is shown, or to none. It says so
// only after the handshake, and who has sent something by then may hear no more than that the connection is gone.
func refusesCertificate(ctx context.Context, cfg config.Config, err error) bool {
	if !strings.HasPrefix(cfg.RedisURL, "rediss://") || !hungUp(err) {
		return false
	}
	shown, err := cfg.RedisTLS()
	if err != nil {
		return false
	}
	secure := &tls.Config{InsecureSkipVerify: true} // #nosec G402 -- asks what the server objects to, and tells nothing
	if shown != nil {
		secure.Certificates = shown.Certificates
	}
	ctx, cancel := context.WithTimeout(ctx, schemeTime)
	defer cancel()
	conn, err := (&tls.Dialer{Config: secure}).DialContext(ctx, "tcp", firstAddress(cfg.RedisURL))
	if err != nil {
		return objects(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(schemeTime))
	_, err = conn.Read(make([]byte, 1))
	return objects(err)
}

func speaksTLS(ctx context.Context, address string) bool {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // #nosec G402 -- asks whether there is TLS, and tells nothing
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// speaksPlainly reports whether a server answers PING, be it with a refusal.
func speaksPlainly(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(schemeTime))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return false
	}
	var first [1]byte
	_, err = io.ReadFull(conn, first[:])
	return err == nil && (first[0] == '+' || first[0] == '-')
}
