package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/http/edge"
)

// routes adds pages to a router. What a page needs besides its handler stands beside it as options.
type routes struct {
	router gin.IRouter
	before []gin.HandlerFunc // run before each page
	robots *[]string         // patterns of what crawlers leave out
}

// route is what the options of a page say.
type route struct {
	limit    int64  // of a form, in bytes; 0 is maxForm
	formHere bool   // the page's form is sent to the page's own address
	slow     bool   // edge.Slow
	unlisted string // a pattern that crawlers leave out
}

type routeOption func(*route)

// upTo takes forms of that many bytes.
func upTo(limit int64) routeOption { return func(r *route) { r.limit = limit } }

// formHere says that the form is at the address that it is sent to: signing in there leads back to it.
func formHere(r *route) { r.formHere = true }

// slow gives what is about all members of a guild its time (edge.Slow).
func slow(r *route) { r.slow = true }

// unlisted keeps crawlers away from all addresses of a pattern.
func unlisted(pattern string) routeOption { return func(r *route) { r.unlisted = pattern } }

// get routes GET, and HEAD, whose body net/http leaves out.
func (p routes) get(path string, h gin.HandlerFunc, options ...routeOption) {
	edge.Get(p.router, path, p.chain(h, options)...)
}

// only routes GET without HEAD.
func (p routes) only(path string, h gin.HandlerFunc, options ...routeOption) {
	p.router.GET(path, p.chain(h, options)...)
}

func (p routes) post(path string, h gin.HandlerFunc, options ...routeOption) {
	p.router.POST(path, p.chain(h, options)...)
}

func (p routes) chain(h gin.HandlerFunc, options []routeOption) []gin.HandlerFunc {
	var r route
	for _, set := range options {
		set(&r)
	}
	if r.unlisted != "" && !slices.Contains(*p.robots, r.unlisted) {
		*p.robots = append(*p.robots, r.unlisted)
	}
	chain := append([]gin.HandlerFunc{func(c *gin.Context) { c.Set(pageKey, &page{route: r}) }}, p.before...)
	if r.slow {
		chain = append(chain, edge.Slow)
	}
	return append(chain, h)
}

// page is what the handlers of one request for a page share.
type page struct {
	route
	next   string  // where signing in leads, when that is not here
	board  string  // path of the board that the request is about, for a visitor who may read it
	data   string  // path of the page of data that the request is about, for a manager
	unfurl *unfurl // nil for what is not for everybody
	secret bool    // the page shows a secret
}

const pageKey = "levelboard.page"

// pageOf returns what a request's handlers share. Where there is no route that is a page without options.
func pageOf(c *gin.Context) *page {
	p, ok := c.Value(pageKey).(*page)
	if !ok {
		p = &page{}
		c.Set(pageKey, p)
	}
	return p
}

// here is the address to return to after signing in: this page. For a POST it is the form's page, if the form posts to its own address.
func here(c *gin.Context) string {
	p, r := pageOf(c), c.Request
	switch asked := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case p.next != "":
		return p.next
	case asked && !strings.HasPrefix(r.URL.Path, "/sign-"):
		return r.URL.RequestURI()
	case !asked && p.formHere:
		return r.URL.EscapedPath()
	}
	return "/"
}

// comeBackTo says where signing in on this page leads, when that is not the page itself.
func comeBackTo(c *gin.Context, next string) { pageOf(c).next = safeNext(next) }
