package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installed writes a unit with this machine's path of the binary, and returns its path.
func installed(t *testing.T, file, binary string) string {
	t.Helper()
	absolute, err := filepath.Abs(binary)
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), filepath.Base(file))
	content := strings.ReplaceAll(read(t, file), "ExecStart=/usr/local/bin/"+strings.TrimSuffix(filepath.Base(file), ".service"), "ExecStart="+absolute)
	if err := os.WriteFile(unit, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return unit
}

func TestSystemdAcceptsTheUnits(t *testing.T) {
	for file, binary := range map[string]string{unitFile: levelboard, botUnitFile: levelboardBot} {
		out, err := exec.Command(need(t, "systemd-analyze"), "verify", "--man=no", "--recursive-errors=no", installed(t, file, binary)).CombinedOutput()
		if err != nil || len(strings.TrimSpace(string(out))) > 0 {
			t.Errorf("systemd-analyze verify %s: %v, want no output\n%s", file, err, out)
		}
	}
}

// The exposure is in tenths: 100 is no protection, and systemd calls up to 20 "OK".
func TestTheUnitsAreConfined(t *testing.T) {
	for file, binary := range map[string]string{unitFile: levelboard, botUnitFile: levelboardBot} {
		out, err := exec.Command(need(t, "systemd-analyze"), "security", "--no-pager", "--offline=true", "--threshold=15", installed(t, file, binary)).CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze security %s: %v\n%s", file, err, out)
		}
	}
}
