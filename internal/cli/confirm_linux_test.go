package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns a terminal and the side of its user.
func openTerminal(t *testing.T) (terminal, keyboard *os.File) {
	t.Helper()
	open := func(path string) *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Skipf("no terminals here: %v", err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	keyboard = open("/dev/ptmx")
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return open("/dev/pts/" + strconv.Itoa(number)), keyboard
}

func TestDeletingAGuildAsksAtATerminal(t *testing.T) {
	environ, _ := startService(t)
	const question = "Delete Gophers (" + gophers + ") with all its members? This cannot be undone. Write " + gophers + " to continue: "
	const changedMind = "levelboard: that is another answer, so nothing was done"
	for name, c := range map[string]struct {
		typed   string
		args    []string
		asked   bool
		deleted bool
	}{
		"the id":       {typed: gophers + "\n", asked: true, deleted: true},
		"its name":     {typed: "Gophers\n", asked: true},
		"nothing":      {typed: "\n", asked: true},
		"end of input": {typed: "\x04", asked: true},
		"with --yes":   {args: []string{"--yes"}, deleted: true},
	} {
		t.Run(name, func(t *testing.T) {
			succeed(t, environ, gophersDocument, "guild", "apply", "-f", "-")
			terminal, keyboard := openTerminal(t)
			if _, err := keyboard.WriteString(c.typed); err != nil {
				t.Fatal(err)
			}
			var stdout bytes.Buffer
			code := Run(t.Context(), append([]string{"guild", "delete", gophers}, c.args...), Environment{terminal, &stdout, terminal, environ})
			seen := shown(t, terminal, keyboard)
			if strings.Contains(seen, question) != c.asked || strings.Contains(seen, changedMind) == c.deleted {
				t.Errorf("the terminal shows %q, want the question: %v", seen, c.asked)
			}
			if gone := run(t, environ, "", "guild", "get", gophers).code == exitFailed; gone != c.deleted || (code == exitOK) != c.deleted {
				t.Errorf("the exit code is %d and the guild deleted: %t, want %t", code, gone, c.deleted)
			}
		})
	}
	t.Run("without a terminal", func(t *testing.T) {
		terminal, _ := openTerminal(t)
		var stdout, stderr bytes.Buffer
		code := Run(t.Context(), []string{"guild", "delete", gophers}, Environment{terminal, &stdout, &stderr, environ})
		if code != exitUsage || !strings.Contains(stderr.String(), "use --yes") {
			t.Errorf("the exit code is %d with %q, want a hint to --yes", code, &stderr)
		}
	})
}

// An import asks at a terminal, and shows its progress.
func TestAnImportAsksAtATerminal(t *testing.T) {
	environ, _ := withMembers(t, nil)
	file := filepath.Join(t.TempDir(), "members.csv")
	if err := os.WriteFile(file, []byte(table(1200)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typed string
		code  int
		bar   bool
	}{{"no\n", exitFailed, false}, {"yes\n", exitOK, true}} {
		terminal, keyboard := openTerminal(t)
		if _, err := keyboard.WriteString(c.typed); err != nil {
			t.Fatal(err)
		}
		var stdout bytes.Buffer
		code := Run(t.Context(), []string{"import", file, "--guild", gophers}, Environment{terminal, &stdout, terminal, environ})
		seen := shown(t, terminal, keyboard)
		if code != c.code || !strings.Contains(seen, "Import 1200 members into Gophers? Write yes to continue: ") {
			t.Errorf("typing %q: the exit code is %d, want %d, and the terminal shows %q", c.typed, code, c.code, seen)
		}
		if strings.Contains(seen, "importing") != c.bar || strings.Contains(seen, "1000/1200") != c.bar {
			t.Errorf("typing %q: a progress bar is shown: %t, want %t: %q", c.typed, !c.bar, c.bar, seen)
		}
		if there := strings.Count(exported(t, environ), "\n"); (there == 1200) != c.bar {
			t.Errorf("typing %q: %d members are imported, want 1200 or none", c.typed, there)
		}
	}
}

// shown returns everything on the terminal, including typed text.
func shown(t *testing.T, terminal, keyboard *os.File) string {
	t.Helper()
	const end = "<end>"
	if _, err := terminal.WriteString(end); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for !strings.Contains(seen.String(), end) {
		buffer := make([]byte, 4096)
		n, err := keyboard.Read(buffer)
		if err != nil {
			t.Fatalf("reading the terminal: %v after %q", err, seen.String())
		}
		seen.Write(buffer[:n])
	}
	return seen.String()
}
