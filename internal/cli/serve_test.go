package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// This test sends a real signal to a real process.
func TestServePrintsItsAddressAndStopsOnSIGTERM(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	command := exec.CommandContext(t.Context(), os.Args[0], "serve")
	command.Env = []string{asCommand, "LEVELBOARD_LISTEN=127.0.0.1:0", "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_DATA_DIR=" + dir, "LEVELBOARD_LISTN=typo"}
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	var first []string
	for len(first) < 6 && lines.Scan() {
		first = append(first, lines.Text())
	}
	all := strings.Join(first, "\n")
	for _, want := range []string{
		`^levelboard: warning: LEVELBOARD_LISTN is not a setting`,
		`\nLevelboard \S+ listens on 127\.0\.0\.1:\d+ and serves http://127\.0\.0\.1:\d+/v2\n`,
		`\nMetrics and health checks: http://127\.0\.0\.1:\d+/metrics`,
		`\nEmbedded: .* SQLite in ` + regexp.QuoteMeta(dir) + `\n`,
		`\nAdmin token: in the file ` + regexp.QuoteMeta(filepath.Join(dir, "admin-token")) + `\n`,
		`set LEVELBOARD_REDIS_URL and LEVELBOARD_POSTGRES_URL$`,
	} {
		if !regexp.MustCompile(want).MatchString(all) {
			t.Errorf("the first lines do not match %s:\n%s", want, all)
		}
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/v2`).FindString(all)
	succeed(t, []string{"LEVELBOARD_URL=" + strings.TrimSuffix(address, "/v2"), "LEVELBOARD_DATA_DIR=" + dir}, "", "guild", "list")

	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("after SIGTERM the process ends with %v\n%s\n%s", err, all, rest)
	}
}

// With LEVELBOARD_LOG_FORMAT=json every line of standard error is JSON, from the first warning on.
func TestEveryLineOfAJSONLogIsJSON(t *testing.T) {
	environ := []string{"LEVELBOARD_LOG_FORMAT=json", "LEVELBOARD_LISTN=typo", "OTEL_TRACES_EXPORTER=otlp", "OTEL_TRACES_SAMPLER=sometimes"}
	p := serve(t, append(environ, "LEVELBOARD_DATA_DIR="+t.TempDir())...)
	p.signal(syscall.SIGTERM)
	p.wait(time.Minute)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var stdout, stderr bytes.Buffer
	Run(t.Context(), []string{"serve"}, Environment{strings.NewReader(""), &stdout, &stderr, append(environ,
		"LEVELBOARD_LISTEN="+taken.Addr().String(), "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_DATA_DIR="+t.TempDir())})
	said := p.said() + stderr.String()
	for _, want := range []string{"LEVELBOARD_LISTN is not a setting", "unsupported sampler", "listens on", "stopping (terminated)", `"stopped"`, "stop the program that listens there"} {
		if !strings.Contains(said, want) {
			t.Errorf("no line has %q", want)
		}
	}
	for line := range strings.Lines(said) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is not JSON: %s", line)
		}
	}
}

func TestServeOnATakenPortSaysWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var stdout, stderr bytes.Buffer
	code := Run(t.Context(), []string{"serve"}, Environment{strings.NewReader(""), &stdout, &stderr, []string{
		"LEVELBOARD_LISTEN=" + taken.Addr().String(), "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_DATA_DIR=" + t.TempDir(),
	}})
	if code != exitFailed || !strings.Contains(stderr.String(), "stop the program that listens there, or set LEVELBOARD_LISTEN") {
		t.Errorf("on a taken port the exit code is %d, want a hint\n%s", code, stderr.String())
	}
}
