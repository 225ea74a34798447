package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
	"unicode"
)

const (
	// checkTime is shorter than the interval at which supervisors check.
	checkTime = 3 * time.Second
	// reasonSize bounds the bytes of an answer that are read.
	reasonSize = 1 << 10
)

// Check asks the process at LEVELBOARD_OPS_LISTEN on this machine whether it is ready. An error is a sentence that says why not.
func Check(ctx context.Context, listen string) error {
	address, err := dialable(listen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("check http://%s/readyz: %w", address, err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("not ready: http://%s/readyz does not answer", address)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	// The reason is one line of plain text if the service wrote it, but another program may listen there.
	text, _ := io.ReadAll(io.LimitReader(response.Body, reasonSize))
	line, _, _ := strings.Cut(string(text), "\n")
	if reason, found := strings.CutPrefix(line, "not ready: "); found && !strings.ContainsFunc(reason, unicode.IsControl) {
		return fmt.Errorf("not ready: %s", reason)
	}
	return fmt.Errorf("not ready: http://%s/readyz answered %s", address, response.Status)
}

// dialable turns an address to listen on into one to connect to: loopback in place of all addresses.
func dialable(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", errors.New("LEVELBOARD_OPS_LISTEN must be an address to listen on, such as 127.0.0.1:9464")
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port), nil
}
