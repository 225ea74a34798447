package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
)

var (
	errNoCertificates = errors.New("holds no certificate in PEM")
	errKeyPair        = errors.New("and LEVELBOARD_REDIS_KEY_FILE are not a certificate and its private key in PEM")
)

// RedisTLS reads the files of the Redis settings, as they are now: by which authorities the servers are known, and what is shown to
// them. It is nil when none is set, and TLS then goes by the system's authorities. Its errors begin with the name of a setting.
func (c Config) RedisTLS() (*tls.Config, error) {
	if c.RedisCAFile == "" && c.RedisCertFile == "" {
		return nil, nil
	}
	read := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.RedisCAFile != "" {
		roots, err := rootsIn(c.RedisCAFile)
		if err != nil {
			return nil, &settingError{"REDIS_CA_FILE", err}
		}
		read.RootCAs = roots
	}
	if c.RedisCertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.RedisCertFile, c.RedisKeyFile)
		if err != nil {
			return nil, &settingError{"REDIS_CERT_FILE", pairError(c, err)}
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
		return nil, errNoCertificates
	}
	return roots, nil
}

// pairError says which file cannot be read, or else that they do not fit: what the parser says may quote the key.
func pairError(c Config, err error) error {
	var path *os.PathError
	if !errors.As(err, &path) {
		return errKeyPair
	}
	if path.Path == c.RedisKeyFile {
		return errors.New("is set, but LEVELBOARD_REDIS_KEY_FILE cannot be read: " + path.Err.Error())
	}
	return unreadable(err)
}

func unreadable(err error) error {
	return errors.New("cannot be read: " + plainPathError(err).Error())
}

// settingError is a problem with one setting.
type settingError struct {
	name  string // without the prefix
	cause error
}

func (e *settingError) Error() string { return Prefix + e.name + " " + e.cause.Error() }
func (e *settingError) Unwrap() error { return e.cause }

// redisTLS checks the files of TLS, and that there is TLS that they are for.
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
		var of *settingError
		if errors.As(err, &of) {
			v.bad(of.name, "%w", of.cause)
		}
	}
}
