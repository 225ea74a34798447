package card

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const systemFolder = "/usr/share/fonts"

var openSystemFonts = sync.OnceValues(func() (*Fonts, error) { return OpenFonts(systemFolder, slog.New(slog.DiscardHandler)) })

// systemFonts returns the fonts that scripts/setup installs, and others of the system.
func systemFonts(t testing.TB) *Fonts {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the test's fonts are those of Linux")
	}
	f, err := openSystemFonts()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// aFont returns the path of one of them.
func aFont(t testing.TB) string {
	t.Helper()
	for _, face := range systemFonts(t).regular {
		if face.has('क') {
			return face.path
		}
	}
	t.Fatal("no font has Devanagari; scripts/setup installs one")
	return ""
}

// folder makes a folder of files by name. A value is the file's text, or the path of a file to copy.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		text := []byte(content)
		if filepath.IsAbs(content) {
			var err error
			if text, err = os.ReadFile(content); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAFolderWithoutFontsIsAnError(t *testing.T) {
	empty, readme := t.TempDir(), folder(t, map[string]string{"README.ttf": "no font"})
	for dir, want := range map[string]string{
		filepath.Join(empty, "none"): "does not exist", filepath.Join(readme, "README.ttf"): "is not a folder", empty: "has no font", readme: "has no font",
	} {
		if _, err := OpenFonts(dir, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("opening %s: %v, want that it %s", dir, err, want)
		}
	}
}

func TestUnusableFontsAreLeftOut(t *testing.T) {
	font := aFont(t)
	dir := folder(t, map[string]string{"deep/er/good.TTF": font, "broken.ttf": "OTTO and nothing more", "readme.txt": "no font"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	f, err := OpenFonts(link, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil || len(f.regular) != 1 {
		t.Fatalf("%v fonts are usable (%v), want one", f, err)
	}
	for _, want := range []string{"fonts=1 left_out=1", "broken.ttf"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
	// A font that existed at the start may be gone when a name needs it.
	if err := os.Remove(filepath.Join(dir, "deep/er/good.TTF")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.PNG(with(func(d *Data) { d.GlobalName = "क्षत्रिय" }), Light); err != nil {
		t.Error(err)
	}
}

func TestFontsHaveAnIdentity(t *testing.T) {
	font := aFont(t)
	id := func(files map[string]string) string {
		f, err := OpenFonts(folder(t, files), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return f.ID()
	}
	one := id(map[string]string{"a.ttf": font})
	if again := id(map[string]string{"a.ttf": font}); again != one || len(one) != 12 {
		t.Errorf("a copy of the folder has the identity %q, want %q of 12 characters", again, one)
	}
	if two := id(map[string]string{"a.ttf": font, "b.ttf": font}); two == one {
		t.Error("a folder with one more font has the same identity")
	}
	if none := (*Fonts)(nil).ID(); none != "" {
		t.Errorf("no folder has the identity %q, want none", none)
	}
}
