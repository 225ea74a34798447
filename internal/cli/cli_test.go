package cli

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/app"
	testservice "levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

// asCommand makes the test binary run as the program, for tests that need a process.
const asCommand = "AS_LEVELBOARD=1"

func TestMain(m *testing.M) {
	if slices.Contains(os.Environ(), asCommand) {
		os.Exit(Run(context.Background(), os.Args[1:], Environment{os.Stdin, os.Stdout, os.Stderr, os.Environ()}))
	}
	testenv.AtExit(http.DefaultClient.CloseIdleConnections)
	testenv.Main(m)
}

// result is the outcome of a command.
type result struct {
	code           int
	stdout, stderr string
}

func run(t *testing.T, environ []string, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(t.Context(), args, Environment{strings.NewReader(stdin), &stdout, &stderr, environ})
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "levelboard: ") && !strings.HasPrefix(line, "Usage: levelboard") && !strings.HasPrefix(line, "Run 'levelboard") {
			t.Errorf("levelboard %s wrote the line %q to standard error", strings.Join(args, " "), line)
		}
	}
	return result{code, stdout.String(), stderr.String()}
}

// succeed runs a command that must succeed, and returns its output.
func succeed(t *testing.T, environ []string, stdin string, args ...string) string {
	t.Helper()
	r := run(t, environ, stdin, args...)
	if r.code != exitOK || r.stderr != "" {
		t.Fatalf("levelboard %s: the exit code is %d, want 0 and nothing on standard error\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// fail runs a command that must fail with this code, print nothing, and say this on standard error.
func fail(t *testing.T, environ []string, code int, says string, args ...string) {
	t.Helper()
	r := run(t, environ, "", args...)
	if r.code != code || r.stdout != "" || !strings.Contains(r.stderr, says) {
		t.Errorf("levelboard %s: exit code %d, want %d with %q\nstdout: %s\nstderr: %s", strings.Join(args, " "), r.code, code, says, r.stdout, r.stderr)
	}
}

// startService runs an embedded service in its own directory, with these settings too, and returns the environment for its clients.
func startService(t *testing.T, settings ...string) (environ []string, a *app.App) {
	t.Helper()
	dir := t.TempDir()
	a = testservice.Embedded(t, append([]string{
		"LEVELBOARD_DATA_DIR=" + dir, "LEVELBOARD_ADMIN_TOKEN=", "LEVELBOARD_RATE_LIMIT_KEY=", "LEVELBOARD_RATE_LIMIT_IDENTITY=",
	}, settings...)...)
	return []string{"LEVELBOARD_URL=" + a.URL(), "LEVELBOARD_DATA_DIR=" + dir, "LEVELBOARD_OPS_LISTEN=" + a.OpsAddr()}, a
}

// paste runs a printed curl command as a shell does.
func paste(t *testing.T, line string) (status int, body string) {
	t.Helper()
	words := shellWords(t, strings.TrimSpace(line))
	if words[0] != "curl" {
		t.Fatalf("the printed line %q is not a curl command", line)
	}
	method, url, data, header := http.MethodGet, "", "", []string(nil)
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-s":
		case "-X":
			i++
			method = words[i]
		case "-H":
			i++
			name, value, _ := strings.Cut(words[i], ": ")
			header = append(header, name, value)
		case "-d":
			i++
			data = words[i]
		default:
			url = words[i]
		}
	}
	if data != "" && !slices.Contains(header, "Content-Type") {
		t.Errorf("the printed line %q sends a body without a Content-Type", line)
	}
	answer, err := testenv.Send(t.Context(), nil, method, url, data, header...)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status, string(answer.Body)
}

// shellWords splits a line at blanks outside single quotes.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// linesWith returns the lines that contain what.
func linesWith(text, what string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, what) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
