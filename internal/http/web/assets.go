package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
)

//go:embed static
var staticFiles embed.FS

// mediaTypes are those of the static files. The machine's own table is not asked: the pages need these.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": pngType, ".webmanifest": "application/manifest+json",
}

// staticHash is a hash of all static files, and part of their addresses: browsers may keep a file forever and never mix versions.
var staticHash = func() string {
	digest := sha256.New()
	names, _ := fs.Glob(staticFiles, "static/*") // the pattern is right
	for _, name := range names {
		content, _ := staticFiles.ReadFile(name) // it is in the binary
		digest.Write([]byte(path.Base(name)))
		digest.Write(content)
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}()

// asset is where a static file is; the name of one that there is not is a mistake in a template, which its test shows.
func asset(name string) string {
	if _, err := fs.Stat(staticFiles, "static/"+name); err != nil {
		panic("there is no static file " + name)
	}
	return "/static/" + staticHash + "/" + name
}

func (s *Site) serveAsset(c *gin.Context) {
	if c.Param("hash") != staticHash {
		// The page that asked is of another version; a kept 404 would outlive it.
		s.Refuse(c, fault.New(fault.NotFound, ""))
		return
	}
	s.sendAsset(c, c.Param("file"), "public, max-age=31536000, immutable")
}

// serveIcon is for browsers that ask for the icon without having read the page.
func (s *Site) serveIcon(c *gin.Context) { s.sendAsset(c, "icon.svg", "public, max-age=86400") }

// serveTouchIcon is for phones, likewise.
func (s *Site) serveTouchIcon(c *gin.Context) {
	s.sendAsset(c, "touch.png", "public, max-age=86400")
}

func (s *Site) serveManifest(c *gin.Context) {
	s.sendAsset(c, "site.webmanifest", "public, max-age=86400")
}

// staticFile is a file as it is, and gzipped; packed is nil where that saves nothing.
type staticFile struct{ plain, packed []byte }

// packStatic reads and packs the static files, once.
func packStatic() map[string]staticFile {
	files := map[string]staticFile{}
	var packer edge.Packer
	names, _ := fs.Glob(staticFiles, "static/*") // the pattern is right
	for _, name := range names {
		plain, _ := staticFiles.ReadFile(name) // it is in the binary
		file := staticFile{plain: plain}
		if packed := packer.Pack(plain); path.Ext(name) != ".png" && len(plain) >= edge.LeastPacked {
			file.packed = packed
		}
		files[path.Base(name)] = file
	}
	return files
}

func (s *Site) sendAsset(c *gin.Context, name, caching string) {
	file, found := s.static[name]
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
