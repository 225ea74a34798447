package card

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"

	"levelboard/internal/platform/cached"
)

const (
	// mostFonts is how many fonts of a folder are used. All of Noto has 2,000 files.
	mostFonts = 4096
	// fontBytes is the maximum size of a font's file. Few are larger than 1 MiB; Chinese and Japanese ones have about 20.
	fontBytes = 32 << 20
	// fontsLoaded is how many fonts of a folder are in memory.
	fontsLoaded = 16
)

// OpenFonts reads which characters the fonts of a folder and its subfolders have: .ttf, .otf, and the first font
// of each .ttc and .otc. A font itself is read when a name needs it. OpenFonts logs and skips files that it cannot
// use. It fails when dir is no folder or has no font. Without a dir it returns nil, which has only the Go fonts.
func OpenFonts(dir string, log *slog.Logger) (*Fonts, error) {
	if dir == "" {
		return nil, nil
	}
	s := &fontScan{log: log, digest: sha256.New()}
	if err := s.folder(dir); err != nil {
		return nil, err
	}
	if len(s.found) == 0 {
		return nil, fmt.Errorf("the folder %s has no font that can be used: .ttf, .otf or .ttc with outlines", dir)
	}
	log.Info("names are drawn with the fonts of a folder", "folder", dir, "fonts", len(s.found), "left_out", s.unusable)
	return &Fonts{
		regular: preferred(s.found, font.WeightNormal), bold: preferred(s.found, font.WeightBold),
		files: cached.New(loadFont, cached.Options{Size: fontsLoaded}),
		id:    hex.EncodeToString(s.digest.Sum(nil)[:6]), log: log,
	}, nil
}

// fontScan is a walk through a folder.
type fontScan struct {
	log      *slog.Logger
	digest   hash.Hash // of the fonts found
	found    []*typeface
	unusable int
}

func (s *fontScan) folder(dir string) error {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder %s does not exist; name a folder of fonts, such as /usr/share/fonts", dir)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder; name the folder that the fonts are in", dir)
	}
	return fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		path := filepath.Join(dir, name)
		switch {
		case err != nil && name == ".":
			return fmt.Errorf("read the fonts of %s: %w", dir, err)
		case err != nil:
			s.leaveOut(path, err)
		case entry.IsDir() || !isFont(path):
		case len(s.found) == mostFonts:
			s.leaveOut(path, errors.New("the folder has too many fonts"))
			return fs.SkipAll
		default:
			if err := s.file(name, path); err != nil {
				s.leaveOut(path, err)
			}
		}
		return nil
	})
}

func (s *fontScan) leaveOut(path string, err error) {
	s.unusable++
	s.log.Warn("a font is left out", "file", path, "error", err)
}

func isFont(path string) bool {
	return slices.Contains([]string{".ttf", ".otf", ".ttc", ".otc"}, strings.ToLower(filepath.Ext(path)))
}

// file notes a font under its name in the folder.
func (s *fontScan) file(name, path string) error {
	file, size, loader, err := openFont(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if !slices.ContainsFunc([]string{"glyf", "CFF ", "CFF2"}, func(tag string) bool { return loader.HasTable(opentype.MustNewTag(tag)) }) {
		return errors.New("it has no outlines, only bitmaps")
	}
	runes, err := charactersOf(loader)
	if err != nil {
		return err
	}
	style, _ := font.Describe(loader, nil)
	style.Aspect.SetDefaults()
	// The table head holds a checksum of the whole file.
	head, err := loader.RawTable(opentype.MustNewTag("head"))
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.digest, "%q %d %x\n", name, size, head)
	s.found = append(s.found, &typeface{path: path, style: style, runes: runes})
	return nil
}

// openFont opens the first font of a regular file. It opens nothing else, since a pipe would wait for a writer.
func openFont(path string) (file *os.File, size int64, loader *opentype.Loader, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > fontBytes {
		return nil, 0, nil, fmt.Errorf("it is no file of at most %d MiB", fontBytes>>20)
	}
	if file, err = os.Open(path); err != nil {
		return nil, 0, nil, err
	}
	loaders, err := opentype.NewLoaders(file)
	if err == nil && len(loaders) == 0 {
		err = errors.New("it has no font")
	}
	if err != nil {
		_ = file.Close()
		return nil, 0, nil, err
	}
	return file, info.Size(), loaders[0], nil
}

func charactersOf(loader *opentype.Loader) (font.Cmap, error) {
	raw, err := loader.RawTable(opentype.MustNewTag("cmap"))
	if err != nil {
		return nil, err
	}
	table, _, err := tables.ParseCmap(raw)
	if err != nil {
		return nil, err
	}
	runes, _, err := font.ProcessCmap(table, tables.FPNone)
	return runes, err
}

// loadFont reads a whole font.
func loadFont(_ context.Context, path string) (*font.Font, error) {
	file, _, loader, err := openFont(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return font.NewFont(loader)
}

// preferred sorts fonts for text of a weight. Those like the Go fonts come first: upright, without serifs, of normal width.
func preferred(found []*typeface, weight font.Weight) []*typeface {
	odd := func(t *typeface) int {
		family := strings.ToLower(t.style.Family)
		switch {
		case t.style.Aspect.Style != font.StyleNormal:
			return 2
		case strings.Contains(family, "sans") && !strings.Contains(family, "mono"):
			return 0
		}
		return 1
	}
	off := func(t *typeface) (float64, float64) {
		return math.Abs(float64(t.style.Aspect.Weight - weight)), math.Abs(float64(t.style.Aspect.Stretch - font.StretchNormal))
	}
	return slices.SortedStableFunc(slices.Values(found), func(a, b *typeface) int {
		weightA, stretchA := off(a)
		weightB, stretchB := off(b)
		return cmp.Or(cmp.Compare(odd(a), odd(b)), cmp.Compare(weightA, weightB), cmp.Compare(stretchA, stretchB), cmp.Compare(a.style.Family, b.style.Family))
	})
}
