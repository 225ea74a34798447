package docs_test

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"levelboard/internal/config"
)

// TestTheBoundsAreThoseOfTheCode compares the tables of docs/bounds.md with the constants and settings that they name, and checks that they
// have each queue, pool and cache of the service.
func TestTheBoundsAreThoseOfTheCode(t *testing.T) {
	text, err := os.ReadFile("../../../docs/bounds.md")
	if err != nil {
		t.Fatal(err)
	}
	code := newSource(t)
	named := map[string]bool{}
	value := regexp.MustCompile("([0-9][0-9,]*)(?: (KiB|MiB|ms|s|min|h))? \\(`([^`]+)`\\)")
	rows := regexp.MustCompile(`(?m)^\| .*$`).FindAllString(string(text), -1)
	rows = slices.DeleteFunc(rows, func(row string) bool { return strings.HasPrefix(row, "| what | at most |") })
	for _, row := range rows {
		stated := value.FindAllStringSubmatch(row, -1)
		if len(stated) == 0 {
			t.Errorf("a row of docs/bounds.md names no constant and no setting: %s", row)
		}
		for _, s := range stated {
			number, _ := strconv.ParseInt(strings.ReplaceAll(s[1], ",", ""), 10, 64)
			if want, err := code.value(s[3]); err != nil || number*units[s[2]] != want {
				t.Errorf("docs/bounds.md says %s %s for %s; the code has %d (%v)", s[1], s[2], s[3], want, err)
			}
			named[s[3]] = true
		}
	}
	for _, name := range code.bounds() {
		if !named[name] {
			t.Errorf("docs/bounds.md lacks the bound %s", name)
		}
	}
}

var units = map[string]int64{
	"": 1, "KiB": 1 << 10, "MiB": 1 << 20,
	"ms": int64(time.Millisecond), "s": int64(time.Second), "min": int64(time.Minute), "h": int64(time.Hour),
}

// source is the service's code, by package folder.
type source struct {
	fset     *token.FileSet
	folders  map[string]string // package name to folder
	files    map[string][]*ast.File
	packages map[string]*types.Package
}

// timePackage replaces package time for the values of constants.
const timePackage = `package time
type Duration int64
const (
	Nanosecond Duration = 1
	Microsecond = 1000 * Nanosecond
	Millisecond = 1000 * Microsecond
	Second = 1000 * Millisecond
	Minute = 60 * Second
	Hour = 60 * Minute
)`

const root = "../../../internal/"

func newSource(t *testing.T) *source {
	s := &source{
		fset: token.NewFileSet(), folders: map[string]string{}, files: map[string][]*ast.File{}, packages: map[string]*types.Package{},
	}
	parsed, err := parser.ParseFile(s.fset, "time.go", timePackage, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.files["time"] = []*ast.File{parsed}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if path == root+"testing" {
			return fs.SkipDir // has packages with the same names as the service
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(s.fset, path, nil, 0)
		if err != nil {
			return err
		}
		folder := "levelboard/internal/" + filepath.Dir(strings.TrimPrefix(path, root))
		s.folders[file.Name.Name] = folder
		s.files[folder] = append(s.files[folder], file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Import implements types.Importer for the packages that constants need: the service's and time.
func (s *source) Import(path string) (*types.Package, error) {
	files, ours := s.files[path]
	switch {
	case s.packages[path] != nil:
		return s.packages[path], nil
	case !ours:
		return nil, errors.New("the package has no constants that count")
	}
	ignored := func(error) {} // errors of other imports
	s.packages[path], _ = (&types.Config{Importer: s, IgnoreFuncBodies: true, Error: ignored}).Check(path, s.fset, files, nil)
	return s.packages[path], nil
}

// value returns the value of a constant, package.name, or the default of a setting. Times are in nanoseconds.
func (s *source) value(name string) (int64, error) {
	for _, setting := range config.Describe() {
		if setting.Name == name {
			if d, err := time.ParseDuration(setting.Default); err == nil {
				return int64(d), nil
			}
			return strconv.ParseInt(setting.Default, 10, 64)
		}
	}
	pkg, constantName, _ := strings.Cut(name, ".")
	if found := s.constant(s.folders[pkg], constantName); found != nil {
		if n, exact := constant.Int64Val(constant.ToInt(found.Val())); exact {
			return n, nil
		}
	}
	return 0, errors.New("there is no such constant or setting")
}

func (s *source) constant(folder, name string) *types.Const {
	pkg, err := s.Import(folder)
	if err != nil {
		return nil
	}
	found, _ := pkg.Scope().Lookup(name).(*types.Const)
	return found
}

// bounds returns the constants that bound queues, pools and caches, as package.name.
func (s *source) bounds() (names []string) {
	for folder, files := range s.files {
		if strings.Contains(folder, "/testing/") || strings.Contains(folder, "/bench/") || strings.HasSuffix(folder, "/storetest") {
			continue
		}
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !makesBound(call) {
					return true
				}
				for _, arg := range call.Args {
					ast.Inspect(arg, func(n ast.Node) bool {
						if ident, ok := n.(*ast.Ident); ok && s.constant(folder, ident.Name) != nil {
							names = append(names, file.Name.Name+"."+ident.Name)
						}
						return true
					})
				}
				return true
			})
		}
	}
	return names
}

// makesBound reports whether a call makes a buffered channel, or something else with a bound.
func makesBound(call *ast.CallExpr) bool {
	of := call.Fun
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if generic, ok := of.(*ast.IndexListExpr); ok {
		of = generic.X
	}
	switch f := of.(type) {
	case *ast.Ident:
		if f.Name != "make" || len(call.Args) != 2 {
			return slices.Contains([]string{"newPageCache", "newGate"}, f.Name)
		}
		_, isChannel := call.Args[0].(*ast.ChanType)
		return isChannel
	case *ast.SelectorExpr:
		pkg, _ := f.X.(*ast.Ident)
		return slices.Contains([]string{"NewWeighted", "NewLRU", "SetLimit", "SetMaxOpenConns", "LimitListener", "MaxBytesReader", "NewDirectory"}, f.Sel.Name) ||
			f.Sel.Name == "New" && pkg != nil && slices.Contains([]string{"shares", "cached", "lru"}, pkg.Name)
	}
	return false
}
