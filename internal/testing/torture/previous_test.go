package torture

import (
	"archive/tar"
	"bytes"
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
	// upgradeBase names the commit that is built. One that is named has to be here and to build.
	upgradeBase = "LEVELBOARD_UPGRADE_BASE"
	// lookBack is how many commits before this one are looked at when none is named.
	lookBack = 5
)

// errNoBase says that there is no commit to upgrade from: this is a shallow clone, the first commit, or no clone.
var errNoBase = errors.New("the commit is not here")

// previous is the program of the version before: its binary, and what it is called. When nothing is named it is the last commit
// before this one that builds; and where there is none, as in a shallow clone, this tree itself (an empty program), with the
// reason in its name. No change of the tree could bring back what a clone left out, or mend a commit that is made.
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
	if base := os.Getenv(upgradeBase); base != "" {
		program, name, err := programOf("../../..", base, filepath.Join(t.TempDir(), "base"))
		if errors.Is(err, errNoBase) {
			t.Fatalf("%v. In a shallow clone `git fetch --unshallow` gets it; otherwise %s names another commit, or %s the binary of the version before", err, upgradeBase, upgradeFrom)
		}
		if err != nil {
			t.Fatal(err)
		}
		return program, name
	}
	program, name, err := newestBefore("../../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return program, name
}

// newestBefore is the program of the newest commit before this one that can be had; empty when there is none, and then the name
// says why. A merge's commit before is the one that was merged into.
func newestBefore(clone, dir string) (program, name string, err error) {
	var reasons []string
	for back := range lookBack {
		program, name, err := programOf(clone, fmt.Sprintf("HEAD~%d", back+1), filepath.Join(dir, fmt.Sprint(back)))
		if errors.Is(err, exec.ErrNotFound) {
			return "", "", err
		}
		if err == nil {
			return program, strings.Join(append(reasons, name), "; "), nil
		}
		reasons = append(reasons, err.Error())
		if errors.Is(err, errNoBase) {
			break
		}
	}
	return "", "this tree itself, since there is no version before (git fetch --unshallow, if the clone is shallow): " + strings.Join(reasons, "; "), nil
}

// programOf builds the program of a commit, in a directory that is made for it.
func programOf(clone, base, dir string) (program, name string, err error) {
	commit, err := commitOf(clone, base)
	if err != nil {
		return "", "", err
	}
	if err := checkOut(clone, commit, dir); err != nil {
		return "", "", fmt.Errorf("check out %s: %w", base, err)
	}
	name = base + " (" + commit[:12] + ")"
	// With what its own Makefile builds it with; a release has the same, and finds it compiled.
	build := exec.Command("make", "--no-print-directory", "build", "VERSION="+commit[:12])
	build.Dir = dir
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "MAKE") && !strings.HasPrefix(variable, "MFLAGS=") { // they are about the outer make
			build.Env = append(build.Env, variable)
		}
	}
	build.Env = append(build.Env, "GOFLAGS=", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("build %s: %w\n%s", name, err, output)
	}
	return filepath.Join(dir, "levelboard"), name, nil
}

// commitOf is the full name of a commit of the repository at dir, which has to be its root: a directory of another repository,
// such as one that this tree was unpacked in, has no commits of it.
func commitOf(dir, base string) (string, error) {
	found, err := git(dir, "rev-parse", "--show-prefix", "--verify", "--quiet", base+"^{commit}")
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("git is missing: run make setup: %w", err)
	}
	inside, commit, _ := strings.Cut(string(found), "\n")
	if err != nil {
		return "", fmt.Errorf("%s: %w: %w", base, errNoBase, err)
	}
	if inside != "" {
		return "", fmt.Errorf("%s: %w: this is %s in another repository", base, errNoBase, inside)
	}
	return strings.TrimSpace(commit), nil
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

// checkOut writes the files of a commit into a new directory, and leaves the clone as it is.
func checkOut(clone, commit, dir string) error {
	packed, err := git(clone, "archive", "--format=tar", commit)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
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
