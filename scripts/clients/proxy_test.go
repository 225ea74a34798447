package clients

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// startProxy makes a server reachable as https://discord.com through a CONNECT proxy, so that a bot runs unchanged. It returns the proxy's
// address and the file of the certificate's authority.
func startProxy(t *testing.T, server string) (proxyURL, authority string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"discord.com"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	authority = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	rest := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(to))
	rest.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	rest.StartTLS()
	t.Cleanup(rest.Close)
	t.Cleanup(rest.CloseClientConnections)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "discord.com:443" {
			http.Error(w, "only discord.com is here", http.StatusForbidden)
			return
		}
		connect(w, rest.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	t.Cleanup(proxy.CloseClientConnections)
	return proxy.URL, authority
}

// connect copies between the client's connection and one to an address, until either ends.
func connect(w http.ResponseWriter, address string) {
	to, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	from, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		to.Close()
		return
	}
	_, _ = io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		defer to.Close()
		_, _ = io.Copy(to, buffered)
	}()
	go func() {
		defer from.Close()
		_, _ = io.Copy(from, to)
	}()
}
