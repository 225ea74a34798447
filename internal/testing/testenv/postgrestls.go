package testenv

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

// postgresTLS has the TLS settings of a postgres server.
type postgresTLS struct {
	ca     *CA
	server Pair
}

// WithPostgresTLS makes the server accept connections only over TLS with this
// certificate, and only with a password. Its URL makes clients verify the
// certificate and its host name by the authority.
func WithPostgresTLS(ca *CA, server Pair) PostgresOption {
	return func(i *PG) {
		i.tls = &postgresTLS{ca: ca, server: server}
		i.settings = append(i.settings, "ssl=on", "ssl_cert_file="+i.tlsFile("crt"), "ssl_key_file="+i.tlsFile("key"))
	}
}

// tlsFile returns the path of the server's own copy, because postgres requires that nobody else can read its key.
func (i *PG) tlsFile(kind string) string { return filepath.Join(i.dir, "server."+kind) }

// installTLS copies the certificate and its key for the server, and refuses
// connections without TLS.
func (i *PG) installTLS() error {
	if i.tls == nil {
		return nil
	}
	for from, to := range map[string]string{i.tls.server.CertFile: i.tlsFile("crt"), i.tls.server.KeyFile: i.tlsFile("key")} {
		content, err := os.ReadFile(from)
		if err != nil {
			return fmt.Errorf("read the server's certificate: %w", err)
		}
		if err := i.writeOwn(to, content); err != nil {
			return err
		}
	}
	return i.writeOwn(filepath.Join(i.data(), "pg_hba.conf"), []byte("hostssl all all 127.0.0.1/32 scram-sha-256\n"))
}

func (i *PG) writeOwn(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	return i.user.own(path)
}

// query returns the URL's parameters for a client that trusts only the authority, with a timeout for busy machines.
func (t *postgresTLS) query() string {
	const patient = "&connect_timeout=60"
	if t == nil {
		return "sslmode=disable" + patient
	}
	return url.Values{"sslmode": {"verify-full"}, "sslrootcert": {t.ca.File()}}.Encode() + patient
}
