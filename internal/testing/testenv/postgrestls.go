package testenv

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

// postgresTLS is how a postgres server speaks TLS.
type postgresTLS struct {
	ca     *CA
	server Pair
}

// WithPostgresTLS makes the server take connections over TLS only, with this
// certificate, and only with a password. Its URL then verifies the certificate
// and its host name by the authority.
func WithPostgresTLS(ca *CA, server Pair) PostgresOption {
	return func(i *PG) {
		i.tls = &postgresTLS{ca: ca, server: server}
		i.settings = append(i.settings, "ssl=on", "ssl_cert_file="+i.tlsFile("crt"), "ssl_key_file="+i.tlsFile("key"))
	}
}

// tlsFile is the server's own copy: postgres wants its key to be nobody else's.
func (i *PG) tlsFile(kind string) string { return filepath.Join(i.dir, "server."+kind) }

// installTLS puts the certificate and its key where the server reads them, and
// refuses everybody who comes without TLS.
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

// query says how a client that trusts nobody else is to connect, also on a machine that stands still.
func (t *postgresTLS) query() string {
	const patient = "&connect_timeout=60"
	if t == nil {
		return "sslmode=disable" + patient
	}
	return url.Values{"sslmode": {"verify-full"}, "sslrootcert": {t.ca.File()}}.Encode() + patient
}
