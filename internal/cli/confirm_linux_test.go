package cli

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns a terminal and the side of whoever sits at it.
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

func TestDeletingAGuildIsAskedAboutAtATerminal(t *testing.T) {
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
		"told not to":  {args: []string{"--yes"}, deleted: true},
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
				t.Errorf("the terminal shows %q", seen)
			}
			if gone := run(t, environ, "", "guild", "get", gophers).code == exitFailed; gone != c.deleted || (code == exitOK) != c.deleted {
				t.Errorf("exit code %d; deleted: %t", code, gone)
			}
		})
	}
	t.Run("nobody sees a question", func(t *testing.T) {
		terminal, _ := openTerminal(t)
		var stdout, stderr bytes.Buffer
		code := Run(t.Context(), []string{"guild", "delete", gophers}, Environment{terminal, &stdout, &stderr, environ})
		if code != exitUsage || !strings.Contains(stderr.String(), "give --yes") {
			t.Errorf("exit code %d, %q", code, &stderr)
		}
	})
}

// shown is what was written to the terminal, what was typed included.
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
			t.Fatalf("%v after %q", err, seen.String())
		}
		seen.Write(buffer[:n])
	}
	return seen.String()
}
