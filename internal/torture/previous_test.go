package torture

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	// upgradeFrom names the binary of the version to upgrade from, in place of building one.
	upgradeFrom = "LEVELBOARD_UPGRADE_FROM"
	// upgradeBase names the commit that is built, HEAD~1 unless it says otherwise.
	upgradeBase = "LEVELBOARD_UPGRADE_BASE"
)

// previous is the program of the version before: its binary, and what it is called.
func previous(t *testing.T) (program, name string) {
	t.Helper()
	if binary := os.Getenv(upgradeFrom); binary != "" {
		program, err := filepath.Abs(binary)
		if err == nil {
			_, err = os.Stat(program)
		}
		if err != nil {
			t.Fatalf("%s must name the binary of the version before: %v", upgradeFrom, err)
		}
		return program, binary
	}
	base := cmp.Or(os.Getenv(upgradeBase), "HEAD~1")
	commit, err := commitOf(".", base)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := checkOut(commit, dir); err != nil {
		t.Fatalf("check out %s: %v", base, err)
	}
	program = filepath.Join(dir, "levelboard-before")
	// As `make build` does it, so that what is in the build cache is used.
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-tags", "nomsgpack",
		"-ldflags", "-s -w -X levelboard/internal/cli.version="+commit[:12], "-o", program, "./cmd/levelboard")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", base, err, output)
	}
	return program, base + " (" + commit[:12] + ")"
}

// commitOf is the full name of a commit. Where it is not there, its error says what to do about it: a check that is left out
// because a clone is shallow is left out for ever.
func commitOf(dir, base string) (string, error) {
	found, err := git(dir, "rev-parse", "--verify", "--quiet", base+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("there is no commit %s here to upgrade from. In a shallow clone `git fetch --unshallow` gets it; "+
			"otherwise %s names another commit, or %s the binary of the version before: %w", base, upgradeBase, upgradeFrom, err)
	}
	return strings.TrimSpace(string(found)), nil
}

// git runs git in dir, also in a clone that another user owns.
func git(dir string, words ...string) ([]byte, error) {
	command := exec.Command("git", append([]string{"-c", "safe.directory=*", "-C", dir}, words...)...)
	var says bytes.Buffer
	command.Stderr = &says
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w %s", words[0], err, strings.TrimSpace(says.String()))
	}
	return output, nil
}

// checkOut writes the files of a commit into a directory, and leaves the clone as it is.
func checkOut(commit, dir string) error {
	root, err := git(".", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	packed, err := git(strings.TrimSpace(string(root)), "archive", "--format=tar", commit)
	if err != nil {
		return err
	}
	into, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer into.Close()
	for files := tar.NewReader(bytes.NewReader(packed)); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch file.Typeflag {
		case tar.TypeDir:
			err = into.MkdirAll(filepath.Clean(file.Name), 0o755)
		case tar.TypeReg:
			var text []byte
			if text, err = io.ReadAll(files); err == nil {
				err = into.WriteFile(file.Name, text, 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
}

// A clone without the commit is told of with what to do, and not passed over.
func TestAnUpgradeFromNowhereSaysWhatToDo(t *testing.T) {
	whole, shallow := t.TempDir(), filepath.Join(t.TempDir(), "shallow")
	for _, words := range [][]string{
		{"init", "--quiet"},
		{"-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet", "--allow-empty", "-m", "one"},
		{"-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet", "--allow-empty", "-m", "two"},
		{"clone", "--quiet", "--depth=1", "file://" + whole, shallow},
	} {
		if _, err := git(whole, words...); err != nil {
			t.Fatal(err)
		}
	}
	if commit, err := commitOf(whole, "HEAD~1"); err != nil || len(commit) != 40 {
		t.Errorf("a whole clone: %q %v", commit, err)
	}
	for _, c := range []struct{ what, dir, base string }{
		{"no clone", t.TempDir(), "HEAD~1"}, {"nothing before", whole, "HEAD~2"}, {"a shallow clone", shallow, "HEAD~1"},
	} {
		if _, err := commitOf(c.dir, c.base); err == nil || !strings.Contains(err.Error(), "git fetch --unshallow") {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
