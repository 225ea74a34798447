package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"levelboard/internal/platform/secretfile"
	"levelboard/internal/platform/storeurl"
)

// redis checks the Redis URL, and that its mode fits it.
func (v *validator) redis(c *Config) {
	switch c.RedisMode {
	case Single, Cluster, Sentinel:
	default:
		v.bad("REDIS_MODE", "must be single, cluster or sentinel")
		return
	}
	several := c.RedisMode != Single
	if several && c.RedisURL == "" {
		v.bad("REDIS_URL", "is missing: LEVELBOARD_REDIS_MODE is %s", c.RedisMode)
	}
	if c.RedisMode == Sentinel && strings.TrimSpace(c.RedisMaster) == "" {
		v.bad("REDIS_MASTER", "must be the name of the master")
	}
	if c.RedisURL != "" {
		v.redisURL(c)
	}
	if c.RedisMode != Sentinel && (c.RedisSentinelUsername != "" || c.RedisSentinelPassword != "") {
		v.bad("REDIS_SENTINEL_PASSWORD", "is for sentinels, but LEVELBOARD_REDIS_MODE is %s", c.RedisMode)
	}
	if c.RedisSentinelUsername != "" && c.RedisSentinelPassword == "" {
		v.bad("REDIS_SENTINEL_PASSWORD", "is missing: LEVELBOARD_REDIS_SENTINEL_USERNAME is set")
	}
	if c.RedisWaitReplicas > 0 && c.RedisURL == "" {
		v.bad("REDIS_WAIT_REPLICAS", "is for replicas of a Redis, and LEVELBOARD_REDIS_URL is not set")
	}
	v.redisTLS(c)
}

func (v *validator) redisURL(c *Config) {
	target, err := parseRedisURL(c.RedisURL)
	switch {
	case err != nil:
		v.bad("REDIS_URL", "%w", err)
	case c.RedisMode == Single && target.hosts > 1:
		v.bad("REDIS_URL", "names several hosts, which needs LEVELBOARD_REDIS_MODE cluster or sentinel")
	case c.RedisMode != Single && target.socket:
		v.bad("REDIS_URL", "must name hosts, not a socket, with LEVELBOARD_REDIS_MODE %s", c.RedisMode)
	case c.RedisMode == Cluster && target.database != 0:
		v.bad("REDIS_URL", "must not name a database: a cluster has only number 0")
	}
}

// redisTarget holds the parts of a Redis URL that the checks need.
type redisTarget struct {
	hosts    int
	database int
	socket   bool
}

// parseRedisURL reads a Redis URL, whose authority may be a list of hosts. Its errors quote nothing of the URL.
func parseRedisURL(raw string) (redisTarget, error) {
	parts, _ := storeurl.Split(raw)
	switch parts.Scheme {
	case "unix":
		u, err := url.Parse(raw)
		if err != nil || u.Host != "" || len(u.Path) < 2 {
			return redisTarget{}, errors.New("must name the socket by its absolute path, such as unix:///run/redis.sock")
		}
		return redisTarget{hosts: 1, socket: true}, nil
	case "redis", "rediss":
	default:
		return redisTarget{}, errors.New("must begin with redis://, rediss:// or unix://")
	}

	u, err := url.Parse(parts.First())
	if err != nil || u.Fragment != "" || slices.ContainsFunc(parts.Hosts, func(h string) bool { return !validHost(h) }) {
		return redisTarget{}, errors.New("must name its hosts as host:port, separated by commas; reserved characters of the password must be percent-encoded")
	}
	target := redisTarget{hosts: len(parts.Hosts)}
	if path := strings.Trim(u.Path, "/"); path != "" {
		if target.database, err = strconv.Atoi(path); err != nil || target.database < 0 {
			return redisTarget{}, errors.New("must end in the number of a database, such as /0, or in none")
		}
	}
	return target, nil
}

// validHost accepts host, host:port and [address]:port.
func validHost(h string) bool {
	if strings.ContainsAny(h, " @%") {
		return false
	}
	if !strings.Contains(h, ":") {
		return h != ""
	}
	host, port, err := net.SplitHostPort(h)
	return err == nil && host != "" && validPort(port, 1)
}

// RedisTLS reads the files of the TLS settings as they are now: the authorities for the servers' certificates, and a client
// certificate. It returns nil when none is set; TLS then uses the system's authorities. Its errors begin with the name of a setting.
func (c Config) RedisTLS() (*tls.Config, error) {
	if c.RedisCAFile == "" && c.RedisCertFile == "" {
		return nil, nil
	}
	read := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.RedisCAFile != "" {
		roots, err := rootsIn(c.RedisCAFile)
		if err != nil {
			return nil, fmt.Errorf("%sREDIS_CA_FILE %w", Prefix, err)
		}
		read.RootCAs = roots
	}
	if c.RedisCertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.RedisCertFile, c.RedisKeyFile)
		if err != nil {
			return nil, fmt.Errorf("%sREDIS_CERT_FILE %w", Prefix, pairError(c, err))
		}
		read.Certificates = []tls.Certificate{pair}
	}
	return read, nil
}

func rootsIn(path string) (*x509.CertPool, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(content) {
		return nil, errors.New("holds no certificate in PEM")
	}
	return roots, nil
}

// pairError says which file cannot be read, or that the two do not match. It drops the parser's text, which may quote the key.
func pairError(c Config, err error) error {
	var path *os.PathError
	if !errors.As(err, &path) {
		return errors.New("and LEVELBOARD_REDIS_KEY_FILE are not a certificate and its private key in PEM")
	}
	if path.Path == c.RedisKeyFile {
		return errors.New("is set, but LEVELBOARD_REDIS_KEY_FILE cannot be read: " + path.Err.Error())
	}
	return unreadable(err)
}

func unreadable(err error) error {
	return errors.New("cannot be read: " + secretfile.PlainPathError(err).Error())
}

// redisTLS checks the files of TLS, and that the Redis URL uses TLS.
func (v *validator) redisTLS(c *Config) {
	for _, file := range []struct{ name, path string }{{"REDIS_CA_FILE", c.RedisCAFile}, {"REDIS_CERT_FILE", c.RedisCertFile}} {
		if file.path != "" && !strings.HasPrefix(c.RedisURL, "rediss://") {
			v.bad(file.name, "is for TLS, but LEVELBOARD_REDIS_URL does not begin with rediss://")
		}
	}
	switch {
	case c.RedisCertFile != "" && c.RedisKeyFile == "":
		v.bad("REDIS_KEY_FILE", "is missing: LEVELBOARD_REDIS_CERT_FILE is set")
		return
	case c.RedisKeyFile != "" && c.RedisCertFile == "":
		v.bad("REDIS_CERT_FILE", "is missing: LEVELBOARD_REDIS_KEY_FILE is set")
		return
	}
	if _, err := c.RedisTLS(); err != nil {
		v.problems = append(v.problems, err)
	}
}
