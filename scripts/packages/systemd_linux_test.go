package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installed writes the unit as it would be installed, with the binary where it is here, and returns its path.
func installed(t *testing.T) string {
	t.Helper()
	absolute, err := filepath.Abs(levelboard)
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "levelboard.service")
	content := strings.ReplaceAll(read(t, unitFile), "/usr/local/bin/levelboard", absolute)
	if err := os.WriteFile(unit, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return unit
}

func TestSystemdAcceptsTheUnit(t *testing.T) {
	out, err := exec.Command(need(t, "systemd-analyze"), "verify", "--man=no", "--recursive-errors=no", installed(t)).CombinedOutput()
	if err != nil || len(strings.TrimSpace(string(out))) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// TestTheUnitIsConfined: 10 is no protection at all, and systemd calls up to 2 "OK". In tenths.
func TestTheUnitIsConfined(t *testing.T) {
	out, err := exec.Command(need(t, "systemd-analyze"), "security", "--no-pager", "--offline=true", "--threshold=15", installed(t)).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}
