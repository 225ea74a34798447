package testenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// CA is a certificate authority of one test. Its files are removed when the
// test ends.
type CA struct {
	tb   testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Pair names the PEM files of a certificate and its private key.
type Pair struct{ CertFile, KeyFile string }

// NewCA makes an authority that only clients configured for it trust.
func NewCA(tb testing.TB) *CA {
	tb.Helper()
	c := &CA{tb: tb, dir: tb.TempDir()}
	template := c.template("Levelboard test CA " + rand.Text())
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	var der []byte
	c.key, der = c.sign(template, nil)
	var err error
	if c.cert, err = x509.ParseCertificate(der); err != nil {
		tb.Fatalf("making a certificate authority: %v", err)
	}
	c.write("ca.pem", "CERTIFICATE", der)
	return c
}

// File returns the PEM file of the authority's own certificate.
func (c *CA) File() string { return filepath.Join(c.dir, "ca.pem") }

// Issue makes a certificate for these host names and addresses, which are also
// in its files' names. Servers and clients can use it.
func (c *CA) Issue(hosts ...string) Pair {
	c.tb.Helper()
	template := c.template(hosts[0])
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, der := c.sign(template, c.cert)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.tb.Fatalf("making a private key: %v", err)
	}
	return Pair{
		CertFile: c.write(hosts[0]+".pem", "CERTIFICATE", der),
		KeyFile:  c.write(hosts[0]+".key", "PRIVATE KEY", private),
	}
}

// Loopback makes a certificate for 127.0.0.1 and localhost, where testenv's
// servers listen.
func (c *CA) Loopback() Pair { c.tb.Helper(); return c.Issue("127.0.0.1", "localhost") }

func (c *CA) template(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		c.tb.Fatalf("making a serial number: %v", err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

// sign makes a key and its certificate. Without a parent the certificate signs itself.
func (c *CA) sign(template, parent *x509.Certificate) (*ecdsa.PrivateKey, []byte) {
	c.tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.tb.Fatalf("making a key: %v", err)
	}
	signer := c.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		c.tb.Fatalf("making a certificate: %v", err)
	}
	return key, der
}

func (c *CA) write(name, kind string, der []byte) string {
	c.tb.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		c.tb.Fatalf("writing a certificate: %v", err)
	}
	return path
}
