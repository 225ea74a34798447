package packages

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const deployDocument = "docs/deploy.md"

// operatorsPages are pages that name settings and files.
var operatorsPages = []string{
	deployDocument, "docs/backup.md", "docs/kubernetes.md", "docs/operations.md", "docs/redis.md", "docs/security.md", "docs/sign-in.md", "docs/sizing.md", "docs/start.md", "docs/two-replicas.md", "docs/upgrade.md",
}

// TestTheSettingsOfTheModesOfRedisAreEnough takes the settings from the pages about them.
func TestTheSettingsOfTheModesOfRedisAreEnough(t *testing.T) {
	secrets := secretFiles(t)
	const page = "docs/redis.md"
	for _, mode := range []string{"sentinel", "cluster"} {
		block := regexp.MustCompile("```\n(LEVELBOARD_REDIS_MODE=" + mode + "\n[^`]*)```").FindStringSubmatch(read(t, page))
		if block == nil {
			t.Errorf("%s has no block of settings", page)
			continue
		}
		environment := map[string]string{
			"LEVELBOARD_POSTGRES_URL_FILE": filepath.Join(secrets, "postgres-url"),
			"LEVELBOARD_ADMIN_TOKEN_FILE":  filepath.Join(secrets, "admin-token"),
		}
		for line := range strings.Lines(block[1]) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			environment[name] = value
			if name == "LEVELBOARD_REDIS_URL" { // a file in the unit and the manifests
				delete(environment, name)
				environment[name+"_FILE"] = write(t, value)
			}
		}
		checkSettings(t, page, environment)
	}
}

// All settings are in docs/configuration.md, as a test in internal/config checks.
func TestTheNamedSettingsExist(t *testing.T) {
	known := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(LEVELBOARD_[A-Z_]+)` .*$").FindAllStringSubmatch(read(t, "docs/configuration.md"), -1) {
		known[row[1]] = true
		known[row[1]+"_FILE"] = strings.Contains(row[0], row[1]+"_FILE")
	}
	if len(known) < 20 {
		t.Fatalf("docs/configuration.md has %d settings, want at least 20", len(known))
	}
	for _, file := range append(operatorsPages, "deploy/kubernetes/example/kustomization.yaml") {
		for _, name := range regexp.MustCompile(`LEVELBOARD_[A-Z_]*[A-Z]`).FindAllString(read(t, file), -1) {
			if !known[name] {
				t.Errorf("%s names %s, which is no setting", file, name)
			}
		}
	}
}

// The pages name files in commands and in the text.
func TestTheNamedFilesExist(t *testing.T) {
	for _, file := range operatorsPages {
		text := read(t, file)
		for _, path := range regexp.MustCompile(`\b(?:deploy|scripts|internal)/[a-zA-Z0-9_./-]*[a-zA-Z0-9]`).FindAllString(text, -1) {
			if path == "deploy/compose.env" || path == "deploy/bot.env" { // made by the operator
				continue
			}
			if found, err := filepath.Glob(filepath.Join(root, path)); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", file, path)
			}
		}
		for _, target := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
			if !strings.Contains(read(t, "Makefile"), "\n"+target[1]+":") {
				t.Errorf("%s names make %s, which is no target of the Makefile", file, target[1])
			}
		}
	}
}
