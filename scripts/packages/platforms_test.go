package packages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestEveryPlatformTypeChecks finds files for one system without a counterpart for another, as a full build would. A full build takes minutes,
// and make release makes it. Here only our functions have bodies, and processors do not matter.
func TestEveryPlatformTypeChecks(t *testing.T) {
	ours, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, goos := range []string{"darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			t.Parallel()
			loaded, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
					packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedCompiledGoFiles | packages.NeedTypesSizes | packages.NeedModule,
				Dir: root, BuildFlags: []string{"-tags=nomsgpack"},
				Env: append(os.Environ(), "GOOS="+goos, "GOARCH=arm64", "CGO_ENABLED=0"),
				ParseFile: func(files *token.FileSet, name string, source []byte) (*ast.File, error) {
					file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
					if file != nil && !strings.HasPrefix(name, ours) {
						withoutBodies(file)
					}
					return file, err
				},
			}, "./cmd/levelboard")
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			packages.Visit(loaded, nil, func(p *packages.Package) {
				if p.Module == nil || p.Module.Path != "levelboard" {
					return
				}
				checked++
				for _, problem := range p.Errors {
					t.Errorf("type-checking: %v", problem)
				}
			})
			if checked < 20 {
				t.Errorf("%d packages were checked, want at least 20", checked)
			}
		})
	}
}

// withoutBodies removes the bodies of functions, which other packages do not see.
func withoutBodies(file *ast.File) {
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			function.Body = nil
		}
	}
}
