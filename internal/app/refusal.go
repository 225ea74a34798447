package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/fault"
	"levelboard/internal/store/redisconn"
)

// tryRedis fails if Redis refuses this service for a reason that will not pass.
// The error says what to do. A Redis that does not respond yet is no error.
func (a *App) tryRedis(ctx context.Context) error {
	err := a.stores.client.Alive(ctx)
	if err == nil || fault.ChangesRefused(err) != "" {
		a.warnOfRedis(ctx)
		return nil
	}
	advice := redisAdvice(err)
	if advice == "" {
		return nil
	}
	return fmt.Errorf("redis refuses this service: %s (%w)", advice, err)
}

// warnOfRedis warns of a Redis that may lose members: one with fewer replicas than changes wait for, one that silently drops keys when its memory is
// full, and one without an append-only file.
func (a *App) warnOfRedis(ctx context.Context) {
	client, wanted := a.stores.client, a.cfg.RedisWaitReplicas
	if wanted > 0 {
		if found, err := client.Replicas(ctx); err == nil && found < wanted {
			a.log.WarnContext(ctx, "LEVELBOARD_REDIS_WAIT_REPLICAS asks for more replicas than Redis has: changes are 503 until it has them",
				"wanted", wanted, "connected", found)
		}
	}
	if policy := client.EvictionPolicy(ctx); policy != "" {
		a.log.WarnContext(ctx, "Redis evicts keys, members too, when its memory is full: set its maxmemory-policy to noeviction, which rejects changes instead",
			"maxmemoryPolicy", policy)
	}
	if !a.cfg.Embedded() && client.KeepsNoLog(ctx) {
		a.log.WarnContext(ctx, "Redis has no append-only file: when it restarts, changes since the last snapshot are lost. "+
			"Turn it on with redis-cli CONFIG SET appendonly yes, and keep it with appendonly yes in redis.conf")
	}
}

// redisAdvice returns what to do about a Redis that refuses this service, or "".
func redisAdvice(err error) string {
	url := "LEVELBOARD_REDIS_URL"
	if errors.Is(err, redisconn.ErrUnknownMaster) {
		return "set LEVELBOARD_REDIS_MASTER to the name that the sentinels know the master by"
	}
	if errors.Is(err, redisconn.ErrSentinel) && (strings.Contains(err.Error(), "NOAUTH") || strings.Contains(err.Error(), "WRONGPASS")) {
		return "the sentinels want a password of their own: set LEVELBOARD_REDIS_SENTINEL_PASSWORD"
	}
	switch said := refusalOf(err); {
	case strings.HasPrefix(said, "NOAUTH"):
		return "it wants a password: put it into " + url + ", as redis://user:password@host"
	case strings.HasPrefix(said, "WRONGPASS"):
		return "it does not accept the user or the password of " + url
	case strings.HasPrefix(said, "NOPERM"):
		return "its user may not do what is needed: docs/security.md has the rights that it needs"
	case strings.Contains(said, "DB index is out of range"):
		return "it has no database of the number in " + url + ": use a lower one, such as 0, or raise its setting databases"
	case strings.Contains(said, "cluster support disabled"):
		return "it is no cluster: set LEVELBOARD_REDIS_MODE=single"
	}
	if advice := tlsAdvice(err, url, "set LEVELBOARD_REDIS_CA_FILE to the PEM file of that authority's certificate"); advice != "" {
		return advice
	}
	if wire := (*net.OpError)(nil); errors.As(err, &wire) && wire.Op == "remote error" { // a TLS alert of the server
		return "it does not accept this service's certificate, or wants one: set LEVELBOARD_REDIS_CERT_FILE and LEVELBOARD_REDIS_KEY_FILE"
	}
	return ""
}

// refusalOf returns the server's answer in err, or "".
func refusalOf(err error) string {
	var said redis.Error
	if !errors.As(err, &said) {
		return ""
	}
	return said.Error()
}

// tlsAdvice returns what to do about a certificate that cannot be verified, or about a server without TLS, or "".
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
		return noTLSAdvice(url)
	}
	return ""
}

// archiveRefusal returns the error for an archive that cannot be prepared, with advice if there is any.
func archiveRefusal(err error) error {
	if advice := archiveAdvice(err); advice != "" {
		return fmt.Errorf("the archive cannot be used: %s (%w)", advice, err)
	}
	if server := (*net.OpError)(nil); errors.As(err, &server) && server.Addr != nil {
		return fmt.Errorf("the archive cannot be used: Postgres does not answer at %s: start it, or correct LEVELBOARD_POSTGRES_URL (%w)", server.Addr, err)
	}
	return fmt.Errorf("prepare the archive: %w", err)
}

// archiveAdvice returns what to do about a Postgres that cannot be used, or "".
func archiveAdvice(err error) string {
	const url = "LEVELBOARD_POSTGRES_URL"
	var sql interface{ SQLState() string }
	if errors.As(err, &sql) {
		switch sql.SQLState() {
		case "28P01":
			return "it does not accept the user or the password of " + url
		case "28000":
			if strings.Contains(err.Error(), "no encryption") {
				return "it does not let this user in without TLS: set sslmode=verify-full in " + url
			}
			return "it does not let this user in from this address: look at its pg_hba.conf, and at the user of " + url
		case "3D000":
			return "it has no such database: docs/security.md has the commands that make it"
		case "42501":
			return "its user may not make tables there: make it the owner of the database (docs/security.md)"
		}
	}
	if advice := tlsAdvice(err, url, "set sslrootcert in "+url+" to the PEM file of that authority's certificate"); advice != "" {
		return advice
	}
	if strings.Contains(err.Error(), "server refused TLS connection") {
		return noTLSAdvice(url)
	}
	return ""
}

func noTLSAdvice(url string) string {
	return "it does not speak TLS at that port: switch TLS on there, or off in " + url + " if the network is private"
}
