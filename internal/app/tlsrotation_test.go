package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

// replace moves a copy of the file with to path.
func replace(t *testing.T, path, with string) {
	t.Helper()
	content, err := os.ReadFile(with)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Expiring certificates and authorities are replaced in their files while the service runs, and it uses them without a restart. It
// ignores a file that is half written.
func TestReplacedTLSFilesAreUsed(t *testing.T) {
	t.Parallel()
	ca := testenv.NewCA(t)
	pair, client := ca.Loopback(), ca.Issue("levelboard")
	roots := filepath.Join(t.TempDir(), "roots.pem")
	replace(t, roots, ca.File())
	server := testenv.Redis(t, testenv.WithTLS(ca, pair), testenv.WithClientCertificates(), testenv.WithAOF())
	archive := testenv.PostgresServer(t, testenv.WithPostgresTLS(ca, pair))
	u := mustParse(t, archive.URL())
	query := u.Query()
	query.Set("sslrootcert", roots)
	u.RawQuery = query.Encode()
	s := start(t, often, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_REDIS_CA_FILE="+roots,
		"LEVELBOARD_REDIS_CERT_FILE="+client.CertFile, "LEVELBOARD_REDIS_KEY_FILE="+client.KeyFile, "LEVELBOARD_POSTGRES_URL="+u.String())
	g, member := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, member, 1)

	goesOn := func(when string) {
		t.Helper()
		server.Stop()
		archive.Stop()
		server.Start()
		archive.Start()
		testenv.Wait(t, "both stores are reached "+when, func() bool {
			got := s.ops("/readyz?verbose")
			return got.Status == 200 && bytes.Count(got.Body, []byte(`"state":"ok"`)) == 2
		})
		s.patch(key, g, member, object{"increment": 1})
	}
	const half = "-----BEGIN CERTIFICATE-----\nMIIB"
	if err := os.WriteFile(roots, []byte(half), 0o600); err != nil {
		t.Fatal(err)
	}
	goesOn("while a file is half written")

	next := testenv.NewCA(t)
	nextPair, nextClient := next.Loopback(), next.Issue("levelboard")
	for to, from := range map[string]string{
		ca.File(): next.File(), roots: next.File(),
		pair.CertFile: nextPair.CertFile, pair.KeyFile: nextPair.KeyFile,
		client.CertFile: nextClient.CertFile, client.KeyFile: nextClient.KeyFile,
	} {
		replace(t, to, from)
	}
	goesOn("with all files replaced")

	if err := os.WriteFile(roots, []byte(strings.Repeat(half, 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	goesOn("while the new file is half written")
	if xp := s.member(key, g, member).Level.XP; xp != 4 {
		t.Errorf("after all replacements the member has %d XP, want 4", xp)
	}
}
