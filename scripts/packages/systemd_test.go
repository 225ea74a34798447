package packages

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	unitFile    = "deploy/systemd/levelboard.service"
	botUnitFile = "deploy/systemd/levelboard-bot.service"
)

// unit returns a unit's values by name.
func unit(t *testing.T, file string) map[string][]string {
	t.Helper()
	values := map[string][]string{}
	for line := range strings.Lines(read(t, file)) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(name, "#") {
			values[name] = append(values[name], value)
		}
	}
	return values
}

func TestTheSettingsOfSystemdExist(t *testing.T) {
	values := unit(t, unitFile)
	secrets := secretFiles(t)
	environment := map[string]string{}
	for _, assignment := range values["Environment"] {
		name, value, _ := strings.Cut(assignment, "=")
		if credential, isCredential := strings.CutPrefix(value, "%d/"); isCredential {
			if !strings.Contains(strings.Join(values["LoadCredential"], " ")+" ", credential+":/etc/levelboard/"+credential+" ") {
				t.Errorf("%s names the credential %s, which the unit does not load", name, credential)
			}
			value = filepath.Join(secrets, credential)
		}
		environment[name] = value
	}
	checkSettings(t, unitFile, environment)

	example := maps.Clone(environment)
	maps.Copy(example, commented(t, "deploy/systemd/levelboard.env"))
	checkSettings(t, "deploy/systemd/levelboard.env", example)

	stop, err := time.ParseDuration(example["LEVELBOARD_SHUTDOWN_TIMEOUT"])
	if err != nil {
		t.Fatalf("LEVELBOARD_SHUTDOWN_TIMEOUT: %v", err)
	}
	if given, err := time.ParseDuration(values["TimeoutStopSec"][0] + "s"); err != nil || given < stop+5*time.Second {
		t.Errorf("the service has %s to stop, but may take %s and five seconds", given, stop)
	}
}

// process_start_time_seconds, from which an alert counts restarts, needs /proc/stat.
func TestTheUnitDoesNotHideProcStat(t *testing.T) {
	if hidden := unit(t, unitFile)["ProcSubset"]; len(hidden) > 0 {
		t.Errorf("ProcSubset=%s hides /proc/stat from the service", hidden[0])
	}
}

// commented returns the settings behind # in an example file. Those without a value get one.
func commented(t *testing.T, file string) map[string]string {
	t.Helper()
	settings := map[string]string{}
	for line := range strings.Lines(read(t, file)) {
		name, value, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "#"), "=")
		if !found || !strings.HasPrefix(name, "LEVELBOARD_") {
			continue
		}
		if value == "" {
			value = "given"
		}
		settings[name] = value
	}
	if len(settings) == 0 {
		t.Errorf("%s has no commented settings", file)
	}
	return settings
}
