package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTheVersionFollowsTagsAndTheChangelog(t *testing.T) {
	script, err := filepath.Abs("../../version")
	if err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	run := func(line string) string {
		t.Helper()
		command := exec.Command("bash", "-ec", line)
		command.Dir = tree
		command.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(tree), "SCRIPT="+script,
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		printed, err := command.Output()
		if err != nil {
			t.Fatalf("running %s: %v", line, err)
		}
		return strings.TrimSpace(string(printed))
	}
	run(`mkdir scripts; cp "$SCRIPT" scripts; printf '## [Unreleased]\n\n## [0.2.0] - 2027-01-02\n\n## [0.1.0] - 2026-11-27\n' >CHANGELOG.md`)
	for _, step := range []struct{ after, want string }{
		{`true`, `v0\.2\.0-dev`},
		{`git init -q .; git add .; git commit -qm one`, `v0\.2\.0-dev\+[0-9a-f]{7,}`},
		{`echo >>CHANGELOG.md`, `v0\.2\.0-dev\+[0-9a-f]{7,}-dirty`},
		{`git commit -qam two; git tag v0.2.0`, `v0\.2\.0`},
		{`git commit -q --allow-empty -m three`, `v0\.2\.0-1-g[0-9a-f]{7,}`},
	} {
		run(step.after)
		if got := run("scripts/version"); !regexp.MustCompile("^" + step.want + "$").MatchString(got) {
			t.Errorf("after %s the version is %s, want %s", step.after, got, step.want)
		}
	}
}
