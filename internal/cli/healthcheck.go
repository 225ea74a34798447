package cli

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

	"github.com/spf13/cobra"

	"levelboard/internal/config"
)

// healthTimeout is shorter than the interval at which anything asks.
const healthTimeout = 3 * time.Second

func (p *program) healthcheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "healthcheck",
		Short: "Exit with 0 when the service on this machine is ready (for container health checks)",
		Args:  takes(),
		RunE:  p.action(func(ctx context.Context, _ []string) error { return p.checkHealth(ctx) }),
	}
}

func (p *program) checkHealth(ctx context.Context) error {
	settings, _ := config.LoadClient(p.Environ) // a malformed URL or token does not matter here
	address, err := dialable(settings.OpsListen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
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
	if response.StatusCode != http.StatusOK {
		return notReady(address, response)
	}
	p.printf("ready\n")
	return nil
}

// reasonSize bounds what is read of an answer.
const reasonSize = 1 << 10

// notReady repeats the reason if it is one line of plain text, as the service writes it: something else may listen there.
func notReady(address string, response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, reasonSize))
	line, _, _ := strings.Cut(string(text), "\n")
	if reason, found := strings.CutPrefix(line, "not ready: "); found && !strings.ContainsFunc(reason, unicode.IsControl) {
		return fmt.Errorf("not ready: %s", reason)
	}
	return fmt.Errorf("not ready: http://%s/readyz answered %s", address, response.Status)
}

// dialable turns an address to listen on into one to connect to: the loopback address stands for all.
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
