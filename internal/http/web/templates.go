package web

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"strings"

	"levelboard/internal/domain/displayname"
)

//go:embed templates
var templateFiles embed.FS

// parseTemplates reads every page: templates/pages/NAME.html is the page NAME. Each has the layout and the parts to itself,
// so that two pages may define blocks of the same name.
func (s *Site) parseTemplates() (map[string]*template.Template, error) {
	shared, err := template.New("").Option("missingkey=zero").Funcs(s.functions()).ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the layout: %w", err)
	}
	files, err := fs.Glob(templateFiles, "templates/pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("list the pages: %w", err)
	}
	pages := make(map[string]*template.Template, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".html")
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
func (s *Site) functions() template.FuncMap {
	return template.FuncMap{
		"asset":   s.assets.address,
		"clean":   displayname.Clean,
		"count":   count,
		"counted": counted,
		"next":    func(level int) int { return level + 1 },
		"picture": newPicture,
		"plural":  plural,
		"ring":    newRing,
		"short":   short,
		"text":    text,
	}
}
