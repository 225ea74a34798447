package redisstore

import (
	"io/fs"
	"strings"
	"testing"
)

// Scripts use the constant MAX_XP for the maximum XP, not the number. Their lines fit a screen.
func TestScriptsUseTheConstantForTheMaximumXP(t *testing.T) {
	err := fs.WalkDir(scriptFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scriptFiles.ReadFile(path)
		if strings.Contains(string(text), "2147483647") {
			t.Errorf("%s has the maximum XP as a number, want MAX_XP", path)
		}
		for line := range strings.Lines(string(text)) {
			if len(line) > 141 {
				t.Errorf("%s has a line of more than 140 characters: %s", path, line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(constants, ", 2147483647, ") {
		t.Errorf("the scripts' constants are %q, want the maximum XP among them", constants)
	}
}
