package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"sync"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
)

//go:embed static
var staticFiles embed.FS

// mediaTypes are the types of the static files. The machine's own table may lack them.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": pngType, ".webmanifest": "application/manifest+json",
}

// staticFile is a file, plain and gzipped. packed is nil if gzip saves nothing.
type staticFile struct{ plain, packed []byte }

// statics reads and packs the static files once.
var statics = sync.OnceValue(func() (all struct {
	files map[string]staticFile
	hash  string // of all files; it is in their addresses, so that browsers may keep a file forever and never mix versions
}) {
	all.files = map[string]staticFile{}
	digest := sha256.New()
	var packer edge.Packer
	names, _ := fs.Glob(staticFiles, "static/*") // the pattern is valid
	for _, name := range names {
		plain, _ := staticFiles.ReadFile(name) // the file is in the binary
		_, _ = fmt.Fprintf(digest, "%s%s", path.Base(name), plain)
		file := staticFile{plain: plain}
		if path.Ext(name) != ".png" && len(plain) >= edge.LeastPacked {
			file.packed = packer.Pack(plain)
		}
		all.files[path.Base(name)] = file
	}
	all.hash = hex.EncodeToString(digest.Sum(nil)[:8])
	return all
})

// asset returns the address of a static file. A wrong name is a mistake in a template; a test renders every template.
func asset(name string) string {
	if _, found := statics().files[name]; !found {
		panic("there is no static file " + name)
	}
	return "/static/" + statics().hash + "/" + name
}

func (s *Site) serveAsset(c *gin.Context) {
	if c.Param("hash") != statics().hash {
		// The page that asked is of another version. A cached 404 would outlive it.
		s.Refuse(c, fault.New(fault.NotFound, ""))
		return
	}
	s.sendAsset(c, c.Param("file"), "public, max-age=31536000, immutable")
}

// serveFile serves a static file under a fixed address.
func (s *Site) serveFile(name string) gin.HandlerFunc {
	return func(c *gin.Context) { s.sendAsset(c, name, "public, max-age=86400") }
}

func (s *Site) sendAsset(c *gin.Context, name, caching string) {
	file, found := statics().files[name]
	if !found {
		s.Refuse(c, fault.New(fault.NotFound, ""))
		return
	}
	content := file.plain
	if file.packed != nil {
		c.Header("Vary", "Accept-Encoding")
		if edge.AcceptsGzip(c.Request.Header["Accept-Encoding"]) {
			c.Header("Content-Encoding", "gzip")
			content = file.packed
		}
	}
	c.Header("Cache-Control", caching)
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cross-Origin-Resource-Policy", "cross-origin") // a frame with a sandbox has an origin of its own
	c.Header("Content-Security-Policy", "default-src 'none'")
	c.Data(http.StatusOK, mediaTypes[path.Ext(name)], content)
}
