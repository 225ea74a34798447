package torture

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// history makes a repository with a commit for each build rule of its Makefile, the last of them checked out, and returns its
// directory.
func history(t *testing.T, rules ...string) string {
	t.Helper()
	dir := t.TempDir()
	gits(t, dir, "init", "--quiet", "--initial-branch=main")
	for _, rule := range rules {
		commit(t, dir, rule)
	}
	return dir
}

func commit(t *testing.T, dir, rule string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte("build:\n\t"+rule+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gits(t, dir, "add", ".")
	gits(t, dir, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet", "--allow-empty", "-m", "a commit")
}

func gits(t *testing.T, dir string, words ...string) {
	t.Helper()
	if _, err := git(dir, words...); err != nil {
		t.Fatal(err)
	}
}

const builds, builtOtherwise, doesNot = "echo one >levelboard", "echo two >levelboard", "@echo no such file; false"

func TestAnUpgradeIsFromTheNewestCommitThatBuilds(t *testing.T) {
	merged := history(t, builds)
	gits(t, merged, "checkout", "--quiet", "-b", "side")
	commit(t, merged, doesNot)
	gits(t, merged, "checkout", "--quiet", "main")
	commit(t, merged, builtOtherwise)
	gits(t, merged, "-c", "user.name=x", "-c", "user.email=x@example.org", "merge", "--quiet", "--strategy=ours", "-m", "a merge", "side")
	for _, c := range []struct {
		what, dir, want string
		told            []string
	}{
		{"the commit before", history(t, builds, builtOtherwise, doesNot), "two", []string{"HEAD~1"}},
		{"one before a commit that does not build", history(t, builds, doesNot, builtOtherwise), "one", []string{"HEAD~1", "no such file", "HEAD~2"}},
		{"what was merged into", merged, "two", []string{"HEAD~1"}},
	} {
		program, name, err := newestBefore(c.dir, t.TempDir())
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if text, err := os.ReadFile(program); err != nil || strings.TrimSpace(string(text)) != c.want {
			t.Errorf("%s: the program is %q, %v", c.what, text, err)
		}
		for _, told := range c.told {
			if !strings.Contains(name, told) {
				t.Errorf("%s: it is called %q, without %s", c.what, name, told)
			}
		}
	}
}

// Where no commit is, this tree is upgraded to itself, and the test says so; but a commit that was asked for has to be there.
func TestAnUpgradeFromNowhereSaysSo(t *testing.T) {
	whole, shallow := history(t, builds, builds), filepath.Join(t.TempDir(), "shallow")
	gits(t, whole, "clone", "--quiet", "--depth=1", "file://"+whole, shallow)
	unpacked := filepath.Join(whole, "unpacked")
	if err := os.Mkdir(unpacked, 0o755); err != nil {
		t.Fatal(err)
	}
	for what, dir := range map[string]string{
		"no clone": t.TempDir(), "a directory in another clone": unpacked, "a first commit": history(t, builds), "a shallow clone": shallow,
		"a clone of which nothing builds": history(t, doesNot, doesNot, builds),
	} {
		program, name, err := newestBefore(dir, t.TempDir())
		if err != nil || program != "" || !strings.Contains(name, "this tree itself") || !strings.Contains(name, "git fetch --unshallow") {
			t.Errorf("%s: %q, %q, %v", what, program, name, err)
		}
	}
	if _, _, err := programOf(shallow, "HEAD~1", filepath.Join(t.TempDir(), "x")); !errors.Is(err, errNoBase) {
		t.Errorf("asked for: %v", err)
	}
}
