package packages

import (
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const deployDocument = "docs/deploy.md"

// TestTheSettingsOfTheModesOfRedisAreEnough takes each block of settings out of the document, with the URL that stands above them.
func TestTheSettingsOfTheModesOfRedisAreEnough(t *testing.T) {
	secrets := secretFiles(t)
	base := map[string]string{
		"LEVELBOARD_POSTGRES_URL_FILE": filepath.Join(secrets, "postgres-url"),
		"LEVELBOARD_ADMIN_TOKEN_FILE":  filepath.Join(secrets, "admin-token"),
	}
	blocks := regexp.MustCompile("(?s)```sh\n# (redis[^\n]*)\n(LEVELBOARD_.*?)```").FindAllStringSubmatch(read(t, deployDocument), -1)
	for _, block := range blocks {
		environment := maps.Clone(base)
		environment["LEVELBOARD_REDIS_URL_FILE"] = write(t, block[1])
		for line := range strings.Lines(block[2]) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			environment[name] = value
		}
		checkSettings(t, deployDocument+", "+environment["LEVELBOARD_REDIS_MODE"], environment)
	}
	if len(blocks) != 2 {
		t.Errorf("%s has settings for %d modes, not for sentinel and cluster", deployDocument, len(blocks))
	}
}

// TestTheSettingsThatAreNamedExist: docs/configuration.md has them all, which internal/config holds it to.
func TestTheSettingsThatAreNamedExist(t *testing.T) {
	known := map[string]bool{"LEVELBOARD_UPGRADE_FROM": true} // of make upgrade-test
	for _, row := range regexp.MustCompile("(?m)^\\| `(LEVELBOARD_[A-Z_]+)` .*$").FindAllStringSubmatch(read(t, "docs/configuration.md"), -1) {
		known[row[1]] = true
		known[row[1]+"_FILE"] = strings.Contains(row[0], row[1]+"_FILE")
	}
	if len(known) < 20 {
		t.Fatalf("docs/configuration.md has only %d settings", len(known))
	}
	for _, file := range []string{deployDocument, "docs/operations.md", "docs/sentinel.md", "docs/redis-cluster.md", "docs/security.md", "deploy/kubernetes/example/kustomization.yaml"} {
		for _, name := range regexp.MustCompile(`LEVELBOARD_[A-Z_]*[A-Z]`).FindAllString(read(t, file), -1) {
			if !known[name] {
				t.Errorf("%s names %s, which is no setting", file, name)
			}
		}
	}
}

// TestTheFilesThatAreNamedExist: those of the commands and of the text.
func TestTheFilesThatAreNamedExist(t *testing.T) {
	for _, file := range []string{deployDocument, "docs/operations.md"} {
		text := read(t, file)
		for _, path := range regexp.MustCompile(`\b(?:deploy|scripts|internal)/[a-zA-Z0-9_./-]*[a-zA-Z0-9]`).FindAllString(text, -1) {
			if path == "deploy/compose.env" { // a person makes it
				continue
			}
			if found, err := filepath.Glob(filepath.Join(root, path)); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", file, path)
			}
		}
		for _, target := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
			if !strings.Contains(read(t, "Makefile"), "\n"+target[1]+":") {
				t.Errorf("%s names make %s, which is no target", file, target[1])
			}
		}
	}
}
