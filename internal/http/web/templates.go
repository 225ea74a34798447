package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/usecase/signin"
)

//go:embed templates
var templateFiles embed.FS

// parseTemplates reads every page, templates/pages/NAME.html, each with the layout and the parts to itself.
func parseTemplates() (map[string]*template.Template, error) {
	shared, err := template.New("").Option("missingkey=zero").Funcs(functions).ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the layout: %w", err)
	}
	files, err := fs.Glob(templateFiles, "templates/pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("list the pages: %w", err)
	}
	pages := make(map[string]*template.Template, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		own, err := shared.Clone()
		if err == nil {
			own, err = own.ParseFS(templateFiles, file)
		}
		if err != nil {
			return nil, fmt.Errorf("parse the page %s: %w", name, err)
		}
		pages[name] = own
	}
	return pages, nil
}

// functions are what templates can call.
var functions = template.FuncMap{
	"asset": asset, "channels": channelNames, "clean": displayname.Clean, "count": count, "counted": counted, "factor": factor, "inWords": inWords,
	"next": func(n int) int { return n + 1 }, "picture": newPicture, "plural": plural, "ring": newRing, "roles": roleNames, "short": short, "text": text,
}

// frame is what every template is given: what the layout shows, and the page's own content.
type frame struct {
	Title   string
	Session *signin.Session // of who asks; nil when nobody is signed in
	Here    string          // where to come back to after signing in
	Site    *Site
	Content any
}

func (s *Site) render(c *gin.Context, name, title string, content any) ([]byte, error) {
	page, ok := s.templates[name]
	if !ok {
		return nil, fmt.Errorf("there is no template %q", name)
	}
	var rendered bytes.Buffer
	err := page.ExecuteTemplate(&rendered, "layout", frame{
		Title: displayname.Clean(title), Session: sessionOf(c), Here: here(c), Site: s, Content: content,
	})
	if err != nil {
		return nil, fmt.Errorf("render the page %s: %w", name, err)
	}
	return rendered.Bytes(), nil
}
