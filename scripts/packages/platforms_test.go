package packages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// leftOut are packages that internal/unused stands in for.
var leftOut = []string{"github.com/quic-go/quic-go/http3", "go.mongodb.org/mongo-driver/v2/bson"}

// TestEveryPlatformTypeChecks finds what a full build for it would: a file for one system without its counterpart for another.
// A build of all takes minutes, and make release does it. Here only our functions have bodies; processors make no difference.
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
				for path := range p.Imports {
					if slices.Contains(leftOut, path) && !strings.HasPrefix(p.PkgPath, "github.com/gin-gonic/gin") {
						t.Errorf("%s imports %s, which is a stand-in (docs/adr/0010-a-small-binary.md)", p.PkgPath, path)
					}
				}
				if p.Module == nil || p.Module.Path != "levelboard" {
					return
				}
				checked++
				for _, problem := range p.Errors {
					t.Error(problem)
				}
			})
			if checked < 20 {
				t.Errorf("only %d packages were looked at", checked)
			}
		})
	}
}

// withoutBodies keeps what others see of a file.
func withoutBodies(file *ast.File) {
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			function.Body = nil
		}
	}
}
