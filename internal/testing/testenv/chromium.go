package testenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Chromium returns the DevTools address (ws://) of the test binary's common headless Chromium, which is started at first
// use and stopped by [Main]. Tests keep apart by browser contexts of their own. The browser reaches nothing but 127.0.0.1.
// If none can be started, the test fails.
func Chromium(tb testing.TB) string {
	tb.Helper()
	b, err := commonBrowser.get()
	if err != nil {
		tb.Fatal(err)
	}
	return b.address
}

var commonBrowser sharedBrowser

type sharedBrowser struct {
	mu      sync.Mutex
	running *browser
}

func (s *sharedBrowser) get() (*browser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return s.running, nil
	}
	b, err := startBrowser()
	if err == nil {
		s.running = b
	}
	return b, err
}

// stop ends the browser, if any test needed one.
func (s *sharedBrowser) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return nil
	}
	defer func() { s.running = nil }()
	return s.running.stop()
}

// browser is a Chromium with a profile of its own.
type browser struct {
	process *process
	dir     string
	address string
}

// browserFlags make a browser that shows nothing, asks nobody but 127.0.0.1 and needs little. The sandbox is off: it needs
// rights that root and containers do not have, and the browser sees no pages but ours.
var browserFlags = []string{
	"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
	"--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
	"--disable-extensions", "--disable-default-apps", "--disable-breakpad", "--disable-crash-reporter", "--no-proxy-server",
	"--password-store=basic", "--use-mock-keychain", "--metrics-recording-only", "--mute-audio", "--hide-scrollbars",
	"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--lang=en-US", "--force-color-profile=srgb",
	"--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "--disable-background-timer-throttling",
	"--remote-debugging-port=0",
}

// startBrowser waits until the browser has said on which port it listens for its driver.
func startBrowser() (*browser, error) {
	path, err := findBrowser()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "levelboard-chromium-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for chromium: %w", err)
	}
	log := filepath.Join(dir, "chromium.log")
	b := &browser{dir: dir}
	b.process, err = startProcess(command{
		path: path,
		args: append(append([]string{}, browserFlags...), "--user-data-dir="+dir, "about:blank"),
		env:  append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "DBUS_SESSION_BUS_ADDRESS=/dev/null"),
		dir:  dir,
		log:  log,
	}, syscall.SIGTERM)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := b.process.waitUntil(b.findAddress); err != nil {
		return nil, errors.Join(fmt.Errorf("start chromium: %w\n%s", err, logTail(log)), b.stop())
	}
	return b, nil
}

// findAddress reads the file in which Chromium writes its port and the path of its DevTools.
func (b *browser) findAddress(int) error {
	text, err := os.ReadFile(filepath.Join(b.dir, "DevToolsActivePort"))
	if err != nil {
		return err
	}
	port, path, ok := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if !ok {
		return errors.New("chromium is still writing its port")
	}
	b.address = "ws://127.0.0.1:" + port + path
	return nil
}

// stop ends the browser. Its helpers end by themselves when it is gone, and may write into the profile until then.
func (b *browser) stop() error {
	err := b.process.end(syscall.SIGTERM)
	deadline := time.Now().Add(stopTimeout)
	for {
		gone := os.RemoveAll(b.dir)
		if gone == nil {
			return err
		}
		if time.Now().After(deadline) {
			return errors.Join(err, fmt.Errorf("remove the directory of chromium: %w", gone))
		}
		time.Sleep(pollInterval)
	}
}

func findBrowser() (string, error) {
	for _, name := range []string{
		"chromium", "chromium-browser", "google-chrome",
		"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("chromium is not in PATH: run `make setup`, or install Chromium (Debian: package chromium)")
}
