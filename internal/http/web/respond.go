package web

import (
	"bytes"
	"crypto/rand"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/properties"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/signin"
)

func (s *Site) handle(h edge.Handler) gin.HandlerFunc { return edge.Handle(h, s.fail) }

const (
	htmlType = "text/html; charset=utf-8"
	pngType  = "image/png"
)

// send releases the request's place before it writes, so that a slow client holds only its connection. It
// gzips large answers, except those with a secret: their compressed size would reveal something about it.
func (s *Site) send(c *gin.Context, status int, mediaType string, body []byte) {
	if mediaType != pngType && len(body) >= edge.LeastPacked && !pageOf(c).secret && edge.AcceptsGzip(c.Request.Header["Accept-Encoding"]) {
		body = s.packer.Pack(body)
		c.Header("Content-Encoding", "gzip")
		c.Header("ETag", edge.WeakETag(c.Writer.Header().Get("ETag")))
	}
	edge.Of(c).Place.Release()
	c.Data(status, mediaType, body)
}

// show renders the whole page of a template before it sends anything, so that a failure becomes an error page and not half a page.
func (s *Site) show(c *gin.Context, status int, name, title string, content any) error {
	if status >= http.StatusBadRequest {
		pageOf(c).unfurl = nil
	}
	page, err := s.render(c, name, title, content)
	if err == nil {
		s.send(c, status, htmlType, page)
	}
	return err
}

// showTagged is show with an ETag, for a page that a browser may cache. The browser must not store a private guild's page.
func (s *Site) showTagged(c *gin.Context, g *guild.Guild, name, title string, content any) error {
	page, err := s.render(c, name, title, content)
	if err != nil {
		return err
	}
	if g.Visibility == guild.Public {
		c.Header("Cache-Control", "private, no-cache")
	}
	if !tagged(c, edge.BodyETag(page)) {
		s.send(c, http.StatusOK, htmlType, page)
	}
	return nil
}

// tagged sets the ETag. If the browser already has that version, it answers 304 and returns true.
func tagged(c *gin.Context, tag string) bool {
	same, has := edge.MatchETag(c.Request.Header.Values("If-None-Match"), tag)
	if has {
		tag = same
		c.Status(http.StatusNotModified)
	}
	c.Header("ETag", tag)
	return has
}

// problem is the content of an error page.
type problem struct {
	Status    int
	Heading   string
	Message   string
	Wait      int64  // seconds after which to try again; 0 if unknown
	RequestID string // for a report, if the service is at fault
	SignIn    bool   // signing in may help
	SignInOff bool   // it would help, but is off
	Board     string // path of the board that the request was about, or empty
	Data      string // path of the page of data that the request was about, or empty
}

// headings are the titles of error pages.
var headings = map[fault.Code]string{
	fault.Internal:         "Something went wrong",
	fault.Invalid:          "Invalid request",
	fault.Unauthenticated:  "Please sign in",
	fault.Forbidden:        "You don't have access",
	fault.NotFound:         "Not found",
	fault.MethodNotAllowed: "Method not allowed",
	fault.Conflict:         "Conflicting change",
	fault.TooLarge:         "Too large",
	fault.RateLimited:      "Too many requests",
	fault.Unavailable:      "Temporarily unavailable",
}

// fail answers with an error page.
func (s *Site) fail(c *gin.Context, err error) {
	f := edge.Fail(c, s.log, err)
	status := f.Code.Status()
	p := problem{Status: status, Heading: headings[f.Code], Message: f.Message, Board: pageOf(c).board, Data: pageOf(c).data}
	switch f.Code {
	case fault.Unauthenticated:
		if p.SignIn = s.CanSignIn(); !p.SignIn {
			p.SignInOff, p.Heading = true, "Sign-in required"
		}
	case fault.RateLimited, fault.Unavailable:
		p.Wait = edge.Wait(f)
	case fault.Internal:
		p.RequestID = edge.Of(c).ID
	}
	c.Header("Cache-Control", "no-store")
	if err := s.show(c, status, "error", p.Heading, p); err != nil {
		s.log.Error("the error page failed", "error", err)
		c.String(status, "%s\n", f.Message)
	}
}

//go:embed templates
var templateFiles embed.FS

// parseTemplates reads every page, templates/pages/NAME.html. Each gets its own copy of the layout and the parts.
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

// functions can be called in templates.
var functions = template.FuncMap{
	"ago": ago, "asset": asset, "channels": channelNames, "coloured": coloured, "clean": displayname.Clean, "count": count, "counted": counted, "css": css, "factor": factor, "field": fieldOf, "inWords": properties.Duration, "kindName": kindName, "messagesTo": messagesTo, "instant": newInstant, "nameOf": roleName, "names": roleNames,
	"next": func(n int) int { return n + 1 }, "picture": newPicture, "plural": plural, "reason": reasonField, "ring": newRing, "rolesShown": rolesShown, "short": short[level.XP], "shortGain": short[int64], "text": text, "token": rand.Text, "until": until,
}

// renderPart renders a block of the parts that templates share.
func (s *Site) renderPart(name string, content any) ([]byte, error) {
	var rendered bytes.Buffer
	if err := s.templates["leaderboard"].ExecuteTemplate(&rendered, name, content); err != nil {
		return nil, fmt.Errorf("render a %s: %w", name, err)
	}
	return rendered.Bytes(), nil
}

// frame is the data of every template: what the layout shows, and the page's own content.
type frame struct {
	Title   string
	Session *signin.Session // the visitor's; nil if nobody is signed in
	Here    string          // the address to return to after signing in
	Theme   string          // light or dark; empty for the system's
	Site    *Site
	Unfurl  *unfurl // nil if the page is not public
	Content any
}

func (s *Site) render(c *gin.Context, name, title string, content any) ([]byte, error) {
	page, ok := s.templates[name]
	if !ok {
		return nil, fmt.Errorf("there is no template %q", name)
	}
	var rendered bytes.Buffer
	err := page.ExecuteTemplate(&rendered, "layout", frame{
		Title: displayname.Clean(title), Session: sessionOf(c), Here: here(c), Theme: themeOf(c), Site: s, Unfurl: pageOf(c).unfurl, Content: content,
	})
	if err != nil {
		return nil, fmt.Errorf("render the page %s: %w", name, err)
	}
	return rendered.Bytes(), nil
}
