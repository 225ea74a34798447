package packages

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository.
const root = "../.."

// levelboard and levelboardBot are the binaries that the checks run.
var levelboard, levelboardBot string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	if levelboard = os.Getenv("LEVELBOARD_BIN"); levelboard != "" {
		levelboardBot = levelboard + "-bot"
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "levelboard-packages-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	levelboard, levelboardBot = filepath.Join(dir, "levelboard"), filepath.Join(dir, "levelboard-bot")
	for _, binary := range []string{levelboard, levelboardBot} {
		build := exec.Command("make", "static", "PROGRAM="+filepath.Base(binary), "OUT="+binary)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("building %s: %w\n%s", filepath.Base(binary), err, out)
		}
	}
	return m.Run(), nil
}

// checkBotSettings runs the bot with the settings and a Discord token with which it cannot connect.
func checkBotSettings(t *testing.T, where string, environment map[string]string) {
	t.Helper()
	command := exec.Command(levelboardBot, "healthcheck")
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LEVELBOARD_OPS_LISTEN=127.0.0.1:1"}
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+value)
	}
	// Exit code 2 means bad settings. 1 is expected, because the bot cannot connect.
	if out, _ := command.CombinedOutput(); command.ProcessState.ExitCode() != 1 {
		t.Errorf("%s: levelboard-bot exits with %d, want 1\n%s", where, command.ProcessState.ExitCode(), out)
	}
}

// checkSettings runs `levelboard config check` with environment, and fails for unknown names and invalid values.
func checkSettings(t *testing.T, where string, environment map[string]string) {
	t.Helper()
	command := exec.Command(levelboard, "config", "check")
	command.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+value)
	}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%s: levelboard config check: %v\n%s", where, err, out)
	}
	for _, setting := range []string{"LEVELBOARD_REDIS_URL_FILE", "LEVELBOARD_POSTGRES_URL_FILE", "LEVELBOARD_ADMIN_TOKEN_FILE"} {
		if environment[setting] == "" {
			t.Errorf("%s does not set %s", where, setting)
		}
	}
}

// secretFiles writes the files that an operator makes, and returns their directory.
func secretFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"redis-url":    "redis://:password@redis.example.org:6379/0",
		"postgres-url": "postgres://levelboard:password@postgres.example.org:5432/levelboard",
		"admin-token":  strings.Repeat("0123456789abcdef", 4),

		"discord-token": "a.token.of-discord",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// write writes a secret into a file and returns its path.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(content+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// documentedPort returns a setting's port in the container image, from docs/configuration.md.
func documentedPort(t *testing.T, setting string) string {
	t.Helper()
	row := regexp.MustCompile("(?m)^\\| `" + setting + "` .*; :([0-9]+) in the container image").FindStringSubmatch(read(t, "docs/configuration.md"))
	if row == nil {
		t.Fatalf("docs/configuration.md lacks the value of %s in the container image", setting)
	}
	return row[1]
}

// need finds a program that scripts/setup installs.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("%s is missing: run make setup", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
