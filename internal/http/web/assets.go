package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
)

//go:embed static
var staticFiles embed.FS

// assets are the static files, in memory. Their address holds a hash of all of them, so that a browser may keep them for
// as long as it likes and still never mixes the files of two versions.
type assets struct {
	hash  string
	files map[string]asset
}

type asset struct {
	mediaType string
	content   []byte
}

func newAssets() *assets {
	a := &assets{files: map[string]asset{}}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // they are in the binary
	}
	digest := sha256.New()
	for _, entry := range entries {
		content, err := staticFiles.ReadFile("static/" + entry.Name())
		if err != nil {
			panic(err) // as above
		}
		digest.Write([]byte(entry.Name()))
		digest.Write(content)
		a.files[entry.Name()] = asset{mediaType: mediaTypeOf(entry.Name()), content: content}
	}
	a.hash = hex.EncodeToString(digest.Sum(nil)[:8])
	return a
}

// mediaTypeOf does not ask the machine for what the pages cannot do without.
func mediaTypeOf(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// address is where a static file is; the name of one that there is not is a mistake in a template, which its test shows.
func (a *assets) address(name string) string {
	if _, ok := a.files[name]; !ok {
		panic("there is no static file " + name)
	}
	return "/static/" + a.hash + "/" + name
}

func (s *Site) serveAsset(c *gin.Context) {
	file, ok := s.assets.files[c.Param("file")]
	if !ok || c.Param("hash") != s.assets.hash {
		// The page that asked is of another version; a kept 404 would outlive it.
		s.Refuse(c, fault.New(fault.NotFound, ""))
		return
	}
	s.sendAsset(c, file, "public, max-age=31536000, immutable")
}

// serveIcon is for browsers that ask for the icon without having read the page.
func (s *Site) serveIcon(c *gin.Context) {
	s.sendAsset(c, s.assets.files["icon.svg"], "public, max-age=86400")
}

func (s *Site) sendAsset(c *gin.Context, file asset, caching string) {
	c.Header("Cache-Control", caching)
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cross-Origin-Resource-Policy", "same-origin")
	c.Header("Content-Security-Policy", "default-src 'none'")
	c.Data(http.StatusOK, file.mediaType, file.content)
}
