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

// PrometheusServer is a private prometheus process, with a database of its own that goes with it.
type PrometheusServer struct {
	tb      testing.TB
	dir     string
	port    *port
	running *process
}

// Prometheus starts a prometheus with this configuration (the text of prometheus.yml; give paths of rules in full) and
// returns when it answers. It stops when the test ends; if none can be started, the test fails.
func Prometheus(tb testing.TB, config string) *PrometheusServer {
	tb.Helper()
	if _, err := exec.LookPath("prometheus"); err != nil {
		tb.Fatal("prometheus is not in PATH: run `make setup`, or install Prometheus 2.42 or newer (Debian: package prometheus)")
	}
	dir, err := os.MkdirTemp("", "levelboard-prometheus-")
	if err != nil {
		tb.Fatalf("make a directory for prometheus: %v", err)
	}
	s := &PrometheusServer{tb: tb, dir: dir}
	tb.Cleanup(s.discard)
	if err := os.WriteFile(s.config(), []byte(config), 0o600); err != nil {
		tb.Fatalf("write the configuration of prometheus: %v", err)
	}
	for attempt := 1; ; attempt++ {
		err := startOnFreePort(&s.port, s.start)
		if err == nil {
			return s
		}
		if attempt == 5 || !errors.Is(err, errExited) {
			tb.Fatalf("start prometheus: %v\n%s", err, logTail(s.log()))
		}
	}
}

// URL is the server's address, http://host:port.
func (s *PrometheusServer) URL() string { return "http://" + s.port.addr() }

func (s *PrometheusServer) config() string { return filepath.Join(s.dir, "prometheus.yml") }

func (s *PrometheusServer) log() string { return filepath.Join(s.dir, "server.log") }

func (s *PrometheusServer) start() error {
	p, err := startProcess(command{
		path: "prometheus",
		args: []string{
			"--config.file=" + s.config(), "--storage.tsdb.path=" + filepath.Join(s.dir, "data"),
			"--web.listen-address=" + s.port.addr(), "--log.level=warn",
		},
		env: os.Environ(),
		dir: s.dir,
		log: s.log(),
	}, syscall.SIGKILL)
	if err != nil {
		return err
	}
	if err := p.waitUntil(func(int) error { return prometheusAnswers(s.URL(), s.dir) }); err != nil {
		_ = p.end(syscall.SIGKILL)
		return err
	}
	s.running = p
	return nil
}

// prometheusAnswers reports whether the server at base is ready, and is the one that works in dir: a port may have been
// taken by another test's server.
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

// discard kills the server: what it has is of no more use.
func (s *PrometheusServer) discard() {
	if s.running != nil {
		if err := s.running.end(syscall.SIGKILL); err != nil {
			s.tb.Errorf("prometheus did not live until its test's end: %v\n%s", err, logTail(s.log()))
		}
		s.running = nil
	}
	if s.port != nil {
		s.port.release()
	}
	if err := os.RemoveAll(s.dir); err != nil {
		s.tb.Errorf("remove the directory of prometheus: %v", err)
	}
}
