package testenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// PrometheusServer is a private prometheus process with its own database.
type PrometheusServer struct{ server }

// Prometheus starts a prometheus with this configuration (the text of prometheus.yml, with absolute paths of rules) and returns when it
// answers. It stops when the test ends. If it cannot be started, the test fails.
func Prometheus(tb testing.TB, config string) *PrometheusServer {
	tb.Helper()
	if _, err := exec.LookPath("prometheus"); err != nil {
		tb.Fatal("prometheus is not in PATH: run `make setup`, or install Prometheus 2.42 or newer (Debian: package prometheus)")
	}
	dir, err := os.MkdirTemp("", "levelboard-prometheus-")
	if err != nil {
		tb.Fatalf("making a directory for prometheus: %v", err)
	}
	s := &PrometheusServer{server{tb: tb, name: "prometheus", dir: dir, death: syscall.SIGKILL}}
	s.launch, s.ready = s.run, func(int) error { return prometheusAnswers(s.URL(), dir) }
	if err := os.WriteFile(s.config(), []byte(config), 0o600); err != nil {
		tb.Fatalf("writing the configuration of prometheus: %v", err)
	}
	s.open()
	return s
}

// URL returns the server's address, http://host:port.
func (s *PrometheusServer) URL() string { return "http://" + s.port.addr() }

func (s *PrometheusServer) config() string { return filepath.Join(s.dir, "prometheus.yml") }

func (s *PrometheusServer) run() (*process, error) {
	return startProcess(command{
		path: "prometheus",
		args: []string{
			"--config.file=" + s.config(), "--storage.tsdb.path=" + filepath.Join(s.dir, "data"),
			"--web.listen-address=" + s.port.addr(), "--log.level=warn",
		},
		env: os.Environ(),
		dir: s.dir,
		log: s.log(),
	}, syscall.SIGKILL)
}

// prometheusAnswers reports whether the server at base is ready and works in dir, because another test's server may have taken the port.
func prometheusAnswers(base, dir string) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range []string{"/-/ready", "/api/v1/status/runtimeinfo"} {
		resp, err := client.Get(base + path)
		if err != nil {
			return err
		}
		var info struct{ Data struct{ CWD string } }
		if path != "/-/ready" {
			err = json.NewDecoder(resp.Body).Decode(&info)
		}
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: status %d", path, resp.StatusCode)
		}
		if path != "/-/ready" && filepath.Base(info.Data.CWD) != filepath.Base(dir) {
			return fmt.Errorf("another server answers at %s", base)
		}
	}
	return nil
}
